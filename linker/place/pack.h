// Packing: the cheap means first, the exact ones last.
#pragma once

#include <cstdint>
#include <vector>

#include "linker/place/bound.h"
#include "linker/place/greedy.h"
#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

struct Packed {
  Answer answer = Answer::kUnknown;
  Offsets offset;  ///< with kYes
  Cut cut;         ///< with kNo: the cut that excludes it, or empty if a search did
};

/// Is there a placement that ends at `end` or below? `hint` is an order that was good for similar sizes; may
/// be empty.
Packed pack(const Items& items, std::int64_t end, const Order& hint, Allowance whole);

struct Tightest {
  Offsets offset;
  std::int64_t footprint = 0;
  std::int64_t bound = 0;  ///< no smaller footprint than this exists
};

/// Makes a placement tighter, down to a proven optimum if the allowance permits.
Tightest tighten(const Items& items, const Offsets& start, Allowance whole);

/// Z3 is asked up to this number of items.
inline constexpr std::size_t kMostForProof = 64;

}  // namespace pipelink::place
