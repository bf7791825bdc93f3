// product + residual, stored as bfloat16.
#define PIPELINK_COMPONENT residual_add
#include <pipelink/component.h>

#include "residual_add.h"

namespace residual_add {

PIPELINK_PARAMETERS(residual_add::Parameters, "residual_add.h", out, residual, rows, columns);
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
  for_each_pair(self, acc, m0, n0, part, warpgroup, p.rows, p.columns,
                [&](float x, float y, unsigned row, unsigned column) {
                  const std::size_t at = std::size_t{row} * p.columns + column;
                  const std::uint32_t residual = *reinterpret_cast<const std::uint32_t*>(p.residual + at);
                  *reinterpret_cast<std::uint32_t*>(p.out + at) = pack(x + low(residual), y + high(residual));
                });
}

PIPELINK_EXPORT(finish, void, pipelink::Self) {}

}  // namespace residual_add
