// Adds slope · (key − query) to each score, with a slope for each head.
#define PIPELINK_COMPONENT alibi
#include <pipelink/component.h>

#include "alibi.h"

namespace alibi {

PIPELINK_PARAMETERS(alibi::Parameters, "alibi.h", slopes);
PIPELINK_USE_TEXT(score_layout, "wgmma_accumulator(64,128)");

PIPELINK_EXPORT(score, void, pipelink::Self self, float (&s)[64], int query, int key, unsigned head,
                float scale) {
  const float slope = __ldg(parameters(self).slopes + head) / scale;
  const int row = static_cast<int>(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4);
  const float first = static_cast<float>(key - query - row + static_cast<int>(threadIdx.x % 4) * 2);
#pragma unroll
  for (int j = 0; j < 16; ++j)
#pragma unroll
    for (int i = 0; i < 4; ++i)
      s[4 * j + i] = __fmaf_rn(slope, first + static_cast<float>(8 * j + i % 2 - i / 2 * 8), s[4 * j + i]);
}

}  // namespace alibi
