// Wants half a column in each thread; PipeLink brings it there, from other warps too.
#define PIPELINK_COMPONENT staging_take
#include <pipelink/component.h>

namespace staging_take {

PIPELINK_IMPORT_TENSOR(tile, .element = "f32", .tile = {64, 64}, .layout = "((2,64),32):((2048,1),64)",
                       .via = "take", .parameter = 0);

PIPELINK_EXPORT(take, void, pipelink::Self self, const float (&tile)[32], unsigned (&sums)[4]) {
#pragma unroll
  for (int v = 0; v < 32; ++v) sums[v % 4] = sums[v % 4] * 3 + __float_as_uint(tile[v]);
}

}  // namespace staging_take
