// Ids for named barriers: a colouring of the relation "may not share".
#pragma once

#include <vector>

#include "linker/place/bits.h"
#include "linker/place/meter.h"

namespace pipelink::place {

struct Colouring {
  std::vector<int> colour;  ///< from 0, numbered by first use
  int count = 0;
  int bound = 0;            ///< no colouring has fewer
  std::vector<int> clique;  ///< `bound` mutually conflicting vertices, or fewer if a search raised the bound
};

/// Fewest colours; exact as far as the allowance permits.
Colouring fewest_colours(const std::vector<Bits>& conflict, Allowance allowance);

}  // namespace pipelink::place
