#include "linker/place/relation.h"

#include <map>

#include "linker/place/canonical.h"

namespace pipelink::place {
namespace {

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

// The order of p in iteration i and q in iteration i + d depends on d alone. For sharing, d = 1 decides: let
// all of A come before all of B in one iteration, and all of B before all of A of the next. Then B comes
// before A of any later iteration, by the chain B, A of the next, B of the next, and so on; and A, by the B
// of its own iteration, before B of any later one. So the loop's relation is stable once one more iteration
// is written out. (The verifier, which does not rely on this, unrolls until nothing new comes.)
void Lifetimes::unroll(const std::vector<Bits>& next) {
  const std::size_t n = before_.size();
  next_.assign(n, Bits(n));
  for (std::size_t p = 0; p < n; ++p) {
    Bits reached = before_[p], entered(n);
    reached.set(p);
    reached.for_each([&](std::size_t r) { entered |= next[r]; });
    entered.for_each([&](std::size_t q) {
      next_[p].set(q);
      next_[p] |= before_[q];
    });
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
  if (precedes(a, b)) return next_.empty() || all(next_, b, a);
  return precedes(b, a) && (next_.empty() || all(next_, a, b));
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
