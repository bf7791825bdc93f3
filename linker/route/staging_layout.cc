#include "linker/route/staging_layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include "linker/route/fit.h"
#include "linker/route/gf2.h"

namespace pipelink::transfer {
namespace {

using gf2::Space;
using gf2::Vector;

constexpr int kLaneBits = 5;

/// A map as a linear function: what each bit of the value, and of the thread, adds (XORs) to the element.
struct Linear {
  std::vector<Vector> values, lanes, warps;
};

std::optional<Linear> linear_of(const TileMap& map) {
  if (!std::has_single_bit(static_cast<unsigned>(map.values)) ||
      !std::has_single_bit(static_cast<unsigned>(map.threads)) ||
      std::find(map.element.begin(), map.element.end(), kNothing) != map.element.end())
    return std::nullopt;
  const std::optional<Affine> affine = fit_affine(map.element);
  if (!affine) return std::nullopt;
  Linear out;
  const auto value_bits = static_cast<std::size_t>(std::bit_width(static_cast<unsigned>(map.values)) - 1);
  for (std::size_t i = 0; i < affine->basis.size(); ++i) {
    const auto vector = static_cast<Vector>(affine->basis[i]);
    if (i < value_bits)
      out.values.push_back(vector);
    else if (i < value_bits + kLaneBits)
      out.lanes.push_back(vector);
    else
      out.warps.push_back(vector);
  }
  return out;
}

/// One way in which a side accesses the buffer.
struct Side {
  std::vector<Vector> chunk;     ///< what consecutive elements of a vector or matrix row differ in, in order
  std::vector<Vector> together;  ///< what else the accesses that are served together differ in
  const char* name = "";
};

/// Vectors of the side, `wide` elements (as a power of two), beginning with `first`.
std::optional<Side> vector_side(const Linear& map, const std::vector<Vector>& first, int wide,
                                int line_bits) {
  Side side;
  side.name = "vectors";
  Space span;
  const auto take = [&](Vector v) {
    if (static_cast<int>(side.chunk.size()) < wide && span.add(v)) side.chunk.push_back(v);
  };
  for (const Vector v : first) take(v);
  for (const Vector v : map.values) take(v);
  if (static_cast<int>(side.chunk.size()) < wide) return std::nullopt;
  // Lanes, from the nearest on, until a line is full.
  for (const Vector v : map.lanes)
    if (span.dimension() < line_bits && span.add(v)) side.together.push_back(v);
  return side;
}

/// A row of an 8 x 8 matrix of halves: the register's halves and lanes 1 and 2, or lanes 4, 8 and 16.
std::optional<Side> matrix_side(const Linear& map, bool transposed) {
  if (map.values.empty() || map.lanes.size() < kLaneBits) return std::nullopt;
  const Vector half = map.values.front();
  Side side;
  side.chunk = {half, map.lanes[0], map.lanes[1]};
  side.together = {map.lanes[2], map.lanes[3], map.lanes[4]};
  if (transposed) std::swap(side.chunk, side.together);
  side.name = transposed ? "transposed matrices" : "matrices";
  Space span;
  for (const auto* list : {&side.chunk, &side.together})
    for (const Vector v : *list)
      if (!span.add(v)) return std::nullopt;
  return side;
}

std::vector<Vector> intersection(const std::vector<Vector>& a, const std::vector<Vector>& b) {
  // What a combination of a's and of b's has in common is a kernel vector of both together.
  Space both;
  for (const Vector v : a) both.add(v);
  std::vector<Vector> out;
  for (const Vector v : b) {
    Vector kernel = 0;
    if (both.add(v, &kernel)) continue;
    Vector common = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
      if ((kernel >> i & 1) != 0) common ^= a[i];
    if (common != 0) out.push_back(common);
  }
  return out;
}

/// A subspace that meets neither `a` nor `b` and makes the whole with each, after the smaller one was
/// enlarged.
std::vector<Vector> common_complement(std::vector<Vector> a, std::vector<Vector> b, int bits) {
  const auto enlarge = [&](std::vector<Vector>& small, const std::vector<Vector>& large) {
    Space span;
    for (const Vector v : small) span.add(v);
    for (const Vector v : large)
      if (small.size() < large.size() && span.add(v)) small.push_back(v);
    for (int i = 0; i < bits && small.size() < large.size(); ++i)
      if (span.add(Vector{1} << i)) small.push_back(Vector{1} << i);
  };
  enlarge(a, b);
  enlarge(b, a);
  // a = common + left, b = common + right; the sums of left and right, and what neither has.
  Space in_common, all;
  std::vector<Vector> left, right, out;
  for (const Vector v : intersection(a, b)) in_common.add(v);
  Space with_a = in_common, with_b = in_common;
  for (const Vector v : a)
    if (with_a.add(v)) left.push_back(v);
  for (const Vector v : b)
    if (with_b.add(v)) right.push_back(v);
  for (std::size_t i = 0; i < left.size(); ++i) out.push_back(left[i] ^ right[i]);
  for (const Vector v : a) all.add(v);
  for (const Vector v : b) all.add(v);
  for (int i = 0; i < bits; ++i)
    if (all.add(Vector{1} << i)) out.push_back(Vector{1} << i);
  return out;
}

/// The layout that has `chunk` in the lowest bits of the address, then the rest of a line, then the lines.
StagingLayout layout_of(const std::vector<Vector>& chunk, const Side& a, const Side& b, int bits,
                        int line_bits, int element_bytes) {
  std::vector<Vector> spans[2];
  for (const auto& [side, span] : {std::pair{&a, &spans[0]}, std::pair{&b, &spans[1]}}) {
    *span = side->chunk;
    span->insert(span->end(), side->together.begin(), side->together.end());
  }
  // Both must reach as far as a line does, so that there are enough banks.
  const int reach = std::min(line_bits, bits);
  for (auto& span : spans) {
    Space space;
    for (const Vector v : span) space.add(v);
    for (const Vector v : chunk)
      if (static_cast<int>(span.size()) < reach && space.add(v)) span.push_back(v);
    for (int i = 0; i < bits && static_cast<int>(span.size()) < reach; ++i)
      if (space.add(Vector{1} << i)) span.push_back(Vector{1} << i);
  }
  const std::vector<Vector> lines = common_complement(spans[0], spans[1], bits);
  std::vector<Vector> basis;
  Space space, without_lines;
  const auto take = [&](Vector v) {
    if (space.add(v)) basis.push_back(v);
  };
  for (const Vector v : chunk) take(v);
  for (const Vector v : lines) space.add(v);
  for (const auto& span : spans)
    for (const Vector v : span) take(v);
  for (const Vector v : lines) basis.push_back(v);
  // Element basis[i] is at 1 << i: the inverse gives each element's place.
  Space by_place;
  for (const Vector v : basis) by_place.add(v);
  StagingLayout out;
  std::vector<Vector> place;
  for (int i = 0; i < bits; ++i) place.push_back(by_place.solve(Vector{1} << i).value_or(0));
  const auto size = std::size_t{1} << bits;
  out.byte.assign(size, 0);
  for (std::size_t e = 1; e < size; ++e)
    out.byte[e] =
        out.byte[e & (e - 1)] ^
        static_cast<std::int32_t>(place[static_cast<std::size_t>(std::countr_zero(e))]) * element_bytes;
  out.bytes = static_cast<std::int64_t>(size) * element_bytes;
  out.name = fmt::format("linear, {} to {}", a.name, b.name);
  return out;
}

std::vector<StagingLayout> linear_layouts(const TileMap& from, const TileMap& to, bool matrices) {
  std::vector<StagingLayout> out;
  const auto size = static_cast<unsigned>(std::max(tile_size(from), tile_size(to)));
  if (!std::has_single_bit(size)) return out;
  const std::optional<Linear> source = linear_of(from), target = linear_of(to);
  if (!source || !target) return out;
  const int bits = std::bit_width(size) - 1;
  const int chunk_bits = std::bit_width(static_cast<unsigned>(16 / from.element_bytes)) - 1;
  const int line_bits = chunk_bits + 3;
  const std::vector<Vector> common = intersection(source->values, target->values);
  // Natural words first: the lowest bits of the values that both have.
  std::vector<Vector> first;
  Space span, shared;
  for (const Vector v : common) shared.add(v);
  for (const Vector v : source->values)
    if (shared.contains(v) && span.add(v)) first.push_back(v);
  for (const Vector v : common)
    if (span.add(v)) first.push_back(v);
  const int both = static_cast<int>(first.size());

  const auto add = [&](const std::optional<Side>& a, const std::optional<Side>& b) {
    if (!a || !b) return;
    const std::vector<Vector>& chunk = a->chunk.size() >= b->chunk.size() ? a->chunk : b->chunk;
    StagingLayout layout = layout_of(chunk, *a, *b, bits, line_bits, from.element_bytes);
    if (std::none_of(out.begin(), out.end(), [&](const StagingLayout& l) { return l.byte == layout.byte; }))
      out.push_back(std::move(layout));
  };
  const auto limited = [&](int wide) {
    return std::vector<Vector>(first.begin(), first.begin() + std::min(both, wide));
  };
  const auto widest = [&](const Linear& map) {
    Space values;
    for (const Vector v : map.values) values.add(v);
    return std::min(chunk_bits, values.dimension());
  };
  const int narrow = std::min(both, chunk_bits);
  add(vector_side(*source, limited(chunk_bits), widest(*source), line_bits),
      vector_side(*target, limited(narrow), narrow, line_bits));
  add(vector_side(*source, limited(narrow), narrow, line_bits),
      vector_side(*target, limited(chunk_bits), widest(*target), line_bits));
  if (from.element_bytes == 2 && matrices) {
    // The leading bits of a matrix row that are values on the other side are its vectors there.
    const auto inside = [&](const Side& matrix, const Linear& other) {
      Space values;
      for (const Vector v : other.values) values.add(v);
      std::vector<Vector> leading;
      for (const Vector v : matrix.chunk) {
        if (!values.contains(v)) break;
        leading.push_back(v);
      }
      return vector_side(other, leading, static_cast<int>(leading.size()), line_bits);
    };
    for (const bool a : {false, true}) {
      const std::optional<Side> stores = matrix_side(*source, a), loads = matrix_side(*target, a);
      if (stores) add(stores, inside(*stores, *target));
      if (loads) add(inside(*loads, *source), loads);
      for (const bool b : {false, true}) {
        const std::optional<Side> other = matrix_side(*target, b);
        if (stores && other && stores->chunk == other->chunk) add(stores, other);
      }
    }
  }
  return out;
}

/// The tile in slices of a power of two of columns, if each value of a thread is in one slice in all threads.
std::optional<TileMap> first_slice(const TileMap& map, int columns, int slice, std::int32_t rows) {
  TileMap out;
  out.threads = map.threads;
  out.element_bytes = map.element_bytes;
  std::vector<int> values;
  for (int v = 0; v < map.values; ++v) {
    const std::int32_t first = map(0, v);
    for (int t = 0; t < map.threads; ++t) {
      const std::int32_t e = map(t, v);
      if (e == kNothing || first == kNothing || e % columns / slice != first % columns / slice ||
          e / columns >= rows)
        return std::nullopt;
    }
    if (first % columns / slice == 0) values.push_back(v);
  }
  out.values = static_cast<int>(values.size());
  for (int t = 0; t < map.threads; ++t)
    for (const int v : values) {
      const std::int32_t e = map(t, v);
      out.element.push_back(e / columns * slice + e % columns);
    }
  return out;
}

/// Linear layouts of a slice, for a row that is an odd multiple of a power of two.
std::vector<StagingLayout> sliced_layouts(const TileMap& from, const TileMap& to, int columns,
                                          bool matrices) {
  const std::int32_t size = std::max(tile_size(from), tile_size(to));
  if (columns < 2 || size % columns != 0) return {};
  const int slice = columns & -columns;
  if (slice == columns) return {};
  const std::int32_t rows = size / columns;
  const std::optional<TileMap> a = first_slice(from, columns, slice, rows),
                               b = first_slice(to, columns, slice, rows);
  if (!a || !b || a->values == 0 || b->values == 0) return {};
  std::vector<StagingLayout> out = linear_layouts(*a, *b, matrices);
  for (StagingLayout& layout : out) {
    const std::vector<std::int32_t> one = std::move(layout.byte);
    layout.byte.assign(static_cast<std::size_t>(size), 0);
    for (std::int32_t e = 0; e < size; ++e)
      layout.byte[static_cast<std::size_t>(e)] =
          one[flat(e / columns, slice, e % slice)] +
          static_cast<std::int32_t>(layout.bytes) * (e % columns / slice);
    layout.bytes *= columns / slice;
    layout.name += fmt::format(", slices of {} columns", slice);
  }
  return out;
}

/// Vectors of `wide` elements of each thread, one thread's after the other's.
std::optional<StagingLayout> register_order(const TileMap& map, std::int32_t size, int wide,
                                            const char* name) {
  StagingLayout out;
  out.byte.assign(static_cast<std::size_t>(size), -1);
  std::int32_t next = 0;
  for (int begin = 0; begin < map.values; begin += wide)
    for (int t = 0; t < map.threads; ++t) {
      bool any = false;
      for (int i = 0; i < wide; ++i) {
        const std::int32_t e = begin + i < map.values ? map(t, begin + i) : kNothing;
        if (e == kNothing || out.byte[static_cast<std::size_t>(e)] >= 0) continue;
        out.byte[static_cast<std::size_t>(e)] = (next + i) * map.element_bytes;
        any = true;
      }
      if (any) next += wide;
    }
  for (std::int32_t& byte : out.byte)
    if (byte < 0) byte = next++ * map.element_bytes;
  out.bytes = std::int64_t{next} * map.element_bytes;
  out.name = fmt::format("{} order, {} at a time", name, wide);
  return out;
}

StagingLayout padded(std::int32_t size, int row, bool transposed, int pad_bytes, int element_bytes) {
  StagingLayout out;
  const std::int32_t rows = (size + row - 1) / row;
  const std::int32_t inner = transposed ? rows : row;
  const std::int32_t pitch = inner * element_bytes + pad_bytes;
  for (std::int32_t e = 0; e < size; ++e) {
    const std::int32_t major = transposed ? e % row : e / row, minor = transposed ? e / row : e % row;
    out.byte.push_back(major * pitch + minor * element_bytes);
  }
  out.bytes = *std::max_element(out.byte.begin(), out.byte.end()) + element_bytes;
  out.name = fmt::format("{} of {} bytes{}", transposed ? "columns" : "rows", inner * element_bytes,
                         pad_bytes == 0 ? "" : fmt::format(", padded by {}", pad_bytes));
  return out;
}

/// Rows whose chunks of 16 bytes are XORed with the row's number, as TMA and wgmma do.
std::optional<StagingLayout> swizzled(std::int32_t size, int row, int span, int element_bytes) {
  const int pitch = row * element_bytes;
  if (pitch % span != 0) return std::nullopt;
  StagingLayout out;
  for (std::int32_t e = 0; e < size; ++e) {
    const std::int32_t byte = e * element_bytes;
    const std::int32_t line = byte / pitch % (span / 16);
    out.byte.push_back(byte ^ line * 16);
  }
  out.bytes = std::int64_t{size} * element_bytes;
  out.name = fmt::format("rows of {} bytes, chunks swizzled over {}", pitch, span);
  return out;
}

/// Lengths of a row that the maps suggest: the commonest steps between neighbours.
std::vector<int> likely_columns(const TileMap& from, const TileMap& to) {
  std::map<int, int> count;
  for (const TileMap* map : {&from, &to}) {
    const auto note = [&](std::int32_t a, std::int32_t b) {
      if (a != kNothing && b != kNothing && std::abs(a - b) > 1) ++count[std::abs(a - b)];
    };
    for (int v = 0; v + 1 < map->values; ++v) note((*map)(0, v), (*map)(0, v + 1));
    for (int t = 0; t + 1 < map->threads; ++t) note((*map)(t, 0), (*map)(t + 1, 0));
  }
  std::vector<std::pair<int, int>> order;
  for (const auto& [step, n] : count) order.emplace_back(-n, step);
  std::sort(order.begin(), order.end());
  std::vector<int> out;
  for (std::size_t i = 0; i < order.size() && i < 2; ++i) out.push_back(order[i].second);
  return out;
}

}  // namespace

std::vector<StagingLayout> staging_layouts(const TileMap& from, const TileMap& to, int columns,
                                           bool matrices) {
  std::vector<StagingLayout> out = linear_layouts(from, to, matrices);
  std::vector<int> rows = likely_columns(from, to);
  if (columns > 1) rows.insert(rows.begin(), columns);
  for (const int row : rows)
    for (StagingLayout& layout : sliced_layouts(from, to, row, matrices)) out.push_back(std::move(layout));
  if (!out.empty()) return out;
  const std::int32_t size = std::max(tile_size(from), tile_size(to));
  const int eb = from.element_bytes;
  for (int bytes = 16; bytes >= std::max(eb, 4); bytes /= 2)
    for (const auto& [map, name] : {std::pair{&from, "producer's"}, std::pair{&to, "consumer's"}})
      if (auto layout = register_order(*map, size, bytes / eb, name)) out.push_back(std::move(*layout));
  std::set<int> seen;
  for (const int row : rows) {
    if (row >= size || !seen.insert(row).second) continue;
    for (const int pad : {16, 8, 4, 0})
      if (pad % eb == 0) {
        if ((row * eb) % std::max(pad, 1) == 0) out.push_back(padded(size, row, false, pad, eb));
        out.push_back(padded(size, row, true, pad, eb));
      }
    for (const int span : {128, 64, 32})
      if (auto layout = swizzled(size, row, span, eb)) out.push_back(std::move(*layout));
  }
  if (rows.empty()) out.push_back(padded(size, size, false, 0, eb));
  return out;
}

}  // namespace pipelink::transfer
