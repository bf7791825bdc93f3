#include "packager/layout/algebra.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "packager/layout/text.h"

namespace pipelink::layout {
namespace {

using Leaves = std::vector<Mode>;

Result<Layout> none(std::string why) {
  return Result<Layout>::fault(std::move(why));
}

Leaves merged(const Leaves& all) {
  Leaves out;
  for (const Mode& leaf : all) {
    if (leaf.shape == 1) continue;
    if (!out.empty() && out.back().stride * out.back().shape == leaf.stride)
      out.back().shape *= leaf.shape;
    else
      out.push_back(leaf);
  }
  return out;
}

/// No extent: 1:0; one: itself; more: a tuple.
Mode mode_of(Leaves all) {
  if (all.empty()) return {1, 0};
  return all.size() == 1 ? all.front() : Mode(std::move(all));
}

// ---- composition

/// Some steps of one extent of b, along which no digit of a's index carries.
struct Piece {
  std::int64_t steps;
  std::vector<std::int64_t> digits;  ///< of one step, in a's mixed radix
};

std::vector<std::int64_t> digits_of(std::int64_t index, const Leaves& radix) {
  std::vector<std::int64_t> digits;
  for (std::size_t i = 0; i < radix.size(); ++i) {
    const bool last = i + 1 == radix.size();
    digits.push_back(last ? index : index % radix[i].shape);
    if (!last) index /= radix[i].shape;
  }
  return digits;
}

/// Splits the extent where a digit carries; empty with an error if the parts would not be equal.
std::vector<Piece> split(Mode extent, const Leaves& radix, std::string& error) {
  std::vector<Piece> pieces;
  const Mode whole = extent;
  while (extent.shape > 1) {
    Piece piece{extent.shape, digits_of(extent.stride, radix)};
    for (std::size_t i = 0; i + 1 < radix.size(); ++i) {
      const std::int64_t digit = piece.digits[i];
      if (digit > 0) piece.steps = std::min(piece.steps, (radix[i].shape - 1) / digit + 1);
    }
    if (extent.shape % piece.steps != 0) {
      error = fmt::format(
          "the extent {}:{} leaves an extent of the first layout after {} steps, and {} is not "
          "a multiple of that",
          whole.shape, whole.stride, piece.steps, extent.shape);
      return {};
    }
    extent = {extent.shape / piece.steps, extent.stride * piece.steps};
    pieces.push_back(std::move(piece));
  }
  return pieces;
}

class Composer {
 public:
  explicit Composer(const Mode& a) : a_(merged(leaves(a))) {
    if (a_.empty()) a_.emplace_back(1, 0);
    reach_.assign(a_.size(), 0);
  }

  Mode compose(const Mode& b) {
    std::vector<Mode> out;
    if (!b.leaf()) {
      for (const Mode& inner : b.modes) out.push_back(compose(inner));
      return Mode(std::move(out));
    }
    for (const Piece& piece : split(b, a_, error_)) {
      std::int64_t stride = 0;
      for (std::size_t i = 0; i < a_.size(); ++i) {
        stride += piece.digits[i] * a_[i].stride;
        reach_[i] += (piece.steps - 1) * piece.digits[i];
      }
      out.emplace_back(piece.steps, stride);
    }
    return mode_of(merged(out));
  }

  /// Of what was composed: the digits of all extents together must not carry either.
  std::string fault() const {
    if (!error_.empty()) return error_;
    for (std::size_t i = 0; i + 1 < a_.size(); ++i)
      if (reach_[i] >= a_[i].shape)
        return fmt::format(
            "the extents of the second layout together reach {} in an extent of {} of the first", reach_[i],
            a_[i].shape);
    return {};
  }

