#include "linker/place/relation.h"

#include <cstdint>
#include <map>

#include "linker/place/canonical.h"

namespace pipelink::place {
namespace {

// A relation whose pattern over the iterations is longer than this is not followed to its end: what it would
// allow is not allowed.
constexpr std::uint64_t kMostIterations = 4096;

bool all(const std::vector<Bits>& relation, const Bits& from, const Bits& to) {
  bool holds = true;
  from.for_each([&](std::size_t p) { holds = holds && relation[p].contains(to); });
  return holds;
}

bool transitive(const std::vector<Bits>& order) {
  for (const Bits& after : order) {
    bool holds = true;
    after.for_each([&](std::size_t b) { holds = holds && after.contains(order[b]); });
    if (!holds) return false;
  }
  return true;
}

}  // namespace

Lifetimes::Lifetimes(const Problem& problem) {
  const std::size_t n = problem.phases.size();
  before_.assign(n, Bits(n));
  std::vector<Bits> next(n, Bits(n));  // next[p] has q: q comes after p of the previous iteration
  for (std::size_t q = 0; q < n; ++q) {
    names_.push_back(problem.phases[q].name);
    for (const std::string& p : problem.phases[q].after)
      if (int i = find_sorted(problem.phases, p); i >= 0) before_[i].set(q);
    for (const std::string& p : problem.phases[q].after_previous)
      if (int i = find_sorted(problem.phases, p); i >= 0) next[i].set(q);
  }
  for (std::size_t k = 0; k < n; ++k)
    for (std::size_t i = 0; i < n; ++i)
      if (before_[i].test(k)) before_[i] |= before_[k];
  if (problem.loop) unroll(next);
}

// Orders only lead to the same or the next iteration, so that p of iteration i precedes q of iteration i + d
// or not depending on d alone, and what p precedes at distance d + 1 follows from what it precedes at
// distance d. So the sets become periodic, and from the first repetition on nothing new comes (Brent's method
// finds it). The pattern can be longer than the number of phases: with cycles of 2, 3, 5 and 7 iterations it
// has 210.
void Lifetimes::unroll(const std::vector<Bits>& next) {
  const std::size_t n = before_.size();
  auto step = [&](const Bits& reached) {
    Bits entered(n), result(n);
    reached.for_each([&](std::size_t p) { entered |= next[p]; });
    entered.for_each([&](std::size_t q) {
      result.set(q);
      result |= before_[q];
    });
    return result;
  };
  later_.assign(n, Bits(n));
  for (std::size_t p = 0; p < n; ++p) {
    Bits current = before_[p];
    current.set(p);
    current = step(current);
    Bits always = current, anchor = current;
    std::uint64_t d = 1, next_anchor = 2;
    for (; d < kMostIterations && !always.none(); ++d) {
      current = step(current);
      if (current == anchor) break;
      always &= current;
      if (d + 1 == next_anchor) {
        anchor = current;
        next_anchor *= 2;
      }
    }
    if (d < kMostIterations) later_[p] = always;
  }
}

Bits Lifetimes::phases(const Claim& claim) const {
  Bits result(names_.size());
  for (const std::string& name : claim.live) {
    auto it = std::lower_bound(names_.begin(), names_.end(), name);
    if (it != names_.end() && *it == name) result.set(static_cast<std::size_t>(it - names_.begin()));
  }
  return result;
}

bool Lifetimes::precedes(const Bits& a, const Bits& b) const {
  return all(before_, a, b);
}

bool Lifetimes::may_share(const Bits& a, const Bits& b) const {
  if (a.none() || b.none()) return false;
  if (!precedes(a, b) && !precedes(b, a)) return false;
  return later_.empty() || (all(later_, a, b) && all(later_, b, a));
}

bool Lifetimes::cyclic() const {
  for (std::size_t p = 0; p < before_.size(); ++p)
    if (before_[p].test(p)) return true;
  return false;
}

Conflicts conflicts_of(const Lifetimes& lifetimes, const std::vector<Bits>& lives) {
  Conflicts result;
  std::map<Bits, int> groups;
  for (const Bits& live : lives) groups.emplace(live, 0);
  std::vector<Bits> sets;
  for (auto& [live, number] : groups) {
    number = static_cast<int>(sets.size());
    sets.push_back(live);
  }
  const std::size_t m = sets.size(), n = lives.size();
  result.between_groups.assign(m, Bits(m));
  result.order.assign(m, Bits(m));
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < i; ++j)
      if (!lifetimes.may_share(sets[i], sets[j])) {
        result.between_groups[i].set(j);
        result.between_groups[j].set(i);
      } else if (lifetimes.precedes(sets[i], sets[j])) {
        result.order[i].set(j);
      } else {
        result.order[j].set(i);
      }
  if (!transitive(result.order)) result.order.clear();
  for (const Bits& live : lives) result.group.push_back(groups[live]);
  result.of.assign(n, Bits(n));
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (i != j && (result.group[i] == result.group[j] ||
                     result.between_groups[result.group[i]].test(result.group[j])))
        result.of[i].set(j);
  return result;
}

}  // namespace pipelink::place
