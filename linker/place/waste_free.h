// Placements in which no byte is ever free.
#pragma once

#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

/// Do the items fit below `end`? Tried only where they need every unit at all times: conflicts of an interval
/// order, every largest clique of weight `end`, alignments that divide all sizes. Never kNo.
Answer fits_without_waste(const Items& items, std::int64_t end, Offsets& found, Allowance allowance);

}  // namespace pipelink::place
