// Runs the steps of a transfer on symbols instead of data: what arrives is exactly what was demanded.
#pragma once

#include <string>

#include "linker/route/plan_transfer.h"
#include "linker/route/transfer.h"

namespace pipelink::transfer {

/// Runs two successive tiles, whose elements are different symbols, over registers and memory that hold
/// nothing at first. Empty if every element demanded is the one of this tile, no register is used before it
/// is set, no memory is read that this tile has not written, and nothing is written outside of the claim or,
/// for a consumer in shared memory, besides its tile. Else the first fault, with tile, thread, step and what
/// was found. Never fails otherwise: indices that point nowhere are faults too.
std::string delivery_fault(const Request& request, const Transfer& transfer);

}  // namespace pipelink::transfer
