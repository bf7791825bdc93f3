// Layouts of a staging buffer to choose from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linker/route/tile_map.h"

namespace pipelink::transfer {

/// Where each element of a tile is in a buffer.
struct StagingLayout {
  std::string name;
  std::vector<std::int32_t> byte;  ///< element → byte offset
  std::int64_t bytes = 0;
};

/// Candidates for a tile that goes from registers to registers, the most promising first.
///
/// If both maps are linear over GF(2), layouts without conflicts are computed: of the tile's index space, C
/// is what one vector (or one row of a matrix) spans, U what the lanes that are served together span with it,
/// on each side. Bytes of a line of 128 are a complement of H, the lines; there are no conflicts if H meets
/// neither side's U. Two subspaces of one dimension have a common complement, so there is such an H.
///
/// Else: the order of the producer's registers, or of the consumer's; rows, padded or with chunks swizzled;
/// columns, padded. `columns` is the length of a row, 0 if it is not known.
std::vector<StagingLayout> staging_layouts(const TileMap& from, const TileMap& to, int columns,
                                           bool matrices);

}  // namespace pipelink::transfer
