// Branch and bound for one question: do the items fit below a given end?
#pragma once

#include <cstdint>

#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

/// Which items the search tries first. The answer does not depend on it, but the time does, so that short
/// attempts in several ways are better than a long one.
enum class Preference { kTightest, kLowest, kLargest, kLoaded };
inline constexpr Preference kPreferences[] = {Preference::kTightest, Preference::kLowest,
                                              Preference::kLargest, Preference::kLoaded};

/// On kYes, `found` holds a placement. kUnknown if the allowance ran out. With a seed other than 0, a
/// candidate that is not preferred sometimes comes first.
Answer fits_exactly(const Items& items, std::int64_t end, Offsets& found, Allowance allowance,
                    Preference preference = Preference::kTightest, std::uint64_t seed = 0);

}  // namespace pipelink::place