 private:
  Leaves a_;
  std::vector<std::int64_t> reach_;  ///< of each digit, all extents at their ends
  std::string error_;
};

/// Where the `bits` bits from `low` on go if they stay together: their lowest bit.
std::optional<int> moved_bits(const std::vector<std::int64_t>& table, int low, int bits) {
  std::optional<int> first;
  for (int i = 0; i < bits; ++i) {
    const std::size_t at = std::size_t{1} << (low + i);
    if (at >= table.size() || table[at] <= 0) return std::nullopt;
    const auto image = static_cast<std::uint64_t>(table[at]);
    if (!std::has_single_bit(image)) return std::nullopt;
    const int bit = std::countr_zero(image);
    if (first && bit != *first + i) return std::nullopt;
    first = first.value_or(bit);
  }
  return first;
}

/// The swizzle s' with a(s(i)) == s'(a(i)) for every i at which both sides are defined. `a` has no swizzle.
Result<Swizzle> before(const Layout& a, const Swizzle& s) {
  using Found = Result<Swizzle>;
  const std::vector<std::int64_t> table = indices(a);
  const auto size = static_cast<std::int64_t>(table.size());
  const auto agree = [&](const Swizzle& moved) {
    for (std::int64_t i = 0; i < size; ++i)
      if (const std::int64_t j = s(i); j < size)
        if (table[static_cast<std::size_t>(j)] != moved(table[static_cast<std::size_t>(i)])) return false;
    return true;
  };
  if (agree({})) return Swizzle{};
  const int source = s.shift >= 0 ? s.base + s.shift : s.base;
  const int target = s.shift >= 0 ? s.base : s.base - s.shift;
  // Bits beyond the size are never set in an index.
  const auto present = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size - 1)));
  const int bits = std::min(s.bits, present - std::max(source, target));
  const std::optional<int> from = moved_bits(table, source, bits), to = moved_bits(table, target, bits);
  if (from && to) {
    const Swizzle moved{bits, std::min(*from, *to), *from - *to};
    if (swizzle_fault(moved).empty() && agree(moved)) return moved;
  }
  return Found::fault(
      fmt::format("the swizzle {} cannot be moved before the layout {}", to_text(s), to_text(a)));
}

/// The one swizzle that does first `inner`, then `outer`.
Result<Swizzle> both(const Swizzle& outer, const Swizzle& inner) {
  if (inner.trivial()) return outer;
  if (outer.trivial()) return inner;
  if (outer == inner) return Swizzle{};  // the source stays, so the second undoes the first
  return Result<Swizzle>::fault(
      fmt::format("the swizzles {} and {} are not one swizzle", to_text(outer), to_text(inner)));
}

/// a after b, where b's indices must lie in a's domain.
std::string range_fault(const Layout& a, const Layout& b) {
  const std::int64_t last = b.cosize() - 1;
  if (last < a.size()) return {};
  return fmt::format("the second layout gives the index {}, the first has {} elements", last, a.size());
}

/// An extent of a layout and how far apart its coordinates are in the flat index.
struct Placed {
  std::int64_t shape, stride, step;
};

/// The extents that move the index, by stride.
std::vector<Placed> by_stride(const Layout& a) {
  std::vector<Placed> out;
  std::int64_t step = 1;
  for (const Mode& leaf : merged(leaves(a.map()))) {
    if (leaf.stride != 0) out.push_back({leaf.shape, leaf.stride, step});
    step *= leaf.shape;
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const Placed& x, const Placed& y) { return x.stride < y.stride; });
  return out;
}

/// The inverse of an unswizzled layout, with the swizzle of what it inverts; that undoes itself, and comes
/// first.
Result<Layout> preceded(Leaves inverse, const Swizzle& s) {
  const Result<Layout> plain = checked(mode_of(merged(inverse)));
  if (!plain || s.trivial()) return plain;
  const Result<Swizzle> moved = before(*plain, s);
  return moved ? checked(plain->map(), *moved) : none(moved.error);
}

}  // namespace

Layout coalesce(const Layout& layout) {
  return Layout(mode_of(merged(leaves(layout.map()))), layout.swizzle());
}

Layout coalesce_modes(const Layout& layout) {
  if (layout.map().leaf()) return layout;
  std::vector<Mode> modes;
  for (const Mode& mode : layout.map().modes) modes.push_back(mode_of(merged(leaves(mode))));
  return Layout(Mode(std::move(modes)), layout.swizzle());
}

