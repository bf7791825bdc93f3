// A search over orders of blocks.
#pragma once

#include <cstdint>
#include <vector>

#include "linker/place/block_line.h"
#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

struct Annealing {
  std::uint64_t rounds = 0;
  std::int64_t heat = 0;  ///< at the start, in units of excess over the target
  std::uint64_t seed = 1;
};

/// Simulated annealing over orders of blocks, for a footprint of at most `target`: each block goes to its
/// lowest free offset, one after the other. Leaves the best placement that it saw in `best` if that ends
/// lower, and returns its footprint.
std::int64_t search_blocks(const Items& items, const std::vector<Block>& blocks, std::int64_t target,
                           const Annealing& annealing, Offsets& best, Allowance allowance);

}  // namespace pipelink::place
