#include "maps.h"

#include <algorithm>

namespace pipelink::transfer::test {

TileMap map_of(int threads, int values, int element_bytes, const std::function<int(int, int)>& element) {
  TileMap map{threads, values, {}, element_bytes};
  for (int t = 0; t < threads; ++t)
    for (int v = 0; v < values; ++v) map.element.push_back(element(t, v));
  return map;
}

TileMap tile_map(Tile tile, int threads, int values, int element_bytes,
                 const std::function<At(int, int)>& at) {
  return map_of(threads, values, element_bytes, [&](int t, int v) {
    const At where = at(t, v);
    return where.row * tile.columns + where.column;
  });
}

TileMap wgmma_accumulator(int columns, int element_bytes) {
  return tile_map({64, columns}, 128, columns / 2, element_bytes, [](int t, int v) {
    return At{t / 32 * 16 + t % 32 / 4 + v / 2 % 2 * 8, v / 4 * 8 + t % 4 * 2 + v % 2};
  });
}

TileMap mma_a(Tile tile, int element_bytes) {
  return tile_map(tile, tile.rows * 2, tile.columns / 2, element_bytes, [](int t, int v) {
    const int block = v / 8, i = v % 8;
    return At{t / 32 * 16 + t % 32 / 4 + (i % 4 >= 2 ? 8 : 0),
              block * 16 + t % 4 * 2 + i % 2 + (i >= 4 ? 8 : 0)};
  });
}

TileMap mma_c(Tile tile, int element_bytes) {
  return tile_map(tile, tile.columns * 2, tile.rows / 2, element_bytes, [](int t, int v) {
    const int block = v / 8, n = v / 4 % 2, i = v % 4;
    return At{block * 16 + t % 32 / 4 + (i >= 2 ? 8 : 0), t / 32 * 16 + n * 8 + t % 4 * 2 + i % 2};
  });
}

TileMap mma_b(Tile tile, int element_bytes) {
  return tile_map(tile, tile.columns * 2, tile.rows / 2, element_bytes, [](int t, int v) {
    const int block = v / 8, n = v / 4 % 2, i = v % 4;
    return At{block * 16 + t % 4 * 2 + i % 2 + (i >= 2 ? 8 : 0), t / 32 * 16 + n * 8 + t % 32 / 4};
  });
}

TileMap blocked(Tile tile, int threads, int element_bytes) {
  const int each = tile.size() / threads;
  return map_of(threads, each, element_bytes, [&](int t, int v) { return t * each + v; });
}

TileMap column_blocked(Tile tile, int threads, int element_bytes) {
  const int each = tile.size() / threads;
  return tile_map(tile, threads, each, element_bytes, [&](int t, int v) {
    const int place = t * each + v;
    return At{place % tile.rows, place / tile.rows};
  });
}

TileMap striped(Tile tile, int threads, int run, int element_bytes) {
  return map_of(threads, tile.size() / threads, element_bytes,
                [&](int t, int v) { return (v / run * threads + t) * run + v % run; });
}

TileMap quad_rows(Tile tile, int element_bytes) {
  const int quarter = tile.columns / 4;
  return tile_map(tile, tile.rows * 2, quarter * 2, element_bytes, [&](int t, int v) {
    return At{t / 32 * 16 + t % 32 / 4 + v / quarter * 8, t % 4 * quarter + v % quarter};
  });
}

TileMap ldmatrix_transposed(Tile tile, int element_bytes) {
  return tile_map(tile, tile.rows * 2, tile.columns / 2, element_bytes, [](int t, int v) {
    // Matrix m of a block: rows 8 (m % 2)…, columns 8 (m / 2)…; a lane holds rows 2 (l % 4) + h of column l
    // / 4.
    const int block = v / 8, m = v / 2 % 4, h = v % 2;
    return At{t / 32 * 16 + m % 2 * 8 + t % 4 * 2 + h, block * 16 + m / 2 * 8 + t % 32 / 4};
  });
}

TileMap tensor_memory(Tile tile, int element_bytes) {
  return blocked(tile, 128, element_bytes);
}

TileMap tcgen05_16x256b(Tile tile, int element_bytes) {
  // In words of a lane; an element is a part of one.
  const int each = tile.size() / 128, parts = 4 / element_bytes;
  return map_of(128, each, element_bytes, [&](int t, int v) {
    const int word = v / parts, words = each / parts, half = word / (words / 2), r = word % (words / 2);
    const int lane = t / 32 * 32 + half * 16 + t % 32 / 4 + r / 2 % 2 * 8;
    const int column = r / 4 * 8 + t % 4 * 2 + r % 2;
    return lane * each + column * parts + v % parts;
  });
}

TileMap broadcast_columns(Tile tile, int threads, int element_bytes) {
  return tile_map(tile, threads, tile.rows, element_bytes, [&](int t, int v) {
    return At{v, t % tile.columns};
  });
}

AddressMap row_major(Tile tile, int element_bytes, int pad_bytes) {
  AddressMap map;
  const int pitch = tile.columns + pad_bytes / element_bytes;
  for (int e = 0; e < tile.size(); ++e) map.offset.push_back(e / tile.columns * pitch + e % tile.columns);
  map.bytes = std::int64_t{tile.rows} * pitch * element_bytes;
  return map;
}

AddressMap column_major(Tile tile, int element_bytes) {
  AddressMap map;
  for (int e = 0; e < tile.size(); ++e) map.offset.push_back(e % tile.columns * tile.rows + e / tile.columns);
  map.bytes = std::int64_t{tile.size()} * element_bytes;
  return map;
}

AddressMap swizzled(Tile tile, int element_bytes, int span) {
  AddressMap map;
  const int width = span / element_bytes;
  for (int e = 0; e < tile.size(); ++e) {
    const int row = e / tile.columns, column = e % tile.columns;
    int byte = (column / width * tile.rows + row) * span + column % width * element_bytes;
    byte ^= (byte >> 7 & (span / 16 - 1)) << 4;
    map.offset.push_back(byte / element_bytes);
  }
  map.bytes = std::int64_t{tile.size()} * element_bytes;
  return map;
}

namespace {

constexpr Tile kTile{64, 64};

std::vector<Named> registers(int eb) {
  std::vector<Named> out;
  const auto add = [&](const char* name, TileMap map) {
    out.push_back({name, in_registers(std::move(map))});
  };
  add("wgmma", wgmma_accumulator(64, eb));
  add("mma A", mma_a(kTile, eb));
  add("mma B", mma_b(kTile, eb));
  add("mma C", mma_c(kTile, eb));
  add("rows", blocked(kTile, 128, eb));
  add("columns", column_blocked(kTile, 128, eb));
  add("striped", striped(kTile, 128, 1, eb));
  add("striped 16B", striped(kTile, 128, std::max(16 / eb, 1), eb));
  add("quad rows", quad_rows(kTile, eb));
  add("ldmatrix.trans", ldmatrix_transposed(kTile, eb));
  if (eb <= 4) add("tcgen05 16x256b", tcgen05_16x256b(kTile, eb));
  return out;
}

std::vector<Named> shared(int eb, bool consumer) {
  std::vector<Named> out;
  const auto add = [&](const char* name, AddressMap map, bool async, int align) {
    out.push_back({name, in_shared(std::move(map), eb, 128, async && consumer, align)});
  };
  add("row-major", row_major(kTile, eb), true, 128);
  add("row-major padded", row_major(kTile, eb, 16), false, 16);
  add("column-major", column_major(kTile, eb), false, 16);
  add("swizzle 32", swizzled(kTile, eb, 32), true, 256);
  add("swizzle 64", swizzled(kTile, eb, 64), true, 512);
  add("swizzle 128", swizzled(kTile, eb, 128), true, 1024);
  return out;
}

}  // namespace

std::vector<Named> producers(int element_bytes) {
  std::vector<Named> out = registers(element_bytes);
  if (element_bytes <= 4)
    out.push_back({"tensor memory", in_tensor_memory(tensor_memory(kTile, element_bytes))});
  for (Named& named : shared(element_bytes, false)) out.push_back(std::move(named));
  return out;
}

std::vector<Named> consumers(int element_bytes) {
  std::vector<Named> out = registers(element_bytes);
  out.push_back({"broadcast columns", in_registers(broadcast_columns(kTile, 128, element_bytes))});
  if (element_bytes <= 4)
    out.push_back({"tensor memory", in_tensor_memory(tensor_memory(kTile, element_bytes))});
  for (Named& named : shared(element_bytes, true)) out.push_back(std::move(named));
  return out;
}

}  // namespace pipelink::transfer::test