Result<Layout> composition(const Layout& a, const Layout& b) {
  if (std::string fault = range_fault(a, b); !fault.empty()) return none(std::move(fault));
  Swizzle swizzle = a.swizzle();
  if (!b.swizzle().trivial()) {
    if (std::string fault = range_fault(a, Layout(b.map())); !fault.empty()) return none(std::move(fault));
    const Result<Swizzle> moved = before(Layout(a.map()), b.swizzle());
    if (!moved) return none(moved.error);
    const Result<Swizzle> together = both(a.swizzle(), *moved);
    if (!together) return none(together.error);
    swizzle = *together;
  }
  Composer composer(a.map());
  Mode map = composer.compose(b.map());
  if (std::string fault = composer.fault(); !fault.empty()) return none(std::move(fault));
  return checked(std::move(map), swizzle);
}

Result<Layout> swizzled(const Swizzle& swizzle, const Layout& a) {
  const Result<Swizzle> together = both(swizzle, a.swizzle());
  return together ? checked(a.map(), *together) : none(together.error);
}

Result<Layout> right_inverse(const Layout& a) {
  Leaves inverse;
  std::int64_t next = 1;
  for (const Placed& extent : by_stride(a)) {
    if (extent.stride != next) continue;
    inverse.emplace_back(extent.shape, extent.step);
    next *= extent.shape;
  }
  Result<Layout> result = preceded(std::move(inverse), a.swizzle());
  if (!result || a.swizzle().trivial()) return result;
  for (std::int64_t i = 0; i < result->size(); ++i)
    if (const std::int64_t at = (*result)(i); at >= a.size() || a(at) != i)
      return none(
          fmt::format("the swizzle {} leaves the first {} indices", to_text(a.swizzle()), result->size()));
  return result;
}

Result<Layout> left_inverse(const Layout& a) {
  Leaves inverse;
  std::int64_t covered = 1, step = 0;  // by the extents so far; of the last of them
  std::int64_t last = 1;               // shape of the last
  for (const Mode& leaf : merged(leaves(a.map())))
    if (leaf.stride == 0)
      return none(fmt::format("{} coordinates have one index: an extent has stride 0", leaf.shape));
  for (const Placed& extent : by_stride(a)) {
    if (extent.stride < covered * last)
      return none(fmt::format("the stride {} is within the {} indices of the extents below it", extent.stride,
                              covered * last));
    if (extent.stride % covered != 0)
      return none(fmt::format("the stride {} is not a multiple of the stride {}", extent.stride, covered));
    inverse.emplace_back(extent.stride / covered, step);
    covered = extent.stride;
    step = extent.step;
    last = extent.shape;
  }
  inverse.emplace_back(last, step);
  Result<Layout> result = preceded(std::move(inverse), a.swizzle());
  if (!result || a.swizzle().trivial()) return result;
  for (std::int64_t i = 0; i < a.size(); ++i)
    if (const std::int64_t at = a(i); at >= result->size() || (*result)(at) != i)
      return none(fmt::format("the swizzle {} leaves the {} indices of the layout", to_text(a.swizzle()),
                              result->size()));
  return result;
}

Result<Layout> scaled(const Layout& a, std::int64_t factor) {
  if (factor < 1 || factor > kMaxStride)
    return none(fmt::format("the factor {} is not from 1 to 2^40", factor));
  Swizzle swizzle = a.swizzle();
  if (!swizzle.trivial()) {
    if (!std::has_single_bit(static_cast<std::uint64_t>(factor)))
      return none(fmt::format("the factor {} of a swizzled layout is no power of two", factor));
    swizzle.base += std::countr_zero(static_cast<std::uint64_t>(factor));
  }
  const auto scale = [&](const auto& self, const Mode& mode) -> Mode {
    if (mode.leaf())  // beyond the bound is enough to be refused
      return {mode.shape, mode.stride > kMaxStride / factor ? kMaxStride + 1 : mode.stride * factor};
    std::vector<Mode> inner;
    for (const Mode& m : mode.modes) inner.push_back(self(self, m));
    return Mode(std::move(inner));
  };
  return checked(scale(scale, a.map()), swizzle);
}

}  // namespace pipelink::layout
