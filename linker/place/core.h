// Infeasibility as diagnostics: minimal sets of claims with sizes, lifetimes and owners.
#pragma once

#include <string>
#include <vector>

#include "linker/place/explain.h"
#include "linker/place/items.h"
#include "linker/place/meter.h"
#include "linker/place/relation.h"
#include "linker/place/warps.h"

namespace pipelink::place {

/// A set of items that do not fit below `end` although all of them but any one might: members of the cut as
/// long as it stays above `end`, else what deletion leaves.
struct Core {
  std::vector<int> items;  ///< largest first
  std::int64_t need = 0;   ///< bytes, at least
  bool clique = false;     ///< pairwise in conflict, and their sizes explain it
  bool minimal = true;     ///< leaving out any one makes the rest fit, or was at least not excluded by size
};
Core minimal_core(const Items& items, std::int64_t end, Allowance allowance);

/// Text facts of shared-memory claims, in the order of `core`.
std::vector<LabelledFact> buffer_facts(const Problem& canonical, const std::vector<std::int64_t>& bytes,
                                       const std::vector<int>& core);

Diagnostic shared_too_small(const Problem& canonical, const Conflicts& conflicts,
                            const std::vector<int>& depths, Meter& meter);
Diagnostic columns_too_few(const Problem& canonical, const Conflicts& conflicts, Meter& meter);
Diagnostic barriers_too_few(const Problem& canonical, const Conflicts& conflicts, Meter& meter);
Diagnostic warps_too_few(const Problem& canonical);
Diagnostic registers_too_few(const Problem& canonical, const WarpPlan& plan);

}  // namespace pipelink::place
