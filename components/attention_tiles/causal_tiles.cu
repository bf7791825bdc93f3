// A query meets the keys up to its own, or the last `window` of them. Items with the most keys come first.
#define PIPELINK_COMPONENT causal_tiles
#include <pipelink/component.h>

#include "items.h"

namespace causal_tiles {

PIPELINK_PARAMETERS(attention_tiles::Causal, "attention_tiles.h", shape, window);
PIPELINK_USE_FACT(tile, int);

/// The position of the first key that the query at `position` sees, at least 0.
static __device__ __forceinline__ unsigned first_key(pipelink::Self self, int position) {
  const int window = static_cast<int>(parameters(self).window);
  return window != 0 && position >= window ? position - window + 1 : 0;
}

PIPELINK_EXPORT(item_at, unsigned, pipelink::Self self, unsigned step, unsigned& row, unsigned& head,
                unsigned& sequence, int& position, unsigned& keys) {
  const attention_tiles::Shape& shape = parameters(self).shape;
  if (!attention_tiles::find_item(shape, tile(self), attention_tiles::Lengths::kGrowing, step, row, head,
                                  sequence, position, keys))
    return attention_tiles::kNone;
  const int last = position + static_cast<int>(min(static_cast<unsigned>(tile(self)), shape.rows - row)) - 1;
  return last < 0 ? 0 : last / tile(self) - first_key(self, position) / tile(self) + 1;
}

PIPELINK_EXPORT(tile_at, unsigned, pipelink::Self self, unsigned, unsigned, unsigned, int position, unsigned,
                unsigned i, unsigned& kind) {
  const int key = (first_key(self, position) / tile(self) + i) * tile(self);
  const int last = position + tile(self) - 1;
  kind = key + tile(self) - 1 > position || key < static_cast<int>(first_key(self, last));
  return key;
}

/// What `window_mask` masks by.
PIPELINK_EXPORT(window, unsigned, pipelink::Self self) {
  return parameters(self).window;
}

}  // namespace causal_tiles
