#include "linker/place/solve.h"

#include <numeric>

#include "linker/place/barriers.h"
#include "linker/place/canonical.h"
#include "linker/place/depths.h"
#include "linker/place/pack.h"
#include "linker/place/refusal.h"
#include "linker/place/relation.h"
#include "linker/place/warps.h"

namespace pipelink::place {
namespace {

// Barriers, columns, roles and shared memory do not depend on each other: four solvers, one meter.
class Solver {
 public:
  Solver(const Problem& problem, std::uint64_t limit)
      : p_(canonical(problem)), lifetimes_(p_), meter_(limit) {}

  Outcome<Solution> run() {
    roles();
    barriers();
    columns();
    shared();
    if (has_error(errors_)) return errors_;
    s_.rlimit_used = std::min(meter_.used(), meter_.limit());
    s_.rlimit_limit = meter_.limit();
    s_.objectives = {depths_, registers_, footprint_, columns_, barriers_};
    for (const Objective& o : s_.objectives) s_.optimal = s_.optimal && o.proven;
    s_.gap_bytes = footprint_.value - footprint_.bound;
    return s_;
  }

 private:
  void unknown(const std::string& what) { errors_.push_back(not_decided(what, meter_.limit())); }

  static Objective objective(std::string name, std::int64_t value, std::int64_t bound) {
    return {std::move(name), value == bound, value, bound};
  }

  void roles() {
    WarpPlan plan = place_roles(p_, meter_);
    if (plan.answer == WarpAnswer::kTooManyWarps) errors_.push_back(warps_too_few(p_));
    if (plan.answer == WarpAnswer::kTooManyRegisters) errors_.push_back(registers_too_few(p_));
    if (plan.answer == WarpAnswer::kUnknown) unknown("an assignment of roles to warpgroups");
    s_.roles = std::move(plan.roles);
    s_.warpgroup_registers = std::move(plan.budgets);
    s_.warps = static_cast<int>(s_.warpgroup_registers.size()) * 4;
    s_.entry_registers = plan.entry;
    const int sum = std::accumulate(s_.warpgroup_registers.begin(), s_.warpgroup_registers.end(), 0);
    registers_ = objective("registers", sum, sum);
    registers_.proven = plan.proven;
    if (!plan.proven)
      registers_.bound = std::int64_t{plan.entry} * static_cast<int>(s_.warpgroup_registers.size());
  }

  void barriers() {
    const Conflicts relation = conflicts(lifetimes_, p_.barriers);
    const Colouring c = fewest_colours(relation.of, Allowance(meter_, meter_.limit() / 8));
    barriers_ = objective("barriers", c.count, c.bound);
    if (c.bound > p_.target.named_barriers) {
      errors_.push_back(barriers_too_few(p_, relation));
    } else if (c.count > p_.target.named_barriers) {
      unknown("a numbering of the named barriers");
    } else {
      for (std::size_t i = 0; i < p_.barriers.size(); ++i)
        s_.barriers.push_back({p_.barriers[i].name, c.colour[i] + 1});
      s_.barrier_count = c.count;
    }
  }

  void columns() {
    columns_ = objective("columns", 0, 0);
    if (p_.tensor_columns.empty()) return;
    const Conflicts relation = conflicts(lifetimes_, p_.tensor_columns);
    std::vector<std::int64_t> size;
    for (const TensorColumns& t : p_.tensor_columns) size.push_back(t.columns);
    const Items items = make_items(relation, size, std::vector<std::int64_t>(size.size(), 32));
    const Packed packed =
        pack(items, column_capacity(p_.target) / items.unit, {}, Allowance(meter_, meter_.limit() / 8));
    if (packed.answer == Answer::kNo) errors_.push_back(columns_too_few(p_, relation));
    if (packed.answer == Answer::kUnknown) unknown("a placement of the tensor-memory columns");
    if (packed.answer != Answer::kYes) return;
    const Tightest t = tighten(items, packed.offset, Allowance(meter_, meter_.limit() / 8));
    for (std::size_t i = 0; i < size.size(); ++i)
      s_.tensor_columns.push_back({p_.tensor_columns[i].name, static_cast<int>(t.offset[i] * items.unit),
                                   p_.tensor_columns[i].columns});
    s_.tensor_column_count = static_cast<int>(t.footprint * items.unit);
    columns_ = objective("columns", s_.tensor_column_count, t.bound * items.unit);
  }

  void shared() {
    const Conflicts relation = conflicts(lifetimes_, p_.buffers);
    s_.capacity = shared_capacity(p_.target);
    const Depths chosen = choose_depths(p_, relation, meter_);
    if (chosen.answer == Answer::kNo) errors_.push_back(shared_too_small(p_, relation, chosen.depths));
    if (chosen.answer == Answer::kUnknown)
      unknown("a placement of the buffers, with every ring at its least depth,");
    if (chosen.answer != Answer::kYes) return;
    std::int64_t sum = 0, bound = 0;
    for (std::size_t r = 0; r < p_.rings.size(); ++r) {
      s_.rings.push_back({p_.rings[r].name, chosen.depths[r]});
      sum += chosen.depths[r];
      bound += chosen.bound[r];
    }
    depths_ = objective("depths", sum, bound);
    depths_.proven = chosen.proven;
    footprint_ = objective("footprint", 0, 0);
    if (p_.buffers.empty()) return;
    const Items items = shared_items(p_, relation, chosen.depths);
    const Tightest t = tighten(items, chosen.offset, Allowance(meter_, meter_.left()));
    for (std::size_t i = 0; i < p_.buffers.size(); ++i)
      s_.buffers.push_back({p_.buffers[i].name, t.offset[i] * items.unit, items.size[i] * items.unit});
    s_.footprint = t.footprint * items.unit;
    footprint_ = objective("footprint", s_.footprint, t.bound * items.unit);
  }

  const Problem p_;
  const Lifetimes lifetimes_;
  Meter meter_;
  Solution s_;
  Diagnostics errors_;
  Objective depths_, registers_, footprint_, columns_, barriers_;
};

}  // namespace

Outcome<Solution> solve(const Problem& problem, std::uint64_t limit) {
  if (Diagnostics errors = validate(problem); has_error(errors)) return errors;
  return Solver(problem, limit).run();
}

}  // namespace pipelink::place
