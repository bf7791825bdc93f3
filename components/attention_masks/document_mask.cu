// Masks the keys after a query's own, and those of other documents.
#define PIPELINK_COMPONENT document_mask
#include <pipelink/component.h>

#include "keep.h"

namespace document_mask {

PIPELINK_USE_TEXT(score_layout, "wgmma_accumulator(64,128)");
PIPELINK_IMPORT(document_start, unsigned, pipelink::Self self, int position);

PIPELINK_EXPORT(mask, void, pipelink::Self self, float (&s)[64], int query, int key, int keys, unsigned) {
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    const int own = query + attention_masks::row_of(h);
    attention_masks::keep(s, h, key, static_cast<int>(document_start(self, own)), min(own, keys - 1));
  }
}

}  // namespace document_mask
