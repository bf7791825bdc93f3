// Why something could not be placed, in terms of claims and numbers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "linker/place/problem.h"
#include "linker/place/solution.h"

namespace pipelink::place {

struct Explanation {
  std::string text;                 ///< one sentence with the numbers; lower case, no final period
  std::vector<LabelledFact> facts;  ///< the claims that stand in the way, largest first
  bool proven = true;               ///< false: the work limit ended the search for a deeper ring
};

/// Why `ring` is not one stage deeper in `solution`, with everything that comes before that step kept.
Explanation why_not_deeper(const Problem& problem, const Solution& solution, std::string_view ring);

/// Why `role` has not 8 registers per thread more; the facts are the other roles.
Explanation why_not_larger(const Problem& problem, const Solution& solution, std::string_view role);

}  // namespace pipelink::place
