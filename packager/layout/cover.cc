#include "packager/layout/cover.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace pipelink::layout {
namespace {

std::string times(std::int64_t count) {
  return count == 1 ? "once" : count == 2 ? "twice" : fmt::format("{} times", count);
}

std::string shape_fault(const Layout& layout, std::int64_t tile_size, std::int64_t replicas) {
  if (layout.rank() > 2)
    return fmt::format("the layout has {} modes, (thread, value) are two", layout.rank());
  if (replicas < 1) return fmt::format("an element cannot be held {} times", replicas);
  if (tile_size > 0 && tile_size <= kMaxSize && replicas <= kMaxSize && layout.size() == tile_size * replicas)
    return {};
  const std::string each = replicas == 1 ? "" : fmt::format(", each held {}", times(replicas));
  return fmt::format("the layout has {} threads x {} values = {} elements, the tile has {}{}",
                     layout.threads(), layout.values(), layout.size(), tile_size, each);
}

/// The coordinate of a flat index, one number for each top-level mode: "(1, 0)".
std::string coordinate(const Layout& layout, std::size_t flat) {
  std::vector<std::int64_t> parts;
  auto rest = static_cast<std::int64_t>(flat);
  for (std::size_t i = 0; i < layout.rank(); ++i) {
    parts.push_back(rest % layout.size(i));
    rest /= layout.size(i);
  }
  return fmt::format("({})", fmt::join(parts, ", "));
}

}  // namespace

std::string cover_fault(const Layout& layout, std::int64_t tile_size, std::int64_t replicas) {
  if (std::string fault = shape_fault(layout, tile_size, replicas); !fault.empty()) return fault;
  const std::vector<std::int64_t> table = thread_value_indices(layout);
  struct Held {
    std::int64_t count = 0, first = 0;
  };
  std::vector<Held> held(static_cast<std::size_t>(tile_size));
  const std::int64_t values = layout.values();
  const auto holder = [&](std::int64_t at) {
    return fmt::format("thread {} value {}", at / values, at % values);
  };
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto at = static_cast<std::int64_t>(i);
    if (table[i] < 0 || table[i] >= tile_size)
      return fmt::format("{} is element {}, the tile ends at {}", holder(at), table[i], tile_size - 1);
    Held& element = held[static_cast<std::size_t>(table[i])];
    if (element.count == 0) element.first = at;
    if (++element.count <= replicas) continue;
    const std::string stated = replicas == 1 ? "" : fmt::format(", {} is stated", times(replicas));
    return fmt::format("tile element {} is held {}, by {} and {}{}", table[i], times(element.count),
                       holder(element.first), holder(at), stated);
  }
  return {};  // as many holders as elements, none held too often: each as often as stated
}

std::string injective_fault(const Layout& layout) {
  const std::vector<std::int64_t> table = indices(layout);
  std::unordered_map<std::int64_t, std::size_t> first;
  first.reserve(table.size());
  for (std::size_t i = 0; i < table.size(); ++i) {
    const auto [found, inserted] = first.emplace(table[i], i);
    if (!inserted)
      return fmt::format("{} and {} are both at {}", coordinate(layout, found->second), coordinate(layout, i),
                         table[i]);
  }
  return {};
}

std::optional<std::vector<std::int64_t>> value_permutation(const Layout& a, const Layout& b) {
  if (a.threads() != b.threads() || a.values() != b.values() || a.rank() > 2 || b.rank() > 2)
    return std::nullopt;
  const std::vector<std::int64_t> left = thread_value_indices(a), right = thread_value_indices(b);
  const auto values = static_cast<std::size_t>(a.values());
  std::vector<std::pair<std::int64_t, std::size_t>> held(values);  // (index, value) of b's thread 0
  for (std::size_t v = 0; v < values; ++v) held[v] = {right[v], v};
  std::sort(held.begin(), held.end());
  for (std::size_t v = 1; v < values; ++v)
    if (held[v - 1].first == held[v].first) return std::nullopt;
  std::vector<std::int64_t> permutation(values);
  for (std::size_t v = 0; v < values; ++v) {
    const auto found = std::lower_bound(held.begin(), held.end(), std::pair{left[v], std::size_t{0}});
    if (found == held.end() || found->first != left[v]) return std::nullopt;
    permutation[v] = static_cast<std::int64_t>(found->second);
  }
  for (std::size_t row = 0; row < left.size(); row += values)
    for (std::size_t v = 0; v < values; ++v)
      if (left[row + v] != right[row + static_cast<std::size_t>(permutation[v])]) return std::nullopt;
  return permutation;
}

}  // namespace pipelink::layout
