// Recomputes what a placement must satisfy. Shares no code with the solver, nor its happens-before relation.
#pragma once

#include "linker/place/problem.h"
#include "linker/place/solution.h"

namespace pipelink::place {

/// Every violation, as L-VERIFY errors; empty if the placement is valid. Optimality is not checked.
Diagnostics verify(const Problem& problem, const Solution& solution);

}  // namespace pipelink::place
