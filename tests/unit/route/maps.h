// Maps of well-known fragments and tiles, each from its definition as a formula.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "linker/route/plan_transfer.h"

namespace pipelink::transfer::test {

struct Tile {
  int rows = 0, columns = 0;
  int size() const { return rows * columns; }
};

/// A map from a function (thread, value) → element.
TileMap map_of(int threads, int values, int element_bytes, const std::function<int(int, int)>& element);
/// The same from (thread, value) → {row, column}.
struct At {
  int row = 0, column = 0;
};
TileMap tile_map(Tile tile, int threads, int values, int element_bytes,
                 const std::function<At(int, int)>& at);

/// 128 threads, 64 rows: the accumulator of wgmma.m64nN.
TileMap wgmma_accumulator(int columns, int element_bytes);
/// Warp w holds rows 16w…; A fragments of mma.m16n8k16, 16 columns each.
TileMap mma_a(Tile tile, int element_bytes);
/// Warp w holds columns 16w…; C fragments of mma.m16n8, rows 16 at a time.
TileMap mma_c(Tile tile, int element_bytes);
/// Warp w holds columns 16w…; B fragments of mma.m16n8k16 (rows are k).
TileMap mma_b(Tile tile, int element_bytes);
/// A thread holds consecutive elements.
TileMap blocked(Tile tile, int threads, int element_bytes);
/// A thread holds a run of a column.
TileMap column_blocked(Tile tile, int threads, int element_bytes);
/// Runs of `run` elements in turn to the threads.
TileMap striped(Tile tile, int threads, int run, int element_bytes);
/// Every thread of a quad (four lanes) holds a quarter of its rows: rows l/4 and l/4 + 8 of the warp's 16.
TileMap quad_rows(Tile tile, int element_bytes);
/// ldmatrix.x4.trans of 16 x 16 blocks, warp w in rows 16w….
TileMap ldmatrix_transposed(Tile tile, int element_bytes);
/// tcgen05.ld.16x256b of a tile whose row r is lane r * 128 / rows ….
TileMap tcgen05_16x256b(Tile tile, int element_bytes);
/// The tile in tensor memory: 128 lanes, consecutive elements in each.
TileMap tensor_memory(Tile tile, int element_bytes);
/// Thread t holds all of column t % columns: each element in several threads.
TileMap broadcast_columns(Tile tile, int threads, int element_bytes);

AddressMap row_major(Tile tile, int element_bytes, int pad_bytes = 0);
AddressMap column_major(Tile tile, int element_bytes);
/// As a TMA box with a swizzle of `span` (32, 64, 128) bytes: slabs of `span` bytes a row.
AddressMap swizzled(Tile tile, int element_bytes, int span);

/// A side with its name.
struct Named {
  std::string name;
  Endpoint side;
};
/// All of the above that suit a tile of 64 x 64 in 128 threads, as producers and as consumers.
std::vector<Named> producers(int element_bytes);
std::vector<Named> consumers(int element_bytes);

}  // namespace pipelink::transfer::test
