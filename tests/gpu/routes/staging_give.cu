// Hands one tile on many times, so that what a transfer costs is all that a launch takes. The tile is that of
// a matrix product's accumulators, 64 × 64 of float32.
#define PIPELINK_COMPONENT staging_give
#include <pipelink/component.h>

#include "staging.h"

namespace staging_give {

PIPELINK_PARAMETERS(staging::Parameters, "staging.h", in, out, turns);
/// The consumer adds what it is given to `sums`.
PIPELINK_IMPORT(take, void, pipelink::Self self, const float (&tile)[32], unsigned (&sums)[4]);
PIPELINK_EXPORT_TENSOR(tile, .element = "f32", .tile = {64, 64}, .layout = "wgmma_accumulator(64,64)",
                       .via = "take", .parameter = 0);

PIPELINK_ROLE(hold, .warps = 8, .registers = {24, 240})(pipelink::Self self) {
  const staging::Parameters& p = parameters(self);
  const unsigned thread = blockIdx.x * 256 + threadIdx.x;
  float tile[32];
#pragma unroll
  for (int v = 0; v < 32; ++v) tile[v] = p.in[thread * 32 + v];
  unsigned sums[4] = {};
  for (unsigned turn = 0; turn < p.turns; ++turn) {
    take(self, tile, sums);
    tile[turn & 1] += 1.0f;
    const float first = tile[0];
    tile[0] = tile[1];
    tile[1] = first;
  }
#pragma unroll
  for (int i = 0; i < 4; ++i) p.out[thread * 4 + i] = sums[i];
}

}  // namespace staging_give
