#include "linker/measure.h"

#include <fmt/format.h>

#include <algorithm>

#include "linker/codegen/glue.h"

namespace pipelink {
namespace {

constexpr int kGrain = 8, kLeast = 24, kMost = 248;  // of setmaxnreg

}  // namespace

Outcome<std::vector<MeasuredNeed>> measure_registers(Toolchain& toolchain, const Checked& checked,
                                                     LowerRequest request) {
  std::vector<MeasuredNeed> needs;
  for (std::size_t i = 0; i < checked.composition.instances.size(); ++i)
    for (std::size_t k = 0; k < checked.composition.contract(i).roles.size(); ++k) {
      MeasuredNeed need{
          {i, k},
          checked.composition.instances[i].name + "." + checked.composition.contract(i).roles[k].name,
          0};
      Outcome<std::string> text =
          glue(checked.composition, checked.bindings, checked.plan, checked.routes, &need.role);
      if (!text) return text.diagnostics;
      request.glue = std::move(*text);
      int low = kLeast, high = kMost + kGrain;  // `high` does not spill, or is beyond what there is
      while (low < high) {
        request.max_registers = (low + high) / 2 / kGrain * kGrain;
        Outcome<Lowered> lowered = toolchain.lower(request);
        if (!lowered) return lowered.diagnostics;
        if (spills(lowered->log))
          low = request.max_registers + kGrain;
        else
          high = request.max_registers;
      }
      if (high <= kMost) need.registers = high;
      needs.push_back(std::move(need));
    }
  return needs;
}

Diagnostic registers_do_not_fit(const Checked& checked, const std::vector<MeasuredNeed>& needs,
                                const std::string& tried, const Diagnostics& spilled) {
  Diagnostic d;
  d.clause = "L-REGS";
  d.title = "the registers do not suffice, as measured";
  const place::Solution& solution = checked.plan.solution;
  std::vector<const MeasuredNeed*> order;
  for (const MeasuredNeed& need : needs) order.push_back(&need);
  const auto amount = [](const MeasuredNeed& need) {
    return need.registers == 0 ? kMost + kGrain : need.registers;
  };
  std::stable_sort(order.begin(), order.end(),
                   [&](const MeasuredNeed* a, const MeasuredNeed* b) { return amount(*a) > amount(*b); });
  std::string way_out;
  for (const MeasuredNeed* need : order) {
    const contract::Role& role = checked.composition.contract(need->role.instance).roles[need->role.index];
    d.facts.push_back(
        {checked.composition.instances[need->role.instance].name,
         fmt::format(
             "role {} needs {} registers per thread, or it spills (measured); its contract allows {} to {}, "
             "and it had {}",
             need->name,
             need->registers == 0 ? fmt::format("more than {}", kMost) : fmt::format("{}", need->registers),
             role.registers_min, role.registers_max, solution.role(need->name)->registers),
         role.where});
    if (way_out.empty() && need->registers > role.registers_max)
      way_out = fmt::format("raise registers.max of role {} to {} or more", need->name, need->registers);
    if (way_out.empty() && need->registers == 0)
      way_out = fmt::format("give role {} less to keep alive", need->name);
  }
  for (const Diagnostic& s : spilled)
    for (const LabelledFact& fact : s.facts)
      if (fact.owner == "ptxas") d.facts.push_back(fact);
  const std::size_t groups = solution.warpgroup_registers.size();
  d.reason = fmt::format("the pool is {} warpgroup{} x {} = {} registers per thread; {}", groups,
                         groups == 1 ? "" : "s", solution.entry_registers,
                         static_cast<int>(groups) * solution.entry_registers, tried);
  d.help =
      way_out.empty() ? "give the roles that need most less to keep alive, or use fewer warpgroups" : way_out;
  return d;
}

}  // namespace pipelink
