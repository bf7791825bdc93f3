// Lower bounds for a footprint.
//
// Members of a clique are disjoint. An item of size s covers at least ⌊s/A⌋ of the positions that are r
// modulo A, and one more if its own alignment is a multiple of A and s mod A > r. So a clique of total count
// W needs a footprint of at least (W − 1)·A + r + 1. With A = 1 this is the clique's weight.
#pragma once

#include <cstdint>
#include <vector>

#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

struct Cut {
  std::int64_t modulus = 1;
  std::int64_t residue = 0;
  std::vector<int> members;          ///< pairwise in conflict, ascending
  std::vector<std::int64_t> weight;  ///< parallel to members, positive
  std::int64_t value = 0;            ///< the footprint that it needs
};

/// What one item counts in a cut of that modulus and residue.
inline std::int64_t cut_weight(std::int64_t size, std::int64_t align, std::int64_t modulus,
                               std::int64_t residue) {
  return size / modulus + (align >= modulus && size % modulus > residue ? 1 : 0);
}
inline std::int64_t cut_value(std::int64_t total, std::int64_t modulus, std::int64_t residue) {
  return total <= 0 ? 0 : (total - 1) * modulus + residue + 1;
}

/// The strongest cut; the search ends early once it is above `enough`.
Cut strongest_cut(const Items& items, Allowance allowance, std::int64_t enough = INT64_MAX);

/// A clique of the largest weight that was found, all of it, ascending.
std::vector<int> heavy_clique(const Items& items, Allowance allowance);

/// Strong cuts through every item, strongest first, at most `most`.
std::vector<Cut> many_cuts(const Items& items, std::size_t most);

}  // namespace pipelink::place
