// Layout maps in CuTe's notation, `shape:stride`, nested, with an optional swizzle before it:
//
//   ((4,8,4),(2,2,32)):((128,1,16),(64,8,512))        Sw<3,4,3> o (8,64):(64,1)
//
// A layout of a tensor port has two modes, (thread, value) → linear index in the tile. Within a mode the
// leftmost extent runs fastest. `_8` is read as `8`.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pipelink::contract {

/// XORs `bits` bits of an index: those at `base + shift` onto those at `base`.
struct Swizzle {
  int bits = 0, base = 0, shift = 0;
  bool operator==(const Swizzle&) const = default;
  std::int64_t operator()(std::int64_t index) const;
};

/// One extent with its stride.
struct LayoutLeaf {
  std::int64_t shape = 1, stride = 0;
  bool operator==(const LayoutLeaf&) const = default;
};

struct Layout {
  Swizzle swizzle;
  std::vector<std::vector<LayoutLeaf>> modes;  ///< top-level modes, each flattened, leftmost fastest

  std::int64_t size() const;
  std::int64_t size(std::size_t mode) const;
  std::int64_t threads() const { return size(0); }
  std::int64_t values() const { return modes.size() > 1 ? size(1) : 1; }

  /// The index of a coordinate within each mode; (thread, value) for a tensor port.
  std::int64_t operator()(std::int64_t thread, std::int64_t value) const;
};

struct ParsedLayout {
  std::optional<Layout> value;
  std::string error;  ///< "column 7: expected ')'"
  explicit operator bool() const { return value.has_value(); }
  const Layout& operator*() const { return *value; }
  const Layout* operator->() const { return &*value; }
};

inline constexpr std::int64_t kMaxLayoutSize = std::int64_t{1} << 22;

/// At most kMaxLayoutSize elements, 2 modes, extents from 1, strides from 0.
ParsedLayout parse_layout(std::string_view text);

/// Empty if every index of 0…tile_size-1 is held by exactly one (thread, value); else what is wrong, e.g.
/// "tile element 5 is held twice, by thread 0 value 1 and thread 4 value 0".
std::string cover_fault(const Layout& layout, std::int64_t tile_size);

/// Equal as functions of (thread, value): same sizes of both modes, same index everywhere.
bool same_function(const Layout& a, const Layout& b);

/// The permutation p with a(t, v) == b(t, p[v]) for all threads and values, if the two hold the same elements
/// in each thread in one common order; nullopt otherwise.
std::optional<std::vector<std::int64_t>> value_permutation(const Layout& a, const Layout& b);

}  // namespace pipelink::contract
