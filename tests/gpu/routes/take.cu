// Takes a tile of 64 × 64 elements as LAYOUT says and writes to global memory what it was given.
// -DPIPELINK_COMPONENT=… -DVALUE=<C++ type> -DELEMENT=… -DLAYOUT=… -DVALUES=<of a thread>, or
// -DSHARED -DPROXY=…; -DROLES -DWARPS=…: from another role. -DSLOT=<elements for each tile, of all consumers>
// -DOFFSET=<of this one's>
#include <pipelink/component.h>

#include "routes.h"

#ifndef SLOT
#define SLOT 4096
#define OFFSET 0
#endif

namespace PIPELINK_COMPONENT {

/// Where a tile's elements go.
inline __device__ VALUE* slot(unsigned char* out, unsigned number) {
  return reinterpret_cast<VALUE*>(out) + number * (unsigned long long){SLOT} + OFFSET;
}

#if defined(ROLES)
PIPELINK_PARAMETERS(routes::Parameters, "routes.h", in, held, out, tiles);
PIPELINK_IMPORT(get, void, pipelink::Self self, VALUE (&tile)[VALUES]);
PIPELINK_IMPORT_TENSOR(tile, .element = ELEMENT, .tile = {64, 64}, .layout = LAYOUT, .via = "get");

/// As many tiles, in the order in which the other role gives them.
PIPELINK_ROLE(use, .warps = WARPS, .registers = {24, 240})(pipelink::Self self) {
  const routes::Parameters& p = parameters(self);
  const unsigned thread = use.thread(self) % 128, group = use.thread(self) / 128;
  for (unsigned t = blockIdx.x * (WARPS / 4) + group; t < p.tiles; t += gridDim.x * (WARPS / 4)) {
    VALUE tile[VALUES];
    get(self, tile);
    VALUE* to = slot(p.out, t) + thread * VALUES;
#pragma unroll
    for (int v = 0; v < VALUES; ++v) to[v] = tile[v];
  }
}
#elif !defined(SHARED)
#ifndef REPLICAS
#define REPLICAS 1
#endif
PIPELINK_IMPORT_TENSOR(tile, .element = ELEMENT, .tile = {64, 64}, .layout = LAYOUT, .replicas = REPLICAS,
                       .via = "take", .parameter = 0);

/// A thread's values, one after the other.
PIPELINK_EXPORT(take, void, pipelink::Self self, const VALUE (&tile)[VALUES], unsigned number,
                unsigned char* out) {
  VALUE* to = slot(out, number) + threadIdx.x % 128 * VALUES;
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
  unsigned char* to = reinterpret_cast<unsigned char*>(slot(out, number));
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
