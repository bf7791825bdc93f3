// Masks the keys after a query's own, and those that its window has left.
#define PIPELINK_COMPONENT window_mask
#include <pipelink/component.h>

#include "keep.h"

namespace window_mask {

PIPELINK_USE_TEXT(score_layout, "wgmma_accumulator(64,128)");
PIPELINK_IMPORT(window, unsigned, pipelink::Self self);

PIPELINK_EXPORT(mask, void, pipelink::Self self, float (&s)[64], int query, int key, int keys, unsigned) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int own = query + attention_masks::row_of(h);
    attention_masks::keep(s, h, key, own - static_cast<int>(window(self)) + 1, min(own, keys - 1));
  }
}

}  // namespace window_mask
