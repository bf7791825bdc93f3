// The solver. Lexicographic: deeper rings, larger register budgets, smaller footprint, then a canonical
// tie-break.
#pragma once

#include <cstdint>

#include "linker/place/problem.h"
#include "linker/place/solution.h"

namespace pipelink::place {

/// Units of work: one unit of Z3's rlimit, or 64 steps of this library's own searches. Never time.
inline constexpr std::uint64_t kDefaultLimit = 64'000'000;

/// The same result for any order of the problem's lists, in every run. Errors: those of validate(); L-SMEM,
/// L-COLUMNS, L-BARRIERS, L-WARPS, L-REGS with a minimal set of claims that cannot be placed together;
/// L-UNKNOWN if the limit did not suffice to find a placement or to exclude one.
Outcome<Solution> solve(const Problem& problem, std::uint64_t limit = kDefaultLimit);

}  // namespace pipelink::place
