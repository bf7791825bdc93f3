// What shares bytes or ids in a solution, and the orders that allow it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linker/place/problem.h"
#include "linker/place/solution.h"

namespace pipelink::place {

/// Phases, each of which the one after it names in its `after`. With `crossing`, one step is an
/// `after_previous`: it leads from path[crossing − 1] of an iteration to path[crossing] of the next one.
struct OrderPath {
  std::vector<std::string> path;
  std::size_t crossing = 0;  ///< 0: within one iteration
};

/// Two claims that have bytes or an id in common. In each iteration all uses of `first` come before all uses
/// of `second`, and these before those of `first` in the next iteration.
struct Reuse {
  std::string first, second;
  std::int64_t offset = 0,
               bytes = 0;         ///< of what they have in common; columns of tensor memory; or an id, and 0
  std::vector<OrderPath> within;  ///< from the last phases of `first` to the first ones of `second`
  std::vector<OrderPath> across;  ///< from the last ones of `second` on; empty without Problem::loop
};

/// Sorted by offset, then names. `solution` must be one that verify() accepts.
std::vector<Reuse> shared_reuse(const Problem& problem, const Solution& solution);
std::vector<Reuse> column_reuse(const Problem& problem, const Solution& solution);
std::vector<Reuse> barrier_reuse(const Problem& problem, const Solution& solution);

/// The phases in an order that respects every `after`; what is not ordered is kept by name.
std::vector<std::string> phases_in_order(const Problem& problem);

}  // namespace pipelink::place
