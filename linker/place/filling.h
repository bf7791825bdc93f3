// What alignment wastes between items that are pairwise disjoint.
//
// Items whose alignment is a multiple of A start at multiples of A. So behind each of them but the last is a
// hole up to a multiple of A, and only items of smaller alignment can fill it. What they do not fill is
// wasted.
#pragma once

#include <cstdint>
#include <vector>

#include "linker/place/meter.h"

namespace pipelink::place {

struct Filling {
  std::int64_t waste = 0;                ///< no placement of the items wastes less
  bool found = false;                    ///< `behind` reaches it
  std::vector<std::vector<int>> behind;  ///< with `found`: of each head, the fillers in the hole behind it
  int open = -1;  ///< with `found`: the head whose hole stays open; −1 if none has a hole
};

/// Which fillings are preferred among those of equal waste.
struct Taste {
  std::uint64_t seed = 0;                       ///< another seed, another filling; 0 stands for no taste
  std::int64_t waste = 0;                       ///< no placement is known to waste less
  std::vector<std::vector<std::int64_t>> harm;  ///< [head][filler]: of putting the filler behind the head
};

/// `heads` and `fillers` are sizes; heads start at multiples of `modulus`. The hole behind one head, the
/// last, stays open. The harm of a filling is small, not the least.
Filling least_waste(const std::vector<std::int64_t>& heads, const std::vector<std::int64_t>& fillers,
                    std::int64_t modulus, Allowance allowance, const Taste& taste = {});

}  // namespace pipelink::place
