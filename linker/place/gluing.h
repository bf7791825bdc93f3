// What alignment wastes in a clique, and its members joined to blocks that waste no more.
#pragma once

#include <cstdint>
#include <vector>

#include "linker/place/blocks.h"
#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

/// The footprint that a clique needs, with what alignment certainly wastes.
std::int64_t clique_bound(const Items& items, const std::vector<int>& clique, Allowance allowance);

/// Joins members of a clique so that alignment wastes as little as possible between them: behind items that
/// end unaligned come smaller ones that fill the hole, preferably ones that conflict with the same others.
/// The other items are blocks of their own. Members ascend. Each seed (from 1) gives another result.
std::vector<Block> glue(const Items& items, const std::vector<int>& clique, std::uint64_t seed,
                        Allowance allowance);

}  // namespace pipelink::place
