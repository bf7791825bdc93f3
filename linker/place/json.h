// A solution as JSON, for `pipelink place FILE.pl --json`.
#pragma once

#include <cstdint>
#include <string>

#include "linker/place/problem.h"
#include "linker/place/solution.h"

namespace pipelink::place {

/// Footprints that placing one claim after the other at its lowest free offset would need, at the solution's
/// depths.
struct FirstFit {
  std::int64_t contract_order = 0;  ///< the order of Problem::buffers
  std::int64_t by_name = 0;
  std::int64_t by_size = 0;   ///< largest first
  std::int64_t by_align = 0;  ///< largest alignment first, then largest size
};
FirstFit first_fit(const Problem& problem, const Solution& solution);

/// Keys: instance, claims, optimal, gap_bytes, rlimit_used, rlimit_limit, footprint, free, depths, placement,
/// objectives, first_fit. Ends with a newline.
std::string to_json(const Problem& problem, const Solution& solution);

}  // namespace pipelink::place
