// Takes a tile of 64 × 64 elements as LAYOUT says and writes to global memory what it was given.
// -DPIPELINK_COMPONENT=… -DVALUE=<C++ type> -DELEMENT=… -DLAYOUT=… -DVALUES=<of a thread>, or
// -DSHARED[=async]
#include <pipelink/component.h>

namespace PIPELINK_COMPONENT {

#ifndef SHARED
PIPELINK_IMPORT_TENSOR(tile, .element = ELEMENT, .tile = {64, 64}, .layout = LAYOUT, .via = "take",
                       .parameter = 0);

/// A thread's values, one after the other.
PIPELINK_EXPORT(take, void, pipelink::Self self, const VALUE (&tile)[VALUES], unsigned number,
                unsigned char* out) {
  VALUE* to = reinterpret_cast<VALUE*>(out) + (number * 128ull + threadIdx.x % 128) * VALUES;
#pragma unroll
  for (int v = 0; v < VALUES; ++v) to[v] = tile[v];
}
#else
PIPELINK_IMPORT_TENSOR(tile, .element = ELEMENT, .tile = {64, 64}, .space = "shared", .layout = LAYOUT,
                       .via = "take", .parameter = 0, .proxy = PROXY, .align = 1024);

/// The bytes as they lie: by ordinary loads, or by the bulk copy unit.
PIPELINK_EXPORT(take, void, pipelink::Self self, const unsigned char* tile, unsigned number,
                unsigned char* out) {
  constexpr unsigned kBytes = 4096 * sizeof(VALUE);
  unsigned char* to = out + number * (unsigned long long){kBytes};
  if (sizeof(PROXY) == 1) {
    for (unsigned i = threadIdx.x % 128 * 4; i < kBytes; i += 512)
      *reinterpret_cast<unsigned*>(to + i) = *reinterpret_cast<const unsigned*>(tile + i);
  } else if (threadIdx.x % 128 == 0) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"(static_cast<unsigned>(__cvta_generic_to_shared(tile))), "n"(kBytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::
                     : "memory");  // the tile may be overwritten when this returns
  }
}
#endif

}  // namespace PIPELINK_COMPONENT
