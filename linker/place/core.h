// Minimal sets of claims that cannot be placed together.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "linker/place/items.h"
#include "linker/place/meter.h"
#include "linker/place/problem.h"

namespace pipelink::place {

/// Units for one explanation. They do not count against the limit of the search: a refusal is worth
/// explaining even where the search used it up.
inline constexpr std::uint64_t kExplainUnits = 32'000'000;

/// A set of items that do not fit below `end` although all of them but any one do.
struct Core {
  std::vector<int> items;  ///< largest first
  std::int64_t need = 0;   ///< bytes, at least
  bool clique = false;     ///< pairwise in conflict, and sizes and alignments alone explain it
  bool minimal = true;     ///< proven: without any one of them the rest fits
};
Core minimal_core(const Items& items, std::int64_t end, Allowance allowance);

/// Leaves out what is not needed, last first: `still(set)` says whether a set is still impossible.
template <class F>
void remove_needless(std::vector<int>& set, F&& still) {
  for (std::size_t k = set.size(); k-- > 0;) {
    std::vector<int> less = set;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(k));
    if (still(less)) set = std::move(less);
  }
}

/// Text facts of shared-memory claims, in the order of `core`.
std::vector<LabelledFact> buffer_facts(const Problem& canonical, const std::vector<std::int64_t>& bytes,
                                       const std::vector<int>& core);

/// Why the core does not fit, in numbers; one sentence part, without a final period. `after` goes with the
/// capacity.
std::string core_text(const Core& core, std::int64_t sum, std::int64_t capacity, const std::string& after);

}  // namespace pipelink::place
