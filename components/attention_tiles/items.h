// The order of the items that the iterators share: a block's items, by number.
#pragma once

#include "attention_tiles.h"

namespace attention_tiles {

constexpr unsigned kNone = ~0u;

/// The block's `step`-th item. Blocks go through the items back and forth, so that where items become shorter
/// the one that has the longest of a pass has the shortest of the next. Items come by tiles of queries, the
/// last first if `last_first`, as later queries have more keys; those of one tile by sequence and head.
[[maybe_unused]] static __device__ __forceinline__ bool find_item(const Shape& shape, unsigned tile,
                                                                  bool last_first, unsigned step,
                                                                  unsigned& row, unsigned& head,
                                                                  unsigned& sequence, int& position,
                                                                  unsigned& keys) {
  const unsigned row_tiles = (shape.rows + tile - 1) / tile, columns = shape.heads * shape.sequences;
  const unsigned item = step * gridDim.x + (step % 2 != 0 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
  if (item >= row_tiles * columns) return false;
  const unsigned number = item / columns, column = item % columns;
  row = (last_first ? row_tiles - 1 - number : number) * tile;
  sequence = column / shape.heads;
  head = column % shape.heads;
  keys = shape.lengths != nullptr ? __ldg(shape.lengths + sequence) : shape.keys;
  position = static_cast<int>(row + keys - shape.rows);
  return true;
}

}  // namespace attention_tiles
