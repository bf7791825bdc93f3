// Out of tensor memory. A warp reads its 32 lanes, or 16 of them, in one of four shapes; a shape repeats
// along the columns.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <set>

#include "linker/route/planners.h"

namespace pipelink::transfer {
namespace {

constexpr int kLanes = 32;
constexpr int kMostRegisters = 128;  ///< of one load

/// The smallest form of a shape.
struct Form {
  int registers = 1, columns = 1, halves = 1;
};

Form form_of(TensorShape shape) {
  switch (shape) {
    case TensorShape::k32x32b:
      return {1, 1, 1};
    case TensorShape::k16x64b:
      return {1, 2, 2};
    case TensorShape::k16x128b:
      return {2, 4, 2};
    case TensorShape::k16x256b:
      break;
  }
  return {4, 8, 2};
}

struct Position {
  int lane = 0, column = 0;
};

/// What register r of a lane holds, from the first lane and column of the form.
Position position_of(TensorShape shape, int lane, int r) {
  switch (shape) {
    case TensorShape::k32x32b:
      return {lane, 0};
    case TensorShape::k16x64b:
      return {lane / 4 + lane % 2 * 8, lane / 2 % 2};
    case TensorShape::k16x128b:
      return {lane / 4 + r * 8, lane % 4};
    case TensorShape::k16x256b:
      break;
  }
  return {lane / 4 + r / 2 * 8, lane % 4 * 2 + r % 2};
}

/// The element of unit i of register r of a piece; elements have at most 4 bytes.
std::int32_t element_of(const TileMap& tile, TensorShape shape, int thread, std::pair<int, int> piece, int r,
                        int i) {
  const Position at = position_of(shape, thread % kLanes, r);
  const int lane = thread / kLanes % 4 * kLanes + piece.first * 16 + at.lane;
  const int value = (piece.second * form_of(shape).columns + at.column) * (4 / tile.element_bytes) + i;
  return lane < tile.threads && value < tile.values ? tile(lane, value) : kNothing;
}

void fill_map(TensorPieces& out, const TileMap& tile, int threads) {
  const int registers = form_of(out.shape).registers, units = 4 / tile.element_bytes;
  out.map.threads = threads;
  out.map.element_bytes = tile.element_bytes;
  out.map.values = static_cast<int>(out.pieces.size()) * registers * units;
  out.map.element.clear();
  out.map.element.reserve(static_cast<std::size_t>(threads) * static_cast<std::size_t>(out.map.values));
  for (int t = 0; t < threads; ++t)
    for (const std::pair<int, int>& piece : out.pieces)
      for (int r = 0; r < registers; ++r)
        for (int i = 0; i < units; ++i)
          out.map.element.push_back(element_of(tile, out.shape, t, piece, r, i));
}

bool any_demanded(const TileMap& tile, int threads, TensorShape shape, std::pair<int, int> piece,
                  const std::vector<bool>& demanded) {
  for (int t = 0; t < threads; ++t)
    for (int r = 0; r < form_of(shape).registers; ++r)
      for (int i = 0; i < 4 / tile.element_bytes; ++i) {
        const std::int32_t e = element_of(tile, shape, t, piece, r, i);
        if (e != kNothing && static_cast<std::size_t>(e) < demanded.size() &&
            demanded[static_cast<std::size_t>(e)])
          return true;
      }
  return false;
}

std::string unusable(const TileMap& tile, int threads) {
  if (threads % kLanes != 0) return fmt::format("{} threads are no whole warps", threads);
  if (tile.element_bytes == 8) return "elements of 8 bytes lie in two columns";
  if (tile.values * tile.element_bytes % 4 != 0)
    return fmt::format("{} elements of {} bytes are no whole columns", tile.values, tile.element_bytes);
  if (tile.threads < std::min(threads, 128))
    return fmt::format("{} threads reach {} lanes, the tile has {}", threads, std::min(threads, 128),
                       tile.threads);
  return {};
}

/// Loads of powers of two of consecutive pieces.
std::vector<std::size_t> runs_of(const TensorPieces& pieces) {
  const int most = kMostRegisters / form_of(pieces.shape).registers;
  std::vector<std::size_t> out;
  for (std::size_t begin = 0; begin < pieces.pieces.size();) {
    std::size_t end = begin + 1;
    while (end < pieces.pieces.size() && pieces.pieces[end].first == pieces.pieces[begin].first &&
           pieces.pieces[end].second == pieces.pieces[end - 1].second + 1)
      ++end;
    const std::size_t count = std::bit_floor(std::min(end - begin, static_cast<std::size_t>(most)));
    out.push_back(count);
    begin += count;
  }
  return out;
}

}  // namespace

std::optional<TensorPieces> tensor_pieces(const TileMap& tile, int threads, TensorShape shape,
                                          const std::vector<bool>& demanded) {
  if (!unusable(tile, threads).empty()) return std::nullopt;
  const Form form = form_of(shape);
  const int columns = word_count(tile.values, tile.element_bytes);
  if (columns % form.columns != 0) return std::nullopt;
  TensorPieces out;
  out.shape = shape;
  for (int half = 0; half < form.halves; ++half)
    for (int repeat = 0; repeat < columns / form.columns; ++repeat) {
      if (any_demanded(tile, threads, shape, {half, repeat}, demanded)) out.pieces.emplace_back(half, repeat);
    }
  if (out.pieces.empty()) return std::nullopt;
  fill_map(out, tile, threads);
  return out;
}

std::optional<TensorPieces> matching_pieces(const TileMap& tile, const TileMap& to, std::string& reason) {
  reason = unusable(tile, to.threads);
  if (tile.element_bytes != to.element_bytes) reason = "the elements have different sizes";
  if (!reason.empty()) return std::nullopt;
  std::vector<bool> demanded(static_cast<std::size_t>(std::max(tile_size(tile), tile_size(to))), false);
  for (const std::int32_t e : to.element)
    if (e != kNothing) demanded[static_cast<std::size_t>(e)] = true;
  std::optional<TensorPieces> best;
  std::size_t fewest = 0;
  for (const TensorShape shape : kTensorShapes) {
    std::optional<TensorPieces> all = tensor_pieces(tile, to.threads, shape, demanded);
    if (!all) continue;
    std::string why;
    const auto names = renaming(all->map, to, why);
    if (!names) {
      if (reason.empty()) reason = fmt::format("of tcgen05.ld.{}, {}", name_of(shape), why);
      continue;
    }
    // Only what is used.
    const int values_of_piece = all->map.values / static_cast<int>(all->pieces.size());
    std::set<std::pair<int, int>> used;
    for (const std::int32_t name : *names)
      if (name != kNothing) used.insert(all->pieces[static_cast<std::size_t>(name / values_of_piece)]);
    TensorPieces pieces{shape, {used.begin(), used.end()}, {}};
    fill_map(pieces, tile, to.threads);
    const std::size_t loads = runs_of(pieces).size();
    if (!best || loads < fewest) {
      best = std::move(pieces);
      fewest = loads;
    }
  }
  if (best)
    reason.clear();
  else if (reason.empty())
    reason = "the tile's columns are not whole pieces of a load";
  return best;
}

Held load_pieces(Builder& builder, const TensorPieces& pieces, Cost& cost) {
  const Form form = form_of(pieces.shape);
  Held held;
  held.map = pieces.map;
  std::size_t begin = 0;
  for (const std::size_t count : runs_of(pieces)) {
    const auto& [half, repeat] = pieces.pieces[begin];
    TensorLoad load{pieces.shape, {}, half * 16, repeat * form.columns};
    for (int i = 0; i < static_cast<int>(count) * form.registers; ++i)
      load.results.push_back(builder.fresh());
    held.words.insert(held.words.end(), load.results.begin(), load.results.end());
    builder.add(std::move(load));
    ++cost.tensor_loads;
    begin += count;
  }
  builder.add(TensorWait{});
  builder.bank(held.words);
  return held;
}

}  // namespace pipelink::transfer
