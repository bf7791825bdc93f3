// Infeasibility as diagnostics: minimal sets of claims with sizes, lifetimes and owners, and a way out.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linker/place/problem.h"
#include "linker/place/relation.h"
#include "linker/place/warps.h"

namespace pipelink::place {

/// L-SMEM, at these depths.
Diagnostic shared_too_small(const Problem& canonical, const Conflicts& conflicts,
                            const std::vector<int>& depths);
/// L-COLUMNS.
Diagnostic columns_too_few(const Problem& canonical, const Conflicts& conflicts);
/// L-BARRIERS.
Diagnostic barriers_too_few(const Problem& canonical, const Conflicts& conflicts);
/// L-WARPS.
Diagnostic warps_too_few(const Problem& canonical);
/// L-REGS.
Diagnostic registers_too_few(const Problem& canonical);
/// L-UNKNOWN: `what` was neither found nor excluded.
Diagnostic not_decided(const std::string& what, std::uint64_t limit);

}  // namespace pipelink::place
