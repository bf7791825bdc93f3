#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "linker/route/planners.h"

namespace pipelink::transfer {

int unit_bytes(int element_bytes) {
  return std::min(element_bytes, 4);
}

std::optional<std::vector<std::int32_t>> renaming(const TileMap& from, const TileMap& to,
                                                  std::string& reason) {
  if (from.threads != to.threads || from.element_bytes != to.element_bytes) {
    reason = fmt::format("{} threads hold elements of {} bytes, {} threads demand elements of {} bytes",
                         from.threads, from.element_bytes, to.threads, to.element_bytes);
    return std::nullopt;
  }
  // Values of the first thread that cares, by element; then all threads decide between them.
  std::vector<std::int32_t> names(static_cast<std::size_t>(to.values), kNothing);
  std::map<int, std::multimap<std::int32_t, std::int32_t>> held;
  for (int v = 0; v < to.values; ++v) {
    int first = 0;
    while (first < to.threads && to(first, v) == kNothing) ++first;
    if (first == to.threads) continue;
    auto& own = held[first];
    if (own.empty())
      for (int u = 0; u < from.values; ++u) own.emplace(from(first, u), u);
    const auto [begin, end] = own.equal_range(to(first, v));
    if (begin == end) {
      reason = fmt::format("thread {} demands element {} as value {} and does not hold it", first,
                           to(first, v), v);
      return std::nullopt;
    }
    int objector = 0;
    for (auto at = begin; at != end && names[static_cast<std::size_t>(v)] == kNothing; ++at) {
      int t = first + 1;
      while (t < to.threads && (to(t, v) == kNothing || to(t, v) == from(t, at->second))) ++t;
      if (t == to.threads)
        names[static_cast<std::size_t>(v)] = at->second;
      else
        objector = t;
    }
    if (names[static_cast<std::size_t>(v)] == kNothing) {
      reason = fmt::format("value {} is the thread's value {} in thread {}, and is not in thread {}", v,
                           begin->second, first, objector);
      return std::nullopt;
    }
  }
  return names;
}

Attempt plan_renaming(Builder& builder, const Held& from, const TileMap& to) {
  Attempt attempt;
  const std::optional<std::vector<std::int32_t>> names = renaming(from.map, to, attempt.reason);
  if (!names) return attempt;
  const int parts = std::max(to.element_bytes / 4, 1);  // units of a value
  const int k = builder.units();
  const int words = word_count(to.values, to.element_bytes);
  bool whole = true;
  for (int w = 0; w < words; ++w) {
    std::vector<Unit> word(static_cast<std::size_t>(builder.threads() * k));
    for (int i = 0; i < k; ++i) {
      const int unit = w * k + i;
      if (unit / parts >= to.values) continue;
      const std::int32_t name = (*names)[static_cast<std::size_t>(unit / parts)];
      if (name == kNothing) continue;
      const int source = name * parts + unit % parts;
      for (int t = 0; t < builder.threads(); ++t)
        word[flat(t, k, i)] = {from.words[static_cast<std::size_t>(source / k)], source % k};
    }
    const Register out = builder.compose(word);
    attempt.outputs.push_back(out);
    whole = whole &&
            (out == kNoRegister || std::find(from.words.begin(), from.words.end(), out) != from.words.end());
  }
  const bool same = whole && from.words == attempt.outputs;
  attempt.kind = same ? Kind::kSame : whole ? Kind::kRenamed : Kind::kPermuted;
  return attempt;
}

}  // namespace pipelink::transfer
