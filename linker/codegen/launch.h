// What the host must know of a linked kernel.
#pragma once

#include "linker/bind/bindings.h"
#include "linker/plan/plan.h"
#include "pipelink/launch_description.h"

namespace pipelink {

/// Each instance gets the facts that it owns or reads, and `RING.stages` for its rings.
LaunchDescription launch_description(const Composition& composition, const Bindings& bindings,
                                     const Plan& plan);

}  // namespace pipelink
