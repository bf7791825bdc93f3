#include "packager/layout/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

namespace pipelink::layout {
namespace {

constexpr int kMaxSwizzleBits = 16, kMaxSwizzleTop = 48;

void collect(const Mode& mode, std::vector<Mode>& out) {
  if (mode.leaf()) out.emplace_back(mode.shape, mode.stride);
  for (const Mode& inner : mode.modes) collect(inner, out);
}

/// Consumes `rest` extent by extent.
std::int64_t walk(const Mode& mode, std::int64_t& rest) {
  if (mode.leaf()) {
    const std::int64_t digit = rest % mode.shape;
    rest /= mode.shape;
    return digit * mode.stride;
  }
  std::int64_t index = 0;
  for (const Mode& inner : mode.modes) index += walk(inner, rest);
  return index;
}

std::string bounds_fault(const Mode& mode, int depth, std::size_t& count, std::int64_t& size) {
  if (depth > kMaxDepth) return "nested too deep";
  for (const Mode& inner : mode.modes)
    if (std::string fault = bounds_fault(inner, depth + 1, count, size); !fault.empty()) return fault;
  if (!mode.leaf()) return {};
  if (++count > kMaxLeaves) return fmt::format("more than {} extents", kMaxLeaves);
  if (mode.shape < 1) return fmt::format("an extent is at least 1, not {}", mode.shape);
  if (mode.stride < 0) return fmt::format("a stride is at least 0, not {}", mode.stride);
  if (mode.stride > kMaxStride) return fmt::format("the stride {} is more than 2^40", mode.stride);
  if (mode.shape > kMaxSize / size) return fmt::format("more than {} elements", kMaxSize);
  size *= mode.shape;
  return {};
}

/// The unswizzled index of each coordinate.
std::vector<std::int64_t> offsets(const Mode& mode) {
  std::vector<std::int64_t> out{0};
  out.reserve(static_cast<std::size_t>(mode.size()));
  for (const Mode& leaf : leaves(mode)) {
    const std::size_t block = out.size();
    for (std::int64_t i = 1; i < leaf.shape; ++i)
      for (std::size_t j = 0; j < block; ++j) out.push_back(out[j] + i * leaf.stride);
  }
  return out;
}

}  // namespace

std::int64_t Swizzle::operator()(std::int64_t index) const {
  const std::int64_t ones = (std::int64_t{1} << bits) - 1;
  if (shift >= 0) return index ^ ((index & (ones << (base + shift))) >> shift);
  return index ^ ((index & (ones << base)) << -shift);
}

std::string swizzle_fault(const Swizzle& swizzle) {
  if (swizzle.bits < 0 || swizzle.bits > kMaxSwizzleBits)
    return fmt::format("a swizzle has from 0 to {} bits, not {}", kMaxSwizzleBits, swizzle.bits);
  if (swizzle.base < 0 || swizzle.base > kMaxSwizzleTop || std::abs(swizzle.shift) > kMaxSwizzleTop ||
      swizzle.base + swizzle.bits + std::abs(swizzle.shift) > kMaxSwizzleTop)
    return fmt::format("a swizzle reaches bit {} at most", kMaxSwizzleTop - 1);
  if (std::abs(swizzle.shift) < swizzle.bits)
    return fmt::format("a shift of {} is nearer than the {} bits of the swizzle", swizzle.shift,
                       swizzle.bits);
  return {};
}

std::int64_t Mode::size() const {
  std::int64_t size = shape;
  for (const Mode& inner : modes) size *= inner.size();
  return size;
}

std::int64_t Mode::operator()(std::int64_t coordinate) const {
  return walk(*this, coordinate);
}

std::int64_t Layout::cosize() const {
  if (!swizzle_.trivial()) {
    const std::vector<std::int64_t> all = indices(*this);
    return *std::max_element(all.begin(), all.end()) + 1;
  }
  std::int64_t last = 0;
  for (const Mode& leaf : leaves(map_)) last += (leaf.shape - 1) * leaf.stride;
  return last + 1;
}

std::int64_t Layout::operator()(std::int64_t thread, std::int64_t value) const {
  const std::int64_t second = rank() > 1 ? map_.modes[1](value) : 0;
  return swizzle_(mode(0)(thread) + second);
}

std::int64_t Layout::operator()(std::span<const std::int64_t> coordinate) const {
  std::int64_t index = 0;
  for (std::size_t i = 0; i < std::min(coordinate.size(), rank()); ++i) index += mode(i)(coordinate[i]);
  return swizzle_(index);
}

Result<Layout> checked(Mode map, Swizzle swizzle) {
  std::size_t count = 0;
  std::int64_t size = 1;
  std::string fault = bounds_fault(map, 0, count, size);
  if (fault.empty()) fault = swizzle_fault(swizzle);
  if (!fault.empty()) return Result<Layout>::fault(std::move(fault));
  return Layout(std::move(map), swizzle.trivial() ? Swizzle{} : swizzle);
}

std::vector<Mode> leaves(const Mode& mode) {
  std::vector<Mode> out;
  collect(mode, out);
  return out;
}

std::vector<std::int64_t> indices(const Layout& layout) {
  std::vector<std::int64_t> out = offsets(layout.map());
  for (std::int64_t& index : out) index = layout.swizzle()(index);
  return out;
}

std::vector<std::int64_t> thread_value_indices(const Layout& layout) {
  const std::vector<std::int64_t> threads = offsets(layout.mode(0));
  const std::vector<std::int64_t> values =
      layout.rank() > 1 ? offsets(layout.mode(1)) : std::vector<std::int64_t>{0};
  std::vector<std::int64_t> out;
  out.reserve(threads.size() * values.size());
  for (const std::int64_t thread : threads)
    for (const std::int64_t value : values) out.push_back(layout.swizzle()(thread + value));
  return out;
}

bool same_function(const Layout& a, const Layout& b) {
  for (std::size_t i = 0; i < std::max(a.rank(), b.rank()); ++i)
    if (a.size(i) != b.size(i)) return false;
  return a == b || indices(a) == indices(b);
}

}  // namespace pipelink::layout
