// Branch and bound for one question: do the items fit below a given end?
#pragma once

#include <cstdint>

#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

/// On kYes, `found` holds a placement. kUnknown if the allowance ran out.
Answer fits_exactly(const Items& items, std::int64_t end, Offsets& found, Allowance allowance);

}  // namespace pipelink::place
