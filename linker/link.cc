#include "linker/link.h"

#include <chrono>
#include <utility>

#include "linker/check/check.h"
#include "linker/codegen/glue.h"
#include "linker/codegen/host_header.h"
#include "linker/codegen/launch.h"
#include "packager/package/package.h"

namespace pipelink {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

/// Keeps notes and warnings of a pass that went well.
template <class T>
T take(Outcome<T>&& outcome, Diagnostics& kept) {
  kept.insert(kept.end(), outcome.diagnostics.begin(), outcome.diagnostics.end());
  return std::move(*outcome.value);
}

RingStages ring_depths(const Composition& composition, const Plan& plan) {
  RingStages depths;
  for (std::size_t i = 0; i < composition.instances.size(); ++i)
    for (std::size_t r = 0; r < composition.contract(i).rings.size(); ++r)
      if (composition.contract(i).rings[r].direction == contract::Direction::kExport)
        depths[{i, r}] = plan.instances[i].rings[r].stages;
  return depths;
}

GatePlan gate_plan(const Composition& composition, const Plan& plan) {
  GatePlan out;
  out.kernel = composition.name;
  out.threads = plan.threads;
  out.registers = plan.solution.entry_registers;
  for (int budget : plan.solution.warpgroup_registers)
    out.sets_registers = out.sets_registers || budget != plan.solution.entry_registers;
  out.barriers = plan.solution.barrier_count + 1;
  out.shared_bytes = plan.shared_bytes;
  out.shared_align = plan.shared_align;
  return out;
}

}  // namespace

Outcome<Checked> check_composition(const std::string& file, Timings& timings) {
  Diagnostics kept;
  auto start = Clock::now();

  // After this: every package is whole, of this architecture and of a format that is known; names are unique.
  Outcome<Composition> read = read_composition(file);
  if (!read) return read.diagnostics;
  Checked out;
  out.composition = take(std::move(read), kept);
  timings.read_ms = milliseconds(start);
  start = Clock::now();

  // After this: every import has one export, every fact one owner and a value.
  Outcome<Bindings> bound = bind(out.composition);
  if (!bound) return bound.diagnostics;
  out.bindings = take(std::move(bound), kept);

  // After this: the two sides of each binding say the same, and all requirements that need no placement hold.
  Diagnostics checked = check(out.composition, out.bindings);
  if (has_error(checked)) return checked;
  kept.insert(kept.end(), checked.begin(), checked.end());
  timings.check_ms = milliseconds(start);
  start = Clock::now();

  // After this: every claim has a place that the verifier, which shares no code with the solver, accepts.
  Outcome<Plan> planned = plan(out.composition, out.bindings);
  if (!planned) return planned.diagnostics;
  out.plan = take(std::move(planned), kept);

  // After this: facts and requirements that read the placement have their values.
  const RingStages depths = ring_depths(out.composition, out.plan);
  Outcome<Bindings> settled = with_placement(out.composition, out.bindings, depths);
  if (!settled) return settled.diagnostics;
  out.bindings = take(std::move(settled), kept);
  Diagnostics placed = check_placed(out.composition, out.bindings, depths);
  if (has_error(placed)) return placed;
  kept.insert(kept.end(), placed.begin(), placed.end());
  timings.place_ms = milliseconds(start);

  // After this: every tile that passes between components has a route.
  Outcome<std::vector<Route>> routed = route(out.composition, out.bindings);
  if (!routed) return routed.diagnostics;
  out.routes = take(std::move(routed), kept);
  return {std::move(out), std::move(kept)};
}

Outcome<Linked> link_composition(const std::string& file, Timings& timings) {
  const auto start = Clock::now();
  Outcome<Checked> checked = check_composition(file, timings);
  if (!checked) return checked.diagnostics;
  Diagnostics kept;
  Linked out;
  out.checked = take(std::move(checked), kept);
  const Checked& in = out.checked;

  // After this: the glue defines every handle and calls every role; the host side knows the same layout.
  Outcome<std::string> text = glue(in.composition, in.bindings, in.plan, in.routes);
  if (!text) return text.diagnostics;
  out.glue = take(std::move(text), kept);
  Outcome<std::string> launch = launch_text(launch_description(in.composition, in.bindings, in.plan));
  if (!launch) return launch.diagnostics;
  out.launch = take(std::move(launch), kept);

  // After this: there is a cubin.
  LowerRequest request;
  request.arch = in.composition.arch;
  request.kernel = in.composition.name;
  request.glue = out.glue;
  for (const PackageInput& package : in.composition.packages) {
    Outcome<Package> whole = read_package(package.path);
    if (!whole) return whole.diagnostics;
    if (whole->sha256 != package.sha256) {
      Diagnostic d;
      d.clause = "I-PACKAGE";
      d.title = package.file + " changed while it was being linked";
      d.help = "link again";
      return d;
    }
    for (std::size_t n = 0; n < whole->ltoir.size(); ++n)
      request.inputs.push_back(
          {package.contract.component + "." + std::to_string(n), std::move(whole->ltoir[n]), package.contract.toolkit});
  }
  Outcome<Lowered> lowered = lower(request);
  if (!lowered) return lowered.diagnostics;
  timings.glue_ms = lowered->glue_ms;
  timings.nvjitlink_ms = lowered->link_ms;
  out.cubin = std::move(lowered->cubin);

  // After this: the cubin is what was planned.
  Outcome<CubinFacts> facts = read_cubin(out.cubin, in.composition.name);
  if (!facts) return facts.diagnostics;
  out.facts = take(std::move(facts), kept);
  Outcome<GateReport> report = gate(gate_plan(in.composition, in.plan), out.facts, lowered->log);
  if (!report) return report.diagnostics;
  out.gate = take(std::move(report), kept);
  timings.total_ms = milliseconds(start);
  return {std::move(out), std::move(kept)};
}

}  // namespace pipelink
