// Branch and bound for one question: do the items fit below a given end?
#pragma once

#include <cstdint>
#include <vector>

#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

/// Which items the search tries first. The answer does not depend on it, but the time does, so that short
/// attempts in several ways are better than a long one.
enum class Preference { kTightest, kLowest, kLargest, kLoaded };
inline constexpr Preference kPreferences[] = {Preference::kTightest, Preference::kLowest,
                                              Preference::kLargest, Preference::kLoaded};

/// What the attempts at one question have in common.
class Exact {
 public:
  Exact(const Items& items, std::int64_t end, Meter& meter);
  ~Exact();

  /// On kYes, `found` holds a placement. kUnknown if the allowance ran out. With a seed other than 0, a
  /// candidate that is not preferred sometimes comes first.
  Answer fits(Offsets& found, Allowance allowance, Preference preference = Preference::kTightest,
              std::uint64_t seed = 0) const;

 private:
  struct Part;
  const Items& items_;
  const std::int64_t end_;
  std::vector<std::size_t> set_aside_;  // items that fit wherever the others lie
  std::vector<Part> parts_;             // the rest, where no conflict connects it
};

/// One attempt.
Answer fits_exactly(const Items& items, std::int64_t end, Offsets& found, Allowance allowance,
                    Preference preference = Preference::kTightest, std::uint64_t seed = 0);

}  // namespace pipelink::place
