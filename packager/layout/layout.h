// Layout maps as CuTe has them: a shape of extents and a stride for each, nested alike, with an optional
// swizzle of the index.
//
//   ((4,8,4),(2,2,32)):((2,256,4096),(1,2048,8))        Sw<3,4,3> o (8,64):(64,1)
//
// A layout is a function from a coordinate, or from a flat index that runs the leftmost extent fastest, to an
// index. What the modes and the index mean is the user's: a tensor port in registers has (thread, value) →
// row-major tile index, a tile in shared memory (row, column) → offset in elements.
//
// Layouts come from contracts that nobody has looked at, so they are bounded: kMaxSize elements, kMaxLeaves
// extents, strides up to kMaxStride. Then no index overflows 63 bits. Operations on layouts (algebra.h) give
// a layout within these bounds, or say why not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace pipelink::layout {

inline constexpr std::int64_t kMaxSize = std::int64_t{1} << 22;
inline constexpr std::int64_t kMaxStride = std::int64_t{1} << 40;
inline constexpr std::size_t kMaxLeaves = 64;
inline constexpr int kMaxDepth = 16;

/// A value, or why there is none.
template <class T>
struct Result {
  std::optional<T> value;
  std::string error;  ///< one line, without a full stop
  Result() = default;
  Result(T v) : value(std::move(v)) {}  // NOLINT(google-explicit-constructor)
  static Result fault(std::string why) {
    Result result;
    result.error = std::move(why);
    return result;
  }
  explicit operator bool() const { return value.has_value(); }
  const T& operator*() const { return *value; }
  const T* operator->() const { return &*value; }
};

/// XORs `bits` bits of an index onto others. The target begins at bit `base` and the source `shift` above it;
/// with a negative shift the source begins at `base` and the target -shift above it.
struct Swizzle {
  int bits = 0, base = 0, shift = 0;
  bool operator==(const Swizzle&) const = default;
  std::int64_t operator()(std::int64_t index) const;
  bool trivial() const { return bits == 0; }
};

/// "the shift -2 is nearer than the 3 bits reach"; empty if source and target are apart and in range.
std::string swizzle_fault(const Swizzle& swizzle);

/// One extent with its stride, or several modes, the leftmost fastest.
struct Mode {
  std::int64_t shape = 1, stride = 0;  ///< of an extent
  std::vector<Mode> modes;             ///< empty: an extent

  Mode() = default;
  Mode(std::int64_t extent, std::int64_t step) : shape(extent), stride(step) {}
  explicit Mode(std::vector<Mode> inner) : modes(std::move(inner)) {}
  bool operator==(const Mode&) const = default;

  bool leaf() const { return modes.empty(); }
  std::int64_t size() const;
  /// The index at a coordinate from 0 to size() - 1.
  std::int64_t operator()(std::int64_t coordinate) const;
};

class Layout {
 public:
  Layout() = default;
  /// `map` within the bounds, else use checked().
  explicit Layout(Mode map, Swizzle swizzle = {}) : map_(std::move(map)), swizzle_(swizzle) {}

  const Mode& map() const { return map_; }
  const Swizzle& swizzle() const { return swizzle_; }
  bool operator==(const Layout&) const = default;  ///< the same text; see same_function

  /// Number of top-level modes; 1 for a single extent.
  std::size_t rank() const { return map_.leaf() ? 1 : map_.modes.size(); }
  const Mode& mode(std::size_t i) const { return map_.leaf() ? map_ : map_.modes[i]; }

  std::int64_t size() const { return map_.size(); }
  /// Of a top-level mode; 1 if there are fewer.
  std::int64_t size(std::size_t i) const { return i < rank() ? mode(i).size() : 1; }
  /// One more than the greatest index.
  std::int64_t cosize() const;

  std::int64_t threads() const { return size(0); }
  std::int64_t values() const { return size(1); }

  /// The index at a flat index from 0 to size() - 1.
  std::int64_t operator()(std::int64_t index) const { return swizzle_(map_(index)); }
  /// The index at a coordinate of the first two modes, all others 0.
  std::int64_t operator()(std::int64_t thread, std::int64_t value) const;
  /// The index at a coordinate for each top-level mode.
  std::int64_t operator()(std::span<const std::int64_t> coordinate) const;

 private:
  Mode map_;
  Swizzle swizzle_;
};

/// The layout, if it is within the bounds and its swizzle is one.
Result<Layout> checked(Mode map, Swizzle swizzle = {});

/// Every extent in order, the nesting dropped.
std::vector<Mode> leaves(const Mode& mode);

/// The index at 0, 1, …, size() - 1, made without division.
std::vector<std::int64_t> indices(const Layout& layout);
/// Of the first two modes: [thread * values + value].
std::vector<std::int64_t> thread_value_indices(const Layout& layout);

/// Equal as functions of a coordinate: the same size of each top-level mode, the same index everywhere.
bool same_function(const Layout& a, const Layout& b);

}  // namespace pipelink::layout
