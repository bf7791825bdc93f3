#include "linker/place/proof.h"

#include <z3++.h>

#include <algorithm>
#include <set>

#include "linker/place/bound.h"
#include "linker/place/z3_units.h"

namespace pipelink::place {
// Offsets are bit vectors whose low bits are zero by alignment; every term has one spare bit against
// overflow.
Answer fits_by_z3(const Items& items, std::int64_t end, Offsets& found, Allowance allowance) {
  const std::uint64_t limit = std::min<std::uint64_t>(allowance.left(), UINT32_MAX);
  if (limit == 0) return Answer::kUnknown;
  const std::size_t n = items.count();
  unsigned width = 2;
  while ((std::int64_t{1} << (width - 1)) <= end) ++width;
  for (std::size_t i = 0; i < n; ++i)
    if (items.size[i] > end) return Answer::kNo;

  z3::context context;
  z3::solver solver = z3::tactic(context, "smt").mk_solver();
  z3::params params(context);
  params.set("rlimit", static_cast<unsigned>(limit));
  solver.set(params);
  auto number = [&](std::int64_t v) { return context.bv_val(static_cast<std::uint64_t>(v), width); };

  std::vector<z3::expr> start, stop;
  for (std::size_t i = 0; i < n; ++i) {
    unsigned zeros = 0;
    while ((std::int64_t{1} << (zeros + 1)) <= items.align[i]) ++zeros;
    if (zeros + 1 >= width) {
      start.push_back(number(0));
    } else {
      z3::expr high =
          context.constant(context.int_symbol(static_cast<int>(i)), context.bv_sort(width - zeros));
      start.push_back(zeros ? z3::concat(high, context.bv_val(0, zeros)) : high);
    }
    stop.push_back(start[i] + number(items.size[i]));
    solver.add(z3::ule(start[i], number(end - items.size[i])));
  }
  for (std::size_t i = 0; i < n; ++i) {
    bool first_twin = true;
    for (std::size_t j = i + 1; j < n; ++j) {
      if (!items.conflict[i].test(j)) continue;
      const bool twins = items.size[i] == items.size[j] && items.align[i] == items.align[j] &&
                         items.group[i] == items.group[j];
      if (twins && first_twin) {
        solver.add(z3::ule(stop[i], start[j]));
        first_twin = false;
      } else {
        solver.add(z3::ule(stop[i], start[j]) || z3::ule(stop[j], start[i]));
      }
    }
  }
  const z3::check_result result = solver.check();
  allowance.meter().units(std::max<std::uint64_t>(1, rlimit_of(solver.statistics())));
  if (result == z3::unsat) return Answer::kNo;
  if (result == z3::unknown) return Answer::kUnknown;
  const z3::model model = solver.get_model();
  found.assign(n, 0);
  for (std::size_t i = 0; i < n; ++i)
    found[i] = static_cast<std::int64_t>(model.eval(start[i], true).get_numeral_uint64());
  return Answer::kYes;
}

// One selector for each item: an item that is not selected lies nowhere. Integers here: the solvers that bit
// vectors come to do not minimise cores.
bool core_by_z3(const Items& items, std::int64_t end, std::vector<int>& core, Allowance allowance) {
  const std::uint64_t limit = std::min<std::uint64_t>(allowance.left(), UINT32_MAX);
  if (limit == 0) return false;
  const int n = static_cast<int>(items.count());
  z3::context context;
  z3::solver solver(context, "QF_LIA");
  z3::params params(context);
  params.set("rlimit", static_cast<unsigned>(limit));
  params.set("unsat_core", true);
  params.set("core.minimize", true);
  solver.set(params);
  const auto number = [&](std::int64_t v) { return context.int_val(v); };
  z3::expr_vector selected(context);
  std::vector<z3::expr> start, stop;
  for (int i = 0; i < n; ++i) {
    selected.push_back(context.constant(context.int_symbol(2 * i), context.bool_sort()));
    start.push_back(number(items.align[i]) *
                    context.constant(context.int_symbol(2 * i + 1), context.int_sort()));
    stop.push_back(start[i] + number(items.size[i]));
    solver.add(z3::implies(selected[i], start[i] >= 0 && stop[i] <= number(end)));
    for (int j = 0; j < i; ++j)
      if (items.conflict[i].test(j))
        solver.add(z3::implies(selected[i] && selected[j], stop[i] <= start[j] || stop[j] <= start[i]));
  }
  const z3::check_result result = solver.check(selected);
  allowance.meter().units(std::max<std::uint64_t>(1, rlimit_of(solver.statistics())));
  if (result != z3::unsat) return false;
  std::set<unsigned> kept;
  for (const z3::expr& selector : solver.unsat_core()) kept.insert(selector.id());
  core.clear();
  for (int i = 0; i < n; ++i)
    if (kept.count(selected[i].id())) core.push_back(i);
  return true;
}

}  // namespace pipelink::place
