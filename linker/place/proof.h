// The one place that sees Z3.
#pragma once

#include <cstdint>

#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

/// Do the items fit below `end`? Always a fresh context, no time-outs, no threads: the answer depends on
/// nothing else.
Answer fits_by_z3(const Items& items, std::int64_t end, Offsets& found, Allowance allowance);

}  // namespace pipelink::place
