// Whether the steps of a transfer are ordered: no access races with another, in all iterations.
#pragma once

#include <string>

#include "linker/route/plan_transfer.h"
#include "linker/route/transfer.h"

namespace pipelink::transfer {

/// Follows all threads over three tiles. Happens-before is program order, __syncwarp, and arrivals at a named
/// barrier before the return of those who wait at it. Empty if
/// - every barrier gets as many arrivals as it counts, and none for a generation before the last has
/// completed;
/// - accesses to one byte of which one writes are ordered; and
/// - a generic write is followed by the writer's proxy fence before an asynchronous read of it.
/// Else the first fault: "shared byte 128: tile 1: store by thread 3 races with tile 0: load by thread 17".
///
/// What sides promise and this takes for granted: before the call the producer has written its tile in shared
/// memory (each byte some thread of the call, by the generic proxy) or tensor memory; the consumer's reads,
/// asynchronous ones too, have ended in each thread when it returns.
std::string ordering_fault(const Request& request, const Transfer& transfer);

}  // namespace pipelink::transfer
