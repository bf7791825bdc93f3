// The linker: an ordered list of passes.
#pragma once

#include <string>

#include "linker/backend/gate.h"
#include "linker/backend/lower.h"
#include "linker/bind/bindings.h"
#include "linker/plan/plan.h"
#include "linker/route/route.h"

namespace pipelink {

/// What the passes before code generation settle: enough for `pipelink check`.
struct Checked {
  Composition composition;
  Bindings bindings;
  Plan plan;
  std::vector<Route> routes;
};

struct Timings {
  double read_ms = 0, check_ms = 0, route_ms = 0, place_ms = 0, glue_ms = 0, nvjitlink_ms = 0, total_ms = 0;
  double peak_mib = 0;  ///< of memory, in the process with nvJitLink
};

struct Linked {
  Checked checked;
  std::string glue;
  std::string launch;  ///< pipelink/launch_description.h
  std::string cubin;
  CubinFacts facts;
  GateReport gate;
  RegisterNeeds measured_registers;  ///< of each role, where the first placement spilled; else empty
};

/// read ▸ bind ▸ check ▸ route ▸ place.
Outcome<Checked> check_composition(const std::string& file, Timings& timings);

/// The same for a composition that was read.
Outcome<Checked> check_composition(Composition composition, Timings& timings);

/// The first, then generate ▸ lower ▸ gate. If registers do not suffice, the roles' needs are measured and
/// everything from place on is done once more. Writes nothing.
Outcome<Linked> link_composition(const std::string& file, const ToolchainLimits& limits, Timings& timings);

}  // namespace pipelink
