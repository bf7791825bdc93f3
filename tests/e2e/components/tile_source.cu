// Hands a 16 × 64 tile of a warpgroup's registers to whoever consumes it, and stores what came back.
#define PIPELINK_COMPONENT tile_source
#include <pipelink/component.h>

namespace tile_source {

struct Parameters {
  float* out;
};
PIPELINK_PARAMETERS(tile_source::Parameters, "tile_source.h", out);

/// Value v of thread t is element 8t + v.
PIPELINK_EXPORT_TENSOR(tile, .element = "f32", .tile = {16, 64}, .space = "registers", .scope = "warpgroup",
                       .layout = "(128,8):(8,1)", .via = "consume", .parameter = 1);
PIPELINK_IMPORT(consume, unsigned, pipelink::Self self, unsigned row, float (&tile)[8]);

PIPELINK_ROLE(produce, .warps = 4, .registers = {24, 168})(pipelink::Self self) {
  float tile[8];
  float* out = parameters(self).out + produce.thread(self) * 8;
#pragma unroll
  for (int v = 0; v < 8; ++v) tile[v] = out[v];
  const unsigned flags = consume(self, blockIdx.x, tile);
#pragma unroll
  for (int v = 0; v < 8; ++v) out[v] = tile[v];
  out[1024] = static_cast<float>(flags);
}

}  // namespace tile_source
