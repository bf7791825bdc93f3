// Every query meets every key.
#define PIPELINK_COMPONENT all_tiles
#include <pipelink/component.h>

#include "items.h"

namespace all_tiles {

PIPELINK_PARAMETERS(attention_tiles::Shape, "attention_tiles.h", sequences, rows, heads, keys, lengths);
PIPELINK_USE_FACT(tile, int);

PIPELINK_EXPORT(item_at, unsigned, pipelink::Self self, unsigned step, unsigned& row, unsigned& head,
                unsigned& sequence, int& position, unsigned& keys) {
  if (!attention_tiles::find_item(parameters(self), tile(self), attention_tiles::Lengths::kEqual, step, row,
                                  head, sequence, position, keys))
    return attention_tiles::kNone;
  return (keys + tile(self) - 1) / tile(self);
}

PIPELINK_EXPORT(tile_at, unsigned, pipelink::Self self, unsigned, unsigned, unsigned, int, unsigned keys,
                unsigned i, unsigned& kind) {
  kind = (i + 1) * tile(self) > keys;
  return i * tile(self);
}

}  // namespace all_tiles
