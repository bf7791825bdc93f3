// The order of the items that the iterators share: a block's items, by number.
#pragma once

#include "attention_tiles.h"

namespace attention_tiles {

constexpr unsigned kNone = ~0u;

/// Whether the items of a column, which is one head of one sequence, have the more keys the later they are.
enum class Lengths { kEqual, kGrowing };

/// The block's `step`-th item. Few columns are gone through at a time, so that their keys and values stay in
/// the L2 cache.
///
/// Where items grow, a group of columns is gone through from its last tiles of queries to its first, the next
/// one from its first to its last, and so on, the last group towards its first: so lengths change little from
/// an item to the next, and the last are the shortest. Blocks go through this order back and forth, by which
/// the one that has the longest of a pass has the shortest of the next. They end within a hundredth of each
/// other, if a group is a few passes long.
[[maybe_unused]] static __device__ __forceinline__ bool find_item(const Shape& shape, unsigned tile,
                                                                  Lengths lengths, unsigned step,
                                                                  unsigned& row, unsigned& head,
                                                                  unsigned& sequence, int& position,
                                                                  unsigned& keys) {
  constexpr unsigned kPasses = 4;  // of a group, at least
  const unsigned row_tiles = (shape.rows + tile - 1) / tile, columns = shape.heads * shape.sequences;
  const unsigned item = step * gridDim.x + (step % 2 != 0 ? gridDim.x - 1 - blockIdx.x : blockIdx.x);
  if (item >= row_tiles * columns) return false;
  unsigned width = 1;  // columns of a group
  if (lengths == Lengths::kGrowing) {
    const unsigned most = max(row_tiles * columns / (kPasses * gridDim.x), 1u);
    width = (columns + most - 1) / most;
  }
  const unsigned groups = (columns + width - 1) / width, group = item / (width * row_tiles);
  const unsigned at = item - group * width * row_tiles, wide = min(width, columns - group * width);
  const bool falling = lengths == Lengths::kGrowing && (groups - group) % 2 != 0;
  const unsigned number = at / wide, column = group * width + at % wide;
  row = (falling ? row_tiles - 1 - number : number) * tile;
  sequence = column / shape.heads;
  head = column % shape.heads;
  keys = shape.lengths != nullptr ? __ldg(shape.lengths + sequence) : shape.keys;
  position = static_cast<int>(row + keys - shape.rows);
  return true;
}

}  // namespace attention_tiles
