// Normalises the output of attention and stores it as bfloat16, with the logarithm of each row's sum,
// straight from registers: it needs no shared memory, and the warpgroups need not meet (set
// attention_core.joined=0).
#define PIPELINK_COMPONENT attention_store_lse
#include <pipelink/component.h>

#include "attention_store_lse.h"

namespace attention_store_lse {

PIPELINK_PARAMETERS(attention_store_lse::Parameters, "attention_store_lse.h", out, lse, rows, heads, row,
                    head, sequence);
PIPELINK_IMPORT_TENSOR(o, .element = "f32", .tile = {64, 64}, .layout = "wgmma_accumulator(64,64)",
                       .via = "epilogue", .parameter = 0);
PIPELINK_STEPS(epilogue);

/// Register 4j + 2h + c of lane l in warp w of a warpgroup is row 16w + l/4 + 8h, column 8j + 2(l%4) + c.
PIPELINK_EXPORT(epilogue, void, pipelink::Self self, float (&o)[32], float (&base)[2], float (&sum)[2],
                unsigned row, unsigned head, unsigned sequence, unsigned column, unsigned) {
  const Parameters& p = parameters(self);
  const unsigned lane = threadIdx.x % 32;
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const unsigned own = row + threadIdx.x % 128 / 32 * 16 + lane / 4 + 8 * h;
    if (own >= p.rows) continue;
    float factor, logarithm;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(factor) : "f"(sum[h]));
    if (sum[h] == 0) factor = 0;
    auto* to = static_cast<std::uint32_t*>(p.out) +
               (sequence * p.sequence + head * p.head + own * p.row + column + lane % 4 * 2) / 2;
#pragma unroll
    for (int j = 0; j < 8; ++j) {
      std::uint32_t packed;
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;"
          : "=r"(packed)
          : "f"(o[4 * j + 2 * h + 1] * factor), "f"(o[4 * j + 2 * h] * factor));
      to[4 * j] = packed;
    }
    if (column != 0 || lane % 4 != 0) continue;
    asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(logarithm) : "f"(sum[h]));
    p.lse[(static_cast<std::size_t>(sequence) * p.heads + head) * p.rows + own] =
        base[h] + logarithm * 0.6931471805599453f;
  }
}

}  // namespace attention_store_lse
