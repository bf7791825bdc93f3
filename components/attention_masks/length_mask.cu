// Masks the keys past the end of a sequence.
#define PIPELINK_COMPONENT length_mask
#include <pipelink/component.h>

#include "keep.h"

namespace length_mask {

PIPELINK_USE_TEXT(score_layout, "wgmma_accumulator(64,128)");

PIPELINK_EXPORT(mask, void, pipelink::Self, float (&s)[64], int, int key, int keys, unsigned) {
#pragma unroll
  for (int h = 0; h < 2; ++h) attention_masks::keep_to(s, h, key, keys - 1);
}

}  // namespace length_mask
