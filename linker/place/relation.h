// Which claims may share: happens-before over all iterations, from the orders that the phases state.
#pragma once

#include <vector>

#include "linker/place/bits.h"
#include "linker/place/problem.h"

namespace pipelink::place {

/// The relation is symmetric and, for a loop, not transitive.
class Lifetimes {
 public:
  explicit Lifetimes(const Problem& canonical);

  Bits phases(const Claim& claim) const;

  /// For every pair of iterations, all uses of one wholly precede all uses of the other. False for an empty
  /// set, which stands for "always live".
  bool may_share(const Bits& a, const Bits& b) const;

  /// All uses of a come before all uses of b of the same iteration.
  bool precedes(const Bits& a, const Bits& b) const;

  /// A phase comes before itself within one iteration.
  bool cyclic() const;

 private:
  void unroll(const std::vector<Bits>& next);

  std::vector<std::string> names_;
  std::vector<Bits> before_;  ///< before_[p] has q: p of an iteration precedes q of the same
  std::vector<Bits> next_;    ///< with a loop: next_[p] has q: p precedes q of the next iteration
};

/// conflicts[i] has j: claims i and j (i ≠ j) may not share. `group` numbers the distinct live sets.
struct Conflicts {
  std::vector<Bits> of;
  std::vector<int> group;
  std::vector<Bits> between_groups;  ///< without the diagonal; a group conflicts with itself
  /// order[a] has b: groups a and b may share, and a comes first in an iteration. Empty unless this was
  /// verified to be transitive; then cliques of conflicts are its antichains.
  std::vector<Bits> order;
};

template <class T>
Conflicts conflicts(const Lifetimes& lifetimes, const std::vector<T>& claims);

Conflicts conflicts_of(const Lifetimes& lifetimes, const std::vector<Bits>& lives);

template <class T>
Conflicts conflicts(const Lifetimes& lifetimes, const std::vector<T>& claims) {
  std::vector<Bits> lives;
  lives.reserve(claims.size());
  for (const T& claim : claims) lives.push_back(lifetimes.phases(claim));
  return conflicts_of(lifetimes, lives);
}

}  // namespace pipelink::place
