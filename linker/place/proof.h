// Questions about offsets to Z3. (Besides, only role_proof.cc sees Z3.)
#pragma once

#include <cstdint>
#include <vector>

#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

/// Do the items fit below `end`? Always a fresh context, no time-outs, no threads: the answer depends on
/// nothing else.
Answer fits_by_z3(const Items& items, std::int64_t end, Offsets& found, Allowance allowance);

/// An unsatisfiable core: items that do not fit below `end` by themselves, ascending. False if the items fit,
/// or if the allowance ran out.
bool core_by_z3(const Items& items, std::int64_t end, std::vector<int>& core, Allowance allowance);

}  // namespace pipelink::place
