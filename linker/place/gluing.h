// What alignment wastes in a clique, and its members joined to blocks that waste no more.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "linker/place/blocks.h"
#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

/// Joins members of a clique so that alignment wastes as little as possible between them: behind items that
/// end unaligned come smaller ones that fill the hole, preferably ones that conflict with the same others.
/// The other items are blocks of their own.
class Gluer {
 public:
  /// Members ascend. The references must outlive this.
  Gluer(const Items& items, const std::vector<int>& clique, Allowance allowance);

  /// The footprint that the clique needs, with what alignment certainly wastes.
  std::int64_t bound() const { return bound_; }

  /// Each seed (from 1) gives another result.
  std::vector<Block> glue(std::uint64_t seed, Allowance allowance) const;

 private:
  const Items& items_;
  const std::vector<int>& clique_;
  struct Level {
    std::int64_t waste = 0;  // certainly
    bool found = false;      // a filling that wastes no more
  };
  std::map<std::int64_t, Level> levels_;  // for each alignment above 1, by itself
  std::int64_t bound_ = 0;
  std::vector<int> outside_;           // items that are not in the clique
  std::vector<std::int64_t> hurt_by_;  // of each of them, what it weighs in a harm
};

}  // namespace pipelink::place
