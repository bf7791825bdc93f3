#include "linker/link.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "linker/audit/waits.h"
#include "linker/check/check.h"
#include "linker/codegen/glue.h"
#include "linker/codegen/host_header.h"
#include "linker/codegen/launch.h"
#include "linker/measure.h"
#include "packager/package/package.h"

namespace pipelink {
namespace {

using Clock = std::chrono::steady_clock;

// A role linked alone is spill-free with a little less than it needs beside others.
constexpr int kRegisterMargin = 8;

double milliseconds(Clock::time_point from) {
  return std::chrono::duration<double, std::milli>(Clock::now() - from).count();
}

/// Keeps notes and warnings of a pass that went well.
template <class T>
T take(Outcome<T>&& outcome, Diagnostics& kept) {
  kept.insert(kept.end(), outcome.diagnostics.begin(), outcome.diagnostics.end());
  return std::move(*outcome.value);
}

GatePlan gate_plan(const Composition& composition, const Plan& plan) {
  GatePlan out;
  out.kernel = composition.name;
  out.threads = plan.threads;
  out.registers = plan.solution.entry_registers;
  for (int budget : plan.solution.warpgroup_registers)
    out.sets_registers = out.sets_registers || budget != plan.solution.entry_registers;
  // Named barriers of a guarded link are words of shared memory.
  out.barriers = plan.guard ? 1 : plan.solution.barrier_count + 1;
  out.may_serialise = plan.guard.has_value();
  const auto& cluster = composition.launch.cluster;
  out.uses_block_barrier = cluster[0] * cluster[1] * cluster[2] == 1;
  out.shared_bytes = plan.shared_bytes;
  out.shared_align = plan.shared_align;
  return out;
}

}  // namespace

namespace {

Outcome<Checked> check_with(Composition composition, const RegisterNeeds& needs, Timings& timings) {
  Diagnostics kept;
  auto start = Clock::now();
  Checked out;
  out.composition = std::move(composition);

  // After this: every import has one export, every fact one owner and a value.
  Outcome<Bindings> bound = bind(out.composition, holds);
  if (!bound) return bound.diagnostics;
  out.bindings = take(std::move(bound), kept);

  // After this: the two sides of each binding say the same, and all requirements that need no placement hold.
  Diagnostics checked = check(out.composition, out.bindings);
  if (has_error(checked)) return checked;
  kept.insert(kept.end(), checked.begin(), checked.end());
  timings.check_ms = milliseconds(start);
  start = Clock::now();

  // After this: every tile that passes between components has a route.
  Outcome<std::vector<Route>> routed = route(out.composition, out.bindings);
  if (!routed) return routed.diagnostics;
  out.routes = take(std::move(routed), kept);
  timings.route_ms = milliseconds(start);
  start = Clock::now();

  // After this: every claim, the routes' too, has a place that the verifier, which shares no code with the
  // solver, accepts.
  Outcome<Plan> planned =
      plan(out.composition, out.bindings, out.routes, needs, least_depths(out.composition, out.bindings));
  if (!planned) return planned.diagnostics;
  out.plan = take(std::move(planned), kept);

  // After this: facts and requirements that read the placement have their values.
  const RingStages depths = ring_stages(out.composition, out.plan);
  Outcome<Bindings> settled = with_placement(out.composition, out.bindings, depths);
  if (!settled) return settled.diagnostics;
  out.bindings = take(std::move(settled), kept);
  Diagnostics placed = check_placed(out.composition, out.bindings, depths);
  if (has_error(placed)) return placed;
  kept.insert(kept.end(), placed.begin(), placed.end());
  timings.place_ms = milliseconds(start);
  return {std::move(out), std::move(kept)};
}

/// Glue, launch description, cubin, gate. L-REGS alone if all is well but for spilled registers.
Outcome<Linked> generate(Toolchain& toolchain, Checked checked, LowerRequest& request, Timings& timings) {
  Diagnostics kept;
  Linked out;
  out.checked = std::move(checked);
  const Checked& in = out.checked;

  // After this: the glue defines every handle and calls every role; the host side knows the same layout.
  Outcome<std::string> text = glue(in.composition, in.bindings, in.plan, in.routes);
  if (!text) return text.diagnostics;
  out.glue = take(std::move(text), kept);
  Outcome<std::string> launch = launch_text(launch_description(in.composition, in.bindings, in.plan));
  if (!launch) return launch.diagnostics;
  out.launch = take(std::move(launch), kept);

  // After this: there is a cubin.
  request.glue = out.glue;
  Outcome<Lowered> lowered = toolchain.lower(request);
  if (!lowered) return lowered.diagnostics;
  timings.glue_ms += lowered->glue_ms;
  timings.nvjitlink_ms += lowered->link_ms;
  timings.peak_mib = std::max(timings.peak_mib, lowered->peak_mib);
  out.cubin = std::move(lowered->cubin);

  // After this: the cubin is what was planned.
  Outcome<CubinFacts> facts = read_cubin(out.cubin, in.composition.name);
  if (!facts) return facts.diagnostics;
  out.facts = take(std::move(facts), kept);
  Outcome<GateReport> report = gate(gate_plan(in.composition, in.plan), out.facts, lowered->log);
  if (!report) return report.diagnostics;
  out.gate = take(std::move(report), kept);
  return {std::move(out), std::move(kept)};
}

bool only_registers(const Diagnostics& diagnostics) {
  return has_error(diagnostics) &&
         std::all_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& d) {
           return d.severity != Severity::kError || d.clause == "L-REGS";
         });
}

