// From a bound composition to a placement problem, and from its solution back to the claims of each instance.
// linker/place knows neither contracts nor instances; this is where the two meet.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "linker/bind/bindings.h"
#include "linker/place/problem.h"
#include "linker/place/solution.h"
#include "linker/plan/guard.h"
#include "linker/route/route.h"

namespace pipelink {

struct PlacedRing {
  std::int64_t stages = 0, stage_bytes = 0;
  std::int64_t data = 0, full = 0, empty = 0;  ///< offsets into shared memory
  std::int64_t full_arrivals = 0, empty_arrivals = 0;
};

struct PlacedMbarriers {
  std::int64_t offset = 0, count = 0, arrivals = 0;
};

struct PlacedScratch {
  std::int64_t field = 0;  ///< offset of the pointer in the instance's region
  std::int64_t bytes = 0;  ///< of the grid or, a multiple of the alignment, of each block
};

/// What one instance got; each list is parallel to the contract's.
struct InstancePlacement {
  std::vector<std::int64_t> buffers;  ///< offsets into shared memory
  std::vector<PlacedRing> rings;      ///< owned and imported: an import has its owner's values
  std::vector<PlacedMbarriers> mbarriers;
  std::vector<int> named_barriers;  ///< hardware ids
  std::vector<int> tensor_memory;   ///< first columns, from the first that the block has
  std::vector<int> roles;           ///< first warps
  std::vector<PlacedScratch> scratch;
  std::int64_t parameters = 0;  ///< offset into the parameter block
};

/// Where what a route's transfer claims was placed; empty for a route that claims nothing.
struct PlacedTransfer {
  std::int64_t buffer = 0;       ///< offset into shared memory, of the first group's
  std::int64_t group_bytes = 0;  ///< from one group's to the next
  /// Hardware ids, [claim of the transfer][group].
  std::vector<std::vector<int>> barriers;
};

/// What a guarded link adds.
struct GuardPlan {
  std::vector<GuardBand> bands;
  std::int64_t shared_bytes = 0;        ///< with the last band
  std::vector<NotGuarded> not_guarded;  ///< claims; link_composition adds waits
  std::int64_t parameter = 0;           ///< offset in the parameter block: where findings go
};

struct Plan {
  place::Problem problem;
  place::Solution solution;
  std::vector<InstancePlacement> instances;
  std::vector<PlacedTransfer> transfers;  ///< parallel to the routes
  std::int64_t shared_bytes = 0;          ///< of the one shared array
  std::int64_t shared_align = 16;
  std::int64_t parameter_bytes = 0;  ///< of the parameter block, at least 1
  std::int64_t parameter_align = 16;
  int threads = 0;
  int tensor_columns = 0;               ///< that the block allocates; 0: none
  std::int64_t tensor_memory_word = 0;  ///< offset of the allocation's address in shared memory
  std::optional<GuardPlan> guard;
};

/// The kernel's own claim beside those of the instances, if any of them claims tensor memory.
inline constexpr const char* kTensorMemoryWord = "kernel:tensor_memory";

/// What the architecture offers a block. L-ARCH if it is not known here.
Outcome<place::Target> target_of(const std::string& arch, int blocks_per_sm);

/// Registers per thread that roles were found to need, by "instance.role". A role's least budget is raised to
/// that, as far as its contract allows.
using RegisterNeeds = std::map<std::string, int>;

/// Amounts are evaluated, what the routes claim is added, the problem solved and verified. Errors: L-ARCH,
/// P-EXPRESSION, those of place::solve, L-VERIFY. A ring is no shallower than `least` says.
Outcome<Plan> plan(const Composition& composition, const Bindings& bindings, const std::vector<Route>& routes,
                   const RegisterNeeds& needs = {}, const RingStages& least = {});

/// Bytes from one group's buffer of a route to the next one's, and the name of a barrier that it claims.
std::int64_t group_bytes(const transfer::Transfer& transfer);
std::string route_barrier(const std::string& route, const std::string& claim, int group);

/// The depths that were placed, by owner, for expressions that read the placement.
RingStages ring_stages(const Composition& composition, const Plan& plan);

/// Only the problem: what `pipelink place` would be given.
Outcome<place::Problem> placement_problem(const Composition& composition, const Bindings& bindings,
                                          const std::vector<Route>& routes);

}  // namespace pipelink
