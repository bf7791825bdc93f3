// Documents packed end to end: a query meets the keys of its document up to its own. The tile with the own
// ones comes first.
#define PIPELINK_COMPONENT document_tiles
#include <pipelink/component.h>

#include "items.h"

namespace document_tiles {

PIPELINK_PARAMETERS(attention_tiles::Documents, "attention_tiles.h", shape, first);
PIPELINK_USE_FACT(tile, int);

static __device__ __forceinline__ unsigned first_key(pipelink::Self self, int position) {
  const attention_tiles::Documents& p = parameters(self);
  return __ldg(p.first + min(static_cast<unsigned>(position), p.shape.rows - 1));
}

PIPELINK_EXPORT(item_at, unsigned, pipelink::Self self, unsigned step, unsigned& row, unsigned& head,
                unsigned& sequence, int& position, unsigned& keys) {
  const attention_tiles::Shape& shape = parameters(self).shape;
  if (!attention_tiles::find_item(shape, tile(self), attention_tiles::Lengths::kGrowing, step, row, head,
                                  sequence, position, keys))
    return attention_tiles::kNone;
  return row / tile(self) - first_key(self, position) / tile(self) + 1;
}

PIPELINK_EXPORT(tile_at, unsigned, pipelink::Self self, unsigned row, unsigned, unsigned, int position,
                unsigned, unsigned i, unsigned& kind) {
  const unsigned key = row - i * tile(self);
  kind = key == row || key < first_key(self, position + tile(self) - 1);
  return key;
}

/// What `document_mask` masks by.
PIPELINK_EXPORT(document_start, unsigned, pipelink::Self self, int position) {
  return first_key(self, position);
}

}  // namespace document_tiles
