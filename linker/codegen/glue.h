// The connecting code of a composition: handles, trampolines, the dispatch kernel. One text for the link and
// for the control.
#pragma once

#include <string>

#include "linker/bind/bindings.h"
#include "linker/plan/plan.h"
#include "linker/route/route.h"

namespace pipelink {

/// CUDA C++ for NVRTC, or for nvcc after the components' sources with PIPELINK_CONTROL defined. The same
/// composition gives the same bytes. With `probe`, an instance's role, only that role runs, and the registers
/// are not bounded: to measure what it needs.
Outcome<std::string> glue(const Composition& composition, const Bindings& bindings, const Plan& plan,
                          const std::vector<Route>& routes, const PortRef* probe = nullptr);

}  // namespace pipelink
