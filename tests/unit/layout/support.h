// Layouts for tests: read from text, drawn by a seeded generator, and evaluated by the definition alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "packager/layout/text.h"

namespace pipelink::layout {

/// Of a text that can be read.
inline Layout read(std::string_view text) {
  const Result<Layout> parsed = parse_layout(text);
  if (!parsed) throw std::invalid_argument(std::string(text) + ": " + parsed.error);
  return *parsed;
}

/// The definition, for the oracle: every coordinate in order, the leftmost fastest.
class Enumeration {
 public:
  explicit Enumeration(const Layout& layout) {
    std::vector<std::int64_t> extents, strides;
    list(layout.map(), extents, strides);
    std::vector<std::int64_t> at(extents.size(), 0);
    while (true) {
      std::int64_t index = 0;
      for (std::size_t i = 0; i < at.size(); ++i) index += at[i] * strides[i];
      all.push_back(twisted(index, layout.swizzle()));
      std::size_t i = 0;
      while (i < at.size() && ++at[i] == extents[i]) at[i++] = 0;
      if (i == at.size()) return;
    }
  }

  std::vector<std::int64_t> all;

 private:
  static void list(const Mode& mode, std::vector<std::int64_t>& extents, std::vector<std::int64_t>& strides) {
    if (mode.modes.empty()) {
      extents.push_back(mode.shape);
      strides.push_back(mode.stride);
    }
    for (const Mode& inner : mode.modes) list(inner, extents, strides);
  }

  /// Bit by bit.
  static std::int64_t twisted(std::int64_t index, const Swizzle& s) {
    std::int64_t out = index;
    for (int i = 0; i < s.bits; ++i) {
      const int source = s.shift >= 0 ? s.base + s.shift + i : s.base + i;
      const int target = s.shift >= 0 ? s.base + i : s.base - s.shift + i;
      if ((index >> source & 1) != 0) out ^= std::int64_t{1} << target;
    }
    return out;
  }
};

inline std::vector<std::int64_t> enumerated(const Layout& layout) {
  return Enumeration(layout).all;
}

/// Draws small layouts; equal seeds draw equal ones.
class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  std::int64_t below(std::int64_t bound) {
    return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(bound));
  }
  template <class T>
  const T& one_of(const std::vector<T>& list) {
    return list[static_cast<std::size_t>(below(static_cast<std::int64_t>(list.size())))];
  }

  std::int64_t extent() { return one_of(std::vector<std::int64_t>{1, 2, 2, 3, 4, 4, 5, 6, 8}); }
  std::int64_t stride() {
    return one_of(std::vector<std::int64_t>{0, 1, 1, 2, 2, 3, 4, 4, 6, 8, 10, 12, 16, 24, 32, 48, 64});
  }

  /// Any strides, at most `most` elements; takes its size from `most`.
  Mode mode(int depth, std::int64_t& most) {
    if (depth == 0 || below(3) != 0) {
      const std::int64_t shape = std::min(extent(), most);
      most /= shape;
      return {shape, stride()};
    }
    std::vector<Mode> inner;
    for (std::int64_t i = 1 + below(3); i > 0; --i) inner.push_back(mode(depth - 1, most));
    return Mode(std::move(inner));
  }

  Swizzle swizzle() {
    if (below(2) == 0) return {};
    const auto bits = static_cast<int>(1 + below(3));
    const auto shift = static_cast<int>(bits + below(3));
    return {bits, static_cast<int>(below(4)), below(4) == 0 ? -shift : shift};
  }

  Layout any(bool with_swizzle = true) {
    std::vector<Mode> modes;
    std::int64_t most = 1024;
    for (std::int64_t i = 1 + below(3); i > 0; --i) modes.push_back(mode(2, most));
    return Layout(modes.size() == 1 && below(2) == 0 ? modes.front() : Mode(std::move(modes)),
                  with_swizzle ? swizzle() : Swizzle{});
  }

  /// Compact: the extents of some order of its leaves lie side by side; each index once.
  Layout compact(std::size_t count, bool powers_of_two) {
    std::vector<Mode> all;
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < count; ++i) {
      all.emplace_back(powers_of_two ? std::int64_t{1} << below(4) : extent(), 0);
      order.push_back(i);
    }
    for (std::size_t i = count; i > 1; --i)
      std::swap(order[i - 1], order[static_cast<std::size_t>(below(static_cast<std::int64_t>(i)))]);
    std::int64_t next = 1;
    for (const std::size_t i : order) {
      all[i].stride = next;
      next *= all[i].shape;
    }
    return Layout(Mode(std::move(all)));
  }

 private:
  std::mt19937 random_;
};

}  // namespace pipelink::layout
