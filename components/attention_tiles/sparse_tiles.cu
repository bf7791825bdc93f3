// Queries meet the tiles of keys that a list of their head and tile names. A list may be empty.
#define PIPELINK_COMPONENT sparse_tiles
#include <pipelink/component.h>

#include "items.h"

namespace sparse_tiles {

PIPELINK_PARAMETERS(attention_tiles::Sparse, "attention_tiles.h", shape, counts, indices, stride);
PIPELINK_USE_FACT(tile, int);

static __device__ __forceinline__ unsigned list(pipelink::Self self, unsigned row, unsigned head) {
  const unsigned row_tiles = (parameters(self).shape.rows + tile(self) - 1) / tile(self);
  return head * row_tiles + row / tile(self);
}

PIPELINK_EXPORT(item_at, unsigned, pipelink::Self self, unsigned step, unsigned& row, unsigned& head,
                unsigned& sequence, int& position, unsigned& keys) {
  if (!attention_tiles::find_item(parameters(self).shape, tile(self), attention_tiles::Lengths::kEqual, step,
                                  row, head, sequence, position, keys))
    return attention_tiles::kNone;
  return __ldg(parameters(self).counts + list(self, row, head));
}

PIPELINK_EXPORT(tile_at, unsigned, pipelink::Self self, unsigned row, unsigned head, unsigned, int,
                unsigned keys, unsigned i, unsigned& kind) {
  const attention_tiles::Sparse& p = parameters(self);
  const unsigned key =
      __ldg(p.indices + static_cast<unsigned long long>(list(self, row, head)) * p.stride + i) * tile(self);
  kind = key + tile(self) > keys;
  return key;
}

}  // namespace sparse_tiles
