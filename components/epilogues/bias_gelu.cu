// gelu(product + bias), the exact one with erf, stored as bfloat16.
#define PIPELINK_COMPONENT bias_gelu
#include <pipelink/component.h>

#include "bias_gelu.h"

namespace bias_gelu {

PIPELINK_PARAMETERS(bias_gelu::Parameters, "bias_gelu.h", out, bias, rows, columns);
PIPELINK_USE_FACT(tile_m, int);
PIPELINK_USE_FACT(tile_n, int);
PIPELINK_USE_FACT(part_n, int);
PIPELINK_IMPORT_TENSOR(acc, .element = "f32", .tile = {64, 128}, .space = "registers", .scope = "warpgroup",
                       .layout = "((4,8,4),(2,2,16)):((2,128,2048),(1,1024,8))", .via = "epilogue",
                       .parameter = 0);

#include "accumulators.h"

PIPELINK_EXPORT(epilogue, void, pipelink::Self self, float (&acc)[64], unsigned m0, unsigned n0,
                unsigned part, unsigned warpgroup) {
  const Parameters& p = parameters(self);
  const auto gelu = [](float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); };
  for_each_pair(self, acc, m0, n0, part, warpgroup, p.rows, p.columns,
                [&](float x, float y, unsigned row, unsigned column) {
                  const float2 bias = __ldg(reinterpret_cast<const float2*>(p.bias + column));
                  *reinterpret_cast<std::uint32_t*>(p.out + std::size_t{row} * p.columns + column) =
                      pack(gelu(x + bias.x), gelu(y + bias.y));
                });
}

PIPELINK_EXPORT(finish, void, pipelink::Self) {}

}  // namespace bias_gelu
