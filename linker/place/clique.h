// Maximum-weight cliques of small graphs, by branch and bound with a weight-splitting colour bound.
#pragma once

#include <cstdint>
#include <vector>

#include "linker/place/bits.h"
#include "linker/place/meter.h"

namespace pipelink::place {

struct Clique {
  std::vector<int> members;  ///< ascending
  std::int64_t weight = 0;
  bool proven = true;  ///< none is heavier
};

/// The heaviest clique above `floor`, else no members. Vertices of weight 0 are left out.
Clique heaviest_clique(const std::vector<Bits>& adjacent, const std::vector<std::int64_t>& weight,
                       Allowance allowance, std::int64_t floor = 0);

}  // namespace pipelink::place
