// Masks the keys after a query's own.
#define PIPELINK_COMPONENT causal_mask
#include <pipelink/component.h>

#include "keep.h"

namespace causal_mask {

PIPELINK_USE_TEXT(score_layout, "wgmma_accumulator(64,128)");

PIPELINK_EXPORT(mask, void, pipelink::Self, float (&s)[64], int query, int key, int keys, unsigned) {
#pragma unroll
  for (int h = 0; h < 2; ++h)
    attention_masks::keep_to(s, h, key, min(query + attention_masks::row_of(h), keys - 1));
}

}  // namespace causal_mask
