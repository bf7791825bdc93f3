// SwiGLU's twin, for tiles that no producer has so: runs of four columns in each thread; or whole columns,
// whose sums it stores. -DPIPELINK_COMPONENT=… -DLAYOUT=… -DRUNS=<runs of four>
#include <pipelink/component.h>

#include "twin.h"

namespace PIPELINK_COMPONENT {

PIPELINK_PARAMETERS(twin::Parameters, "twin.h", out, rows, columns);
PIPELINK_FACT(interleave, int, 8);
PIPELINK_USE_FACT(tile_m, int);
PIPELINK_USE_FACT(part_n, int);
PIPELINK_REQUIRE(two_warpgroups, "tile_m == 128 && part_n == 128");
PIPELINK_NAMED_BARRIER(warpgroup0, .threads = 128);
PIPELINK_NAMED_BARRIER(warpgroup1, .threads = 128);
PIPELINK_IMPORT_TENSOR(acc, .element = "f32", .tile = {64, 128}, .layout = LAYOUT, .via = "epilogue",
                       .parameter = 0);

[[maybe_unused]] static __device__ __forceinline__ float silu(float x) {
  return x / (1.0f + __expf(-x));
}

/// As in swiglu: columns alternate 8 gates and 8 ups.
PIPELINK_EXPORT(epilogue, void, pipelink::Self self, const float (&acc)[64], unsigned m0, unsigned n0,
                unsigned part, unsigned warpgroup) {
  const twin::Parameters& p = parameters(self);
  const unsigned thread = threadIdx.x % 128;
#if RUNS  // half a row's gates of 16 columns, and their ups
  const unsigned row = m0 + warpgroup * 64 + thread / 32 * 16 + thread % 2 * 8 + thread % 32 / 4;
  float4* to = reinterpret_cast<float4*>(p.out + row * p.columns + n0 / 2 + thread / 2 % 2 * 4);
#pragma unroll
  for (int j = 0; j < 64; j += 8, to += 2)
    *to = {silu(acc[j]) * acc[j + 4], silu(acc[j + 1]) * acc[j + 5], silu(acc[j + 2]) * acc[j + 6],
           silu(acc[j + 3]) * acc[j + 7]};
#else  // a column: gate and up are in other threads
  float sum = 0;
#pragma unroll
  for (int row = 0; row < 64; ++row) sum += acc[row];
  p.out[(m0 / 64 + warpgroup) * p.columns + n0 + thread] = sum;
#endif
  // Nothing sinks into the next product, whose registers it would need.
  if (warpgroup == 0)
    warpgroup0.sync(self);
  else
    warpgroup1.sync(self);
}

PIPELINK_EXPORT(finish, void, pipelink::Self self) {}

}  // namespace PIPELINK_COMPONENT
