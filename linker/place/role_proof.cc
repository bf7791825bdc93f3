#include "linker/place/role_proof.h"

#include <z3++.h>

#include <algorithm>
#include <tuple>

#include "linker/place/z3_units.h"

namespace pipelink::place {
namespace {

constexpr int kGrain = 8, kGroupWarps = 4, kMostRegisters = 248, kLeastRegisters = 24;

int cap(int least, int most) {
  return std::max(least, std::min(most, kMostRegisters)) / kGrain;
}

}  // namespace

RoleAnswer roles_by_z3(const RoleQuestion& q, Allowance allowance) {
  RoleAnswer result;
  const std::uint64_t limit = std::min<std::uint64_t>(allowance.left(), UINT32_MAX);
  if (limit == 0) return result;
  z3::context context;
  z3::solver solver = z3::tactic(context, "smt").mk_solver();
  z3::params params(context);
  params.set("rlimit", static_cast<unsigned>(limit));
  solver.set(params);

  const int bins = static_cast<int>(q.bins.size()), roles = static_cast<int>(q.roles.size());
  int names = 0;
  std::vector<z3::expr> budget;  // in units of 8
  z3::expr sum = context.int_val(0);
  for (const RoleBin& bin : q.bins) {
    budget.push_back(context.constant(context.int_symbol(names++), context.int_sort()));
    solver.add(budget.back() >= std::max({bin.least, q.smallest, kLeastRegisters}) / kGrain);
    sum = sum + bin.groups * budget.back();
  }
  solver.add(sum <= q.pool / kGrain);
  solver.add(sum >= q.sum / kGrain);

  struct Choice {
    int role, bin, at;
    z3::expr taken;
  };
  // In an empty warpgroup, roles that are not aligned fit as long as their warps do: no need to say where.
  const bool anywhere =
      std::all_of(q.roles.begin(), q.roles.end(), [](const Role& r) { return r.align_warps == 1; });
  const auto free_order = [&](int b) { return anywhere && q.bins[b].mask == 0; };
  std::vector<Choice> choices;
  std::vector<std::vector<z3::expr>> in_bin(roles, std::vector<z3::expr>(bins, context.bool_val(false)));
  for (int r = 0; r < roles; ++r) {
    const Role& role = q.roles[r];
    z3::expr_vector any(context);
    for (int b = 0; b < bins; ++b)
      for (int at = 0; at + role.warps <= kGroupWarps; at += role.align_warps) {
        if (q.bins[b].mask & (((1 << role.warps) - 1) << at)) continue;
        const z3::expr taken = context.constant(context.int_symbol(names++), context.bool_sort());
        any.push_back(taken);
        choices.push_back({r, b, at, taken});
        in_bin[r][b] = in_bin[r][b] || taken;
        solver.add(z3::implies(taken, budget[b] >= role.min_registers / kGrain));
        if (free_order(b)) break;
      }
    if (any.empty()) {
      result.answer = Answer::kNo;
      return result;
    }
    solver.add(z3::mk_or(any));
    solver.add(z3::atmost(any, 1));
  }
  // Of like roles, the first lies first; of like warpgroups, the first has most.
  const auto alike = [](const Role& a, const Role& b) {
    return std::tuple(a.warps, a.align_warps, a.min_registers, a.max_registers) ==
           std::tuple(b.warps, b.align_warps, b.min_registers, b.max_registers);
  };
  for (int r = 0; r + 1 < roles; ++r) {
    if (!alike(q.roles[r], q.roles[r + 1])) continue;
    z3::expr before = context.bool_val(false);
    for (int b = 0; b < bins; ++b) {
      before = before || in_bin[r][b];
      solver.add(z3::implies(in_bin[r + 1][b], before));
    }
  }
  for (int b = 0; b + 1 < bins; ++b)
    if (q.bins[b].most == 0 && q.bins[b + 1].most == 0) solver.add(budget[b] >= budget[b + 1]);
  for (int b = 0; b < bins; ++b) {
    z3::expr_vector allows(context);
    allows.push_back(budget[b] <=
                     (q.bins[b].most ? cap(q.bins[b].least, q.bins[b].most) : kLeastRegisters / kGrain));
    if (free_order(b)) {
      z3::expr_vector users(context);
      std::vector<int> warps;
      for (const Choice& c : choices)
        if (c.bin == b) {
          users.push_back(c.taken);
          warps.push_back(q.roles[c.role].warps);
        }
      if (!warps.empty()) solver.add(z3::pble(users, warps.data(), kGroupWarps));
    }
    for (int warp = 0; !free_order(b) && warp < kGroupWarps; ++warp) {
      z3::expr_vector users(context);
      for (const Choice& c : choices)
        if (c.bin == b && c.at <= warp && warp < c.at + q.roles[c.role].warps) users.push_back(c.taken);
      if (users.size() > 1) solver.add(z3::atmost(users, 1));
    }
    for (const Choice& c : choices)
      if (c.bin == b)
        allows.push_back(c.taken &&
                         budget[b] <= cap(q.roles[c.role].min_registers, q.roles[c.role].max_registers));
    solver.add(z3::mk_or(allows));
  }
  const z3::check_result check = solver.check();
  allowance.meter().units(std::max<std::uint64_t>(1, rlimit_of(solver.statistics())));
  if (check == z3::unsat) result.answer = Answer::kNo;
  if (check != z3::sat) return result;
  result.answer = Answer::kYes;
  const z3::model model = solver.get_model();
  result.at.assign(roles, {0, 0});
  std::vector<int> used(bins, 0);
  for (const Choice& c : choices)
    if (model.eval(c.taken, true).is_true()) {
      result.at[c.role] = {c.bin, free_order(c.bin) ? used[c.bin] : c.at};
      used[c.bin] += q.roles[c.role].warps;
    }
  for (const z3::expr& b : budget) result.budget.push_back(model.eval(b, true).get_numeral_int() * kGrain);
  return result;
}

}  // namespace pipelink::place
