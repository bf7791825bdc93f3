// A query meets the keys up to its own, or the last `window` of them. The tile with the own ones comes first:
// it has a key for each query, and often the greatest scores.
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

/// The tile of the last key that a query of the item sees; below 0 if none sees any.
static __device__ __forceinline__ int last_tile(pipelink::Self self, unsigned row, int position) {
  const unsigned rows = min(static_cast<unsigned>(tile(self)), parameters(self).shape.rows - row);
  const int last = position + static_cast<int>(rows) - 1;
  return last < 0 ? -1 : last / tile(self);
}

PIPELINK_EXPORT(item_at, unsigned, pipelink::Self self, unsigned step, unsigned& row, unsigned& head,
                unsigned& sequence, int& position, unsigned& keys) {
  if (!attention_tiles::find_item(parameters(self).shape, tile(self), attention_tiles::Lengths::kGrowing,
                                  step, row, head, sequence, position, keys))
    return attention_tiles::kNone;
  const int last = last_tile(self, row, position);
  return last < 0 ? 0 : last - first_key(self, position) / tile(self) + 1;
}

PIPELINK_EXPORT(tile_at, unsigned, pipelink::Self self, unsigned row, unsigned, unsigned, int position,
                unsigned, unsigned i, unsigned& kind) {
  const int key = (last_tile(self, row, position) - static_cast<int>(i)) * tile(self);
  const int last = position + tile(self) - 1;
  kind = key + tile(self) - 1 > position || key < static_cast<int>(first_key(self, last));
  return key;
}

/// What `window_mask` masks by.
PIPELINK_EXPORT(window, unsigned, pipelink::Self self) {
  return parameters(self).window;
}

}  // namespace causal_tiles
