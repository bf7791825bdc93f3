// Items that keep their distances, and a search over orders of such blocks.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

struct Block {
  std::vector<std::pair<int, std::int64_t>>
      parts;  ///< item, distance from the block's start; the first is at 0
  std::int64_t align = 1;
  std::int64_t size = 0;  ///< up to what may follow without waste
};

/// Every item as a block.
std::vector<Block> single_blocks(const Items& items);

/// Joins members of a clique so that alignment wastes as little as possible between them: behind items that
/// end unaligned come smaller ones that fill the hole. The other items are blocks of their own. Members
/// ascend.
std::vector<Block> glue(const Items& items, const std::vector<int>& clique, Allowance allowance);

/// The footprint that a clique needs, with what alignment certainly wastes.
std::int64_t clique_bound(const Items& items, const std::vector<int>& clique, Allowance allowance);

struct Annealing {
  std::uint64_t rounds = 0;
  std::int64_t heat = 0;  ///< at the start, in units of excess over the target
  std::uint64_t seed = 1;
};

/// Simulated annealing over orders of blocks, for a footprint of at most `target`: each block goes to its
/// lowest free offset, one after the other. Leaves the best placement that it saw in `best` if that ends
/// lower, and returns whether it is within the target.
bool search_blocks(const Items& items, const std::vector<Block>& blocks, std::int64_t target,
                   const Annealing& annealing, Offsets& best, Allowance allowance);

}  // namespace pipelink::place