/// The registers did not suffice: placed once more with what the roles were found to need, else L-REGS.
Outcome<Linked> generate_with_needs(Toolchain& toolchain, const Checked& first, const Diagnostics& spilled,
                                    LowerRequest& request, Timings& timings) {
  Outcome<std::vector<MeasuredNeed>> measured = measure_registers(toolchain, first, request);
  if (!measured) return measured.diagnostics;
  RegisterNeeds needs;
  for (const MeasuredNeed& need : *measured) {
    const int most = first.composition.contract(need.role.instance).roles[need.role.index].registers_max;
    if (need.registers == 0 || need.registers > most)
      return registers_do_not_fit(first, *measured, fmt::format("role {} may have {}", need.name, most),
                                  spilled);
    needs[need.name] = need.registers + kRegisterMargin;
  }
  Outcome<Checked> again = check_with(first.composition, needs, timings);
  if (!again) {
    if (!only_registers(again.diagnostics)) return again.diagnostics;
    return registers_do_not_fit(first, *measured, again.diagnostics.front().reason, spilled);
  }
  if (again->plan.solution.roles == first.plan.solution.roles)
    return registers_do_not_fit(first, *measured, "every role has what it needs by itself", spilled);
  Outcome<Linked> linked = generate(toolchain, std::move(*again.value), request, timings);
  if (!linked && only_registers(linked.diagnostics))
    return registers_do_not_fit(first, *measured, "with budgets after these needs it still spills",
                                linked.diagnostics);
  if (linked)
    for (const MeasuredNeed& need : *measured) linked->measured_registers[need.name] = need.registers;
  return linked;
}

void note_waits(const std::string& component, const std::vector<UnguardedWait>& waits,
                std::vector<NotGuarded>& out) {
  for (const UnguardedWait& wait : waits)
    out.push_back({component, fmt::format("{} of {}", wait.where, component),
                   fmt::format("{}, {} time{}: only waits of the SDK have a limit", wait.what, wait.count,
                               wait.count == 1 ? "" : "s")});
}

/// One note for all: a guarded link of anything real has some.
Diagnostics guard_notes(const GuardPlan& guard) {
  if (guard.not_guarded.empty()) return {};
  Diagnostic d;
  d.severity = Severity::kNote;
  d.clause = "L-GUARD";
  d.title = "the guard does not see everything";
  for (const NotGuarded& n : guard.not_guarded) d.facts.push_back({n.owner, n.what + ": " + n.why, {}});
  return {d};
}

}  // namespace

Outcome<Checked> check_composition(const std::string& file, Timings& timings) {
  const auto start = Clock::now();
  // After this: every package is whole, of this architecture and of a format that is known; names are unique.
  Outcome<Composition> read = read_composition(file);
  if (!read) return read.diagnostics;
  timings.read_ms = milliseconds(start);
  Diagnostics kept;
  Outcome<Checked> checked = check_with(take(std::move(read), kept), {}, timings);
  checked.diagnostics.insert(checked.diagnostics.begin(), kept.begin(), kept.end());
  return checked;
}

Outcome<Checked> check_composition(Composition composition, Timings& timings) {
  return check_with(std::move(composition), {}, timings);
}

Outcome<Linked> link_composition(const std::string& file, const ToolchainLimits& limits, Timings& timings) {
  const auto start = Clock::now();
  Toolchain toolchain(limits);  // loads while the passes before it run
  Outcome<Checked> checked = check_composition(file, timings);
  if (!checked) return checked.diagnostics;
  Diagnostics kept;
  const Checked in = take(std::move(checked), kept);
  std::vector<NotGuarded> waits;
  LowerRequest request;
  request.arch = in.composition.arch;
  request.kernel = in.composition.name;
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
    if (in.plan.guard) {  // after this: what no guard sees is known
      const Outcome<std::vector<UnguardedWait>> found = unguarded_waits(*whole);
      if (!found) return found.diagnostics;
      note_waits(package.contract.component, *found, waits);
    }
    for (std::size_t n = 0; n < whole->ltoir.size(); ++n)
      request.inputs.push_back({package.contract.component + "." + std::to_string(n),
                                std::move(whole->ltoir[n]), package.contract.toolkit});
  }
  Outcome<Linked> linked = generate(toolchain, in, request, timings);
  if (!linked && only_registers(linked.diagnostics))
    linked = generate_with_needs(toolchain, in, linked.diagnostics, request, timings);
  if (!linked) return linked.diagnostics;
  if (std::optional<GuardPlan>& guard = linked->checked.plan.guard) {
    guard->not_guarded.insert(guard->not_guarded.end(), waits.begin(), waits.end());
    append(kept, guard_notes(*guard));
  }
  kept.insert(kept.end(), linked.diagnostics.begin(), linked.diagnostics.end());
  timings.total_ms = milliseconds(start);
  return {std::move(*linked.value), std::move(kept)};
}

}  // namespace pipelink
