// Wants 32 neighbouring elements of a row in each thread; PipeLink brings them there.
#define PIPELINK_COMPONENT staging_take
#include <pipelink/component.h>

namespace staging_take {

PIPELINK_IMPORT_TENSOR(tile, .element = "f32", .tile = {64, 64}, .layout = "(128,32):(32,1)", .via = "take",
                       .parameter = 0);

PIPELINK_EXPORT(take, void, pipelink::Self self, const float (&tile)[32], unsigned (&sums)[4]) {
#pragma unroll
  for (int v = 0; v < 32; ++v) sums[v % 4] = sums[v % 4] * 3 + __float_as_uint(tile[v]);
}

}  // namespace staging_take
