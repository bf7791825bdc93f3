#include "linker/plan/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "linker/place/solve.h"
#include "linker/place/verify.h"
#include "packager/contract/expression.h"

namespace pipelink {
namespace {

constexpr std::int64_t kParameterAlign = 64;  // a tensor map's

std::int64_t round_up(std::int64_t value, std::int64_t align) {
  return (value + align - 1) / align * align;
}

InstancePlacement place_instance(const Composition& composition, const Bindings& bindings, std::size_t i,
                                 const place::Solution& solution, std::map<PortRef, std::int64_t>& stages) {
  const std::string prefix = composition.instances[i].name + ".";
  const contract::Contract& c = composition.contract(i);
  const contract::Scope scope = expression_scope(composition, bindings, i, {});
  InstancePlacement out;
  for (const contract::Buffer& b : c.buffers) out.buffers.push_back(solution.buffer(prefix + b.name)->offset);
  for (std::size_t r = 0; r < c.rings.size(); ++r) {
    const contract::Ring& ring = c.rings[r];
    PlacedRing placed;
    if (ring.direction == contract::Direction::kExport) {
      const place::BufferPlacement& data = *solution.buffer(prefix + ring.name);
      placed.stages = solution.ring(prefix + ring.name)->depth;
      placed.stage_bytes = data.bytes / placed.stages;
      placed.data = data.offset;
      placed.full = solution.buffer(prefix + ring.name + ".full")->offset;
      placed.empty = solution.buffer(prefix + ring.name + ".empty")->offset;
      stages[{i, r}] = placed.stages;
    }
    out.rings.push_back(placed);
  }
  for (const contract::Mbarriers& m : c.mbarriers)
    out.mbarriers.push_back(
        {solution.buffer(prefix + m.name)->offset, *contract::evaluate(m.count, scope), 0});
  for (const contract::NamedBarrier& b : c.named_barriers)
    out.named_barriers.push_back(solution.barrier(prefix + b.name)->id);
  for (const contract::TensorMemory& t : c.tensor_memory)
    out.tensor_memory.push_back(solution.columns(prefix + t.name)->column);
  for (const contract::Role& r : c.roles) out.roles.push_back(solution.role(prefix + r.name)->first_warp);
  return out;
}

PlacedTransfer place_route(const Composition& composition, const Route& route,
                           const place::Solution& solution) {
  const std::string name = route_name(composition, route);
  const transfer::Transfer& t = route.transfer;
  PlacedTransfer out;
  if (t.buffer_bytes > 0) {
    out.buffer = solution.buffer(name)->offset;
    out.group_bytes = group_bytes(t);
  }
  for (const transfer::BarrierClaim& claim : t.barriers) {
    std::vector<int> ids;
    for (int g = 0; g < t.groups; ++g)
      ids.push_back(solution.barrier(route_barrier(name, claim.name, g))->id);
    out.barriers.push_back(std::move(ids));
  }
  return out;
}

/// Arrival counts may read the placement, so they come after the depths are known. Both sides of a ring may
/// state them; the owner's word counts, else the importer's (check has compared them).
void fill_arrivals(const Composition& composition, const Bindings& bindings, Plan& plan,
                   const std::map<PortRef, std::int64_t>& stages, Diagnostics& diagnostics) {
  std::vector<contract::Scope> scopes;
  for (std::size_t i = 0; i < composition.instances.size(); ++i)
    scopes.push_back(expression_scope(composition, bindings, i, stages));
  const auto count = [&](std::size_t i, const contract::Amount& amount, const std::string& name,
                         const SourceSpan& where, const char* what) -> std::int64_t {
    const contract::Evaluation found = contract::evaluate(amount, scopes[i]);
    if (found && *found > 0 && *found < (1 << 20)) return *found;
    Diagnostic d;
    d.clause = "P-EXPRESSION";
    d.title = fmt::format("{} of {}.{} is no arrival count", what, composition.instances[i].name, name);
    d.facts.push_back(
        {composition.instances[i].name, fmt::format("{} = {}", what, contract::to_text(amount)), where});
    d.reason = found ? fmt::format("its value here is {}, an mbarrier counts 1 to {}", *found, (1 << 20) - 1)
                     : found.error;
    d.help = "state how many arrivals complete the barrier";
    diagnostics.push_back(std::move(d));
    return 1;
  };
  const auto ring_count = [&](PortRef owner, std::optional<contract::Amount> contract::Ring::*field,
                              const char* what) {
    const contract::Ring& own = composition.contract(owner.instance).rings[owner.index];
    if (own.*field) return count(owner.instance, *(own.*field), own.name, own.where, what);
    for (const Binding& b : bindings.rings) {
      if (b.exporter != owner) continue;
      const contract::Ring& other = composition.contract(b.importer.instance).rings[b.importer.index];
      if (other.*field) return count(b.importer.instance, *(other.*field), other.name, other.where, what);
    }
    return count(owner.instance, contract::Amount{}, own.name, own.where, what);
  };
  for (std::size_t i = 0; i < plan.instances.size(); ++i) {
    const contract::Contract& c = composition.contract(i);
    for (std::size_t r = 0; r < c.rings.size(); ++r) {
      if (c.rings[r].direction != contract::Direction::kExport) continue;
      plan.instances[i].rings[r].full_arrivals =
          ring_count({i, r}, &contract::Ring::full_arrivals, "full_arrivals");
      plan.instances[i].rings[r].empty_arrivals =
          ring_count({i, r}, &contract::Ring::empty_arrivals, "empty_arrivals");
    }
    for (std::size_t m = 0; m < c.mbarriers.size(); ++m)
      plan.instances[i].mbarriers[m].arrivals =
          count(i, c.mbarriers[m].arrivals, c.mbarriers[m].name, c.mbarriers[m].where, "arrivals");
  }
  for (const Binding& b : bindings.rings)
    plan.instances[b.importer.instance].rings[b.importer.index] =
        plan.instances[b.exporter.instance].rings[b.exporter.index];
}

/// Sizes may read the placement; check_amounts holds them to their bounds.
void fill_scratch(const Composition& composition, const Bindings& bindings, Plan& plan,
                  const std::map<PortRef, std::int64_t>& stages) {
  for (std::size_t i = 0; i < plan.instances.size(); ++i) {
    const contract::Contract& c = composition.contract(i);
    if (c.scratch.empty()) continue;
    const contract::Scope scope = expression_scope(composition, bindings, i, stages);
    for (const contract::Scratch& s : c.scratch) {
      const std::int64_t bytes =
          std::max<std::int64_t>(contract::evaluate(s.bytes, scope).value.value_or(0), 0);
      const auto field = std::find_if(c.parameters->fields.begin(), c.parameters->fields.end(),
                                      [&](const contract::Field& f) { return f.name == s.field; });
      plan.instances[i].scratch.push_back(
          {field->offset, s.per_block && bytes < std::int64_t{1} << 48 ? round_up(bytes, s.align) : bytes});
    }
  }
}

/// `problem` becomes what was solved.
Outcome<place::Solution> solve_guarded(place::Problem& problem, std::uint64_t limit,
                                       std::optional<GuardPlan>& guard) {
  Outcome<GuardedPlacement> placed = place_guarded(problem, limit);
  if (!placed) return placed.diagnostics;
  guard.emplace();
  guard->bands = guard_bands(placed->solution, placed->end);
  guard->shared_bytes = placed->end;
  guard->not_guarded = not_guarded(*placed, guard->bands);
  problem = std::move(placed->problem);
  return {std::move(placed->solution), std::move(placed.diagnostics)};
}

}  // namespace

Outcome<Plan> plan(const Composition& composition, const Bindings& bindings, const std::vector<Route>& routes,
                   const RegisterNeeds& needs, const RingStages& least) {
  Outcome<place::Problem> problem = placement_problem(composition, bindings, routes);
  if (!problem) return problem.diagnostics;
  for (const auto& [owned, depth] : least) {
    const std::string name = composition.instances[owned.instance].name + "." +
                             composition.contract(owned.instance).rings[owned.index].name;
    for (place::Ring& ring : problem->rings)
      if (ring.name == name)
        ring.min_depth = std::clamp(static_cast<int>(depth), ring.min_depth, ring.max_depth);
  }
  for (place::Role& role : problem->roles)
    if (const auto need = needs.find(role.name); need != needs.end())
      role.min_registers = std::clamp((need->second + 7) / 8 * 8, role.min_registers, role.max_registers);
  Plan out;
  Outcome<place::Solution> solution = composition.options.guard
                                          ? solve_guarded(*problem, composition.options.limit, out.guard)
                                          : place::solve(*problem, composition.options.limit);
  if (!solution) return solution.diagnostics;
  if (Diagnostics wrong = place::verify(*problem, *solution); has_error(wrong)) return wrong;

  Diagnostics diagnostics = solution.diagnostics;
  std::map<PortRef, std::int64_t> stages;
  for (std::size_t i = 0; i < composition.instances.size(); ++i) {
    out.instances.push_back(place_instance(composition, bindings, i, *solution, stages));
    if (const auto& region = composition.contract(i).parameters) {
      const std::int64_t align = std::max<std::int64_t>(region->align, 16);
      out.instances[i].parameters = round_up(out.parameter_bytes, align);
      out.parameter_bytes = out.instances[i].parameters + region->size;
      out.parameter_align = std::max(out.parameter_align, align);
    }
  }
  for (const Route& route : routes) out.transfers.push_back(place_route(composition, route, *solution));
  fill_arrivals(composition, bindings, out, stages, diagnostics);
  fill_scratch(composition, bindings, out, stages);
  if (has_error(diagnostics)) return diagnostics;
  if (out.guard) {
    out.guard->parameter = round_up(out.parameter_bytes, 8);
    out.parameter_bytes = out.guard->parameter + 8;
  }
  out.parameter_align = std::max(out.parameter_align, kParameterAlign);
  out.parameter_bytes = round_up(std::max<std::int64_t>(out.parameter_bytes, 1), out.parameter_align);
  out.shared_bytes = std::max<std::int64_t>(out.guard ? out.guard->shared_bytes : solution->footprint, 16);
  for (const place::Buffer& b : problem->buffers) out.shared_align = std::max(out.shared_align, b.align);
  out.threads = solution->warps * 32;
  if (const int used = solution->tensor_column_count; used > 0) {
    out.tensor_columns = std::max(32, static_cast<int>(std::bit_ceil(static_cast<unsigned>(used))));
    out.tensor_memory_word = solution->buffer(kTensorMemoryWord)->offset;
  }
  out.problem = std::move(*problem);
  out.solution = std::move(*solution);
  return {std::move(out), std::move(diagnostics)};
}

RingStages ring_stages(const Composition& composition, const Plan& plan) {
  RingStages out;
  for (std::size_t i = 0; i < composition.instances.size(); ++i)
    for (std::size_t r = 0; r < composition.contract(i).rings.size(); ++r)
      if (composition.contract(i).rings[r].direction == contract::Direction::kExport)
        out[{i, r}] = plan.instances[i].rings[r].stages;
  return out;
}

}  // namespace pipelink
