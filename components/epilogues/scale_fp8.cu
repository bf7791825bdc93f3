// product * scale, stored as e4m3; what is too large becomes the largest.
#define PIPELINK_COMPONENT scale_fp8
#include <pipelink/component.h>

#include "scale_fp8.h"

namespace scale_fp8 {

PIPELINK_PARAMETERS(scale_fp8::Parameters, "scale_fp8.h", out, scale, rows, columns);
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
  const float scale = __ldg(p.scale);
  for_each_pair(
      self, acc, m0, n0, part, warpgroup, p.rows, p.columns,
      [&](float x, float y, unsigned row, unsigned column) {
        std::uint16_t packed;
        asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(packed) : "f"(y * scale), "f"(x * scale));
        *reinterpret_cast<std::uint16_t*>(p.out + std::size_t{row} * p.columns + column) = packed;
      });
}

PIPELINK_EXPORT(finish, void, pipelink::Self) {}

}  // namespace scale_fp8
