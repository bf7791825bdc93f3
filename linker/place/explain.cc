#include "linker/place/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "linker/place/canonical.h"
#include "linker/place/core.h"
#include "linker/place/depths.h"
#include "linker/place/relation.h"
#include "linker/place/solve.h"
#include "linker/place/warps.h"

namespace pipelink::place {

Explanation why_not_deeper(const Problem& given, const Solution& solution, std::string_view ring_name) {
  Explanation e;
  const Problem problem = canonical(given);
  const int ring = find_sorted(problem.rings, ring_name);
  if (ring < 0 || solution.rings.size() != problem.rings.size()) {
    e.text = fmt::format("there is no ring {}", ring_name);
    return e;
  }
  const int depth = solution.rings[ring].depth;
  if (depth >= problem.rings[ring].max_depth) {
    e.text = fmt::format("ring {} has its greatest depth, {}", ring_name, depth);
    return e;
  }
  // The depths at the moment the step was refused: the steps before it that were taken.
  std::vector<int> depths;
  for (const Ring& r : problem.rings) depths.push_back(r.min_depth);
  for (const Step& step : steps_of(problem)) {
    if (step.ring == ring && step.depth == depth + 1) break;
    if (step.depth <= solution.rings[step.ring].depth) depths[step.ring] = step.depth;
  }
  depths[ring] = depth + 1;
  Meter meter(kDefaultLimit);
  const Conflicts shared = conflicts(Lifetimes(problem), problem.buffers);
  const Items items = shared_items(problem, shared, depths);
  const std::int64_t capacity = shared_capacity(problem.target);
  const Packed packed = pack(items, capacity / items.unit, {}, Allowance(meter, meter.limit() / 2));
  std::string others;
  for (std::size_t r = 0; r < problem.rings.size(); ++r)
    if (static_cast<int>(r) != ring)
      others += fmt::format("{}{}={}", others.empty() ? "" : " ", problem.rings[r].name, depths[r]);
  const std::string with = others.empty() ? "" : fmt::format(" (with {})", others);
  if (packed.answer != Answer::kNo) {
    e.proven = false;
    e.text = fmt::format("no placement with ring {} at depth {}{} was found within the work limit", ring_name,
                         depth + 1, with);
    return e;
  }
  const Core core = minimal_core(items, capacity / items.unit, Allowance(meter, meter.left()));
  const std::vector<std::int64_t> bytes = buffer_bytes(problem, depths);
  std::int64_t sum = 0;
  for (int i : core.items) sum += bytes[i];
  e.facts = buffer_facts(problem, bytes, core.items);
  e.text = fmt::format("at depth {}{}, {}", depth + 1, with, core_text(core, sum, capacity, ""));
  return e;
}

Explanation why_not_larger(const Problem& given, const Solution& solution, std::string_view role_name) {
  Explanation e;
  const Problem problem = canonical(given);
  const int index = find_sorted(problem.roles, role_name);
  const RolePlacement* at = solution.role(role_name);
  if (index < 0 || at == nullptr) {
    e.text = fmt::format("there is no role {}", role_name);
    return e;
  }
  const Role& role = problem.roles[index];
  const int groups = static_cast<int>(solution.warpgroup_registers.size());
  const int pool = groups * solution.entry_registers;
  if (at->registers >= std::min(role.max_registers, 248)) {
    e.text = at->registers > role.max_registers
                 ? fmt::format(
                       "role {} has {} registers per thread, more than its greatest budget of {}, as a role "
                       "beside it needs them",
                       role_name, at->registers, role.max_registers)
                 : fmt::format("role {} has its greatest budget, {} registers per thread", role_name,
                               at->registers);
    return e;
  }
  // What everyone has, and what each could be brought down to.
  std::string budgets;
  int sum = 0;
  for (int g = 0; g < groups; ++g) {
    const int budget = solution.warpgroup_registers[g];
    budgets += fmt::format("{}{}", g ? " + " : "", budget);
    sum += budget;
  }
  const int width = std::max(1, (role.warps + 3) / 4);
  for (const Role& other : problem.roles) {
    if (other.name == role.name) continue;
    const RolePlacement& placed = *solution.role(other.name);
    e.facts.push_back(
        {other.owner,
         fmt::format("role {} has {} registers per thread, {} to {} allowed, in {} warps", other.name,
                     placed.registers, other.min_registers, other.max_registers, other.warps),
         other.where});
  }
  std::stable_sort(e.facts.begin(), e.facts.end(),
                   [](const LabelledFact& a, const LabelledFact& b) { return a.owner < b.owner; });
  Problem more = problem;
  more.roles[index].min_registers = at->registers + 8;
  Meter meter(kDefaultLimit);
  const WarpPlan plan = place_roles(more, meter);
  const std::string have = fmt::format("the budgets {} = {} use the pool of {} x {} = {} but for {}", budgets,
                                       sum, groups, solution.entry_registers, pool, pool - sum);
  if (plan.answer == WarpAnswer::kTooManyRegisters)
    e.text = fmt::format(
        "with {} registers per thread for role {}, the least budgets of the others leave too few: {}; 8 "
        "more in {} warpgroup{} are {}",
        at->registers + 8, role_name, have, width, width == 1 ? "" : "s", 8 * width);
  else if (plan.answer == WarpAnswer::kPlaced)
    e.text = fmt::format(
        "{} registers per thread for role {} would fit, but other roles would get less, and the smallest "
        "budget and then the sum count first: {}",
        at->registers + 8, role_name, have);
  else {
    e.proven = false;
    e.text =
        fmt::format("no assignment with {} registers per thread for role {} was found within the work limit",
                    at->registers + 8, role_name);
  }
  return e;
}

}  // namespace pipelink::place
