#include "linker/place/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "linker/place/barriers.h"
#include "linker/place/canonical.h"
#include "linker/place/depths.h"
#include "linker/place/pack.h"

namespace pipelink::place {
namespace {

constexpr std::uint64_t kCoreUnits = 200'000;  // for one question of the deletion

Diagnostic error(std::string clause, std::string title) {
  Diagnostic d;
  d.clause = std::move(clause);
  d.title = std::move(title);
  return d;
}

// Leaves out what is not needed: `still(set)` says whether a set is still impossible.
template <class F>
void remove_needless(std::vector<int>& set, F&& still) {
  for (std::size_t k = set.size(); k-- > 0;) {
    std::vector<int> less = set;
    less.erase(less.begin() + static_cast<std::ptrdiff_t>(k));
    if (still(less)) set = std::move(less);
  }
}

template <class T>
std::vector<LabelledFact> claim_facts(const std::vector<T>& claims, const std::vector<int>& which,
                                      std::string_view what) {
  std::vector<LabelledFact> facts;
  for (int i : which)
    facts.push_back({claims[i].owner,
                     fmt::format("{} {}, {}", what, claims[i].name, lifetime_text(claims[i])),
                     claims[i].where});
  return facts;
}

}  // namespace

Core minimal_core(const Items& items, std::int64_t end, Allowance allowance) {
  Core core;
  const Cut cut = strongest_cut(items, Allowance(allowance.meter(), allowance.left() / 2), end);
  std::vector<int> set;
  auto by_size = [&] {
    std::stable_sort(set.begin(), set.end(), [&](int a, int b) { return items.size[a] > items.size[b]; });
  };
  if (cut.value > end) {
    core.clique = true;
    set = cut.members;
    by_size();
    auto value = [&](const std::vector<int>& members) {
      std::int64_t total = 0;
      for (int i : members) total += cut_weight(items.size[i], items.align[i], cut.modulus, cut.residue);
      return cut_value(total, cut.modulus, cut.residue);
    };
    remove_needless(set, [&](const std::vector<int>& less) { return value(less) > end; });
    core.need = value(set) * items.unit;
  } else {
    set.resize(items.count());
    std::iota(set.begin(), set.end(), 0);
    by_size();
    remove_needless(set, [&](const std::vector<int>& less) {
      const Packed packed = pack(subset(items, less), end, {},
                                 Allowance(allowance.meter(), std::min(kCoreUnits, allowance.left())));
      if (packed.answer == Answer::kUnknown) core.minimal = false;
      return packed.answer == Answer::kNo;
    });
    core.need = (end + 1) * items.unit;
  }
  core.items = set;
  return core;
}

std::vector<LabelledFact> buffer_facts(const Problem& problem, const std::vector<std::int64_t>& bytes,
                                       const std::vector<int>& core) {
  std::vector<LabelledFact> facts;
  for (int i : core) {
    const Buffer& b = problem.buffers[i];
    std::string text = fmt::format("{} takes {} bytes", b.name, bytes[i]);
    if (b.stage_bytes)
      text += fmt::format(" ({} stages of {} bytes of ring {})", (bytes[i] - b.bytes) / b.stage_bytes,
                          b.stage_bytes, b.ring);
    facts.push_back(
        {b.owner, fmt::format("{}, aligned to {}, {}", text, b.align, lifetime_text(b)), b.where});
  }
  return facts;
}

Diagnostic shared_too_small(const Problem& problem, const Conflicts& conflicts,
                            const std::vector<int>& depths, Meter& meter) {
  Diagnostic d = error("L-SMEM", "the shared memory does not suffice");
  const std::int64_t capacity = shared_capacity(problem.target);
  const Items items = shared_items(problem, conflicts, depths);
  const std::vector<std::int64_t> bytes = buffer_bytes(problem, depths);
  const Core core = minimal_core(items, capacity / items.unit, Allowance(meter, meter.limit() / 4 + 1));
  d.facts = buffer_facts(problem, bytes, core.items);
  std::int64_t sum = 0;
  for (int i : core.items) sum += bytes[i];
  const char* deepest = problem.rings.empty() ? "" : ", with every ring at its least depth";
  if (core.clique && sum > capacity)
    d.reason = fmt::format("no two of these {} claims may share bytes, and they sum to {} of {} bytes{}",
                           core.items.size(), sum, capacity, deepest);
  else if (core.clique)
    d.reason = fmt::format(
        "no two of these {} claims may share bytes; they sum to {} and with their alignments need {} of {} "
        "bytes{}",
        core.items.size(), sum, core.need, capacity, deepest);
  else
    d.reason = fmt::format(
        "no placement of these {} claims, {} bytes in all, fits {} bytes{}; {}", core.items.size(), sum,
        capacity, deepest,
        core.minimal ? "without any one of them there is one" : "not all of them may be needed for that");
  return d;
}

Diagnostic columns_too_few(const Problem& problem, const Conflicts& conflicts, Meter& meter) {
  Diagnostic d = error("L-COLUMNS", "the tensor-memory columns do not suffice");
  std::vector<std::int64_t> columns;
  for (const TensorColumns& t : problem.tensor_columns) columns.push_back(t.columns);
  const Items items = make_items(conflicts, columns, std::vector<std::int64_t>(columns.size(), 32));
  const Core core = minimal_core(items, problem.target.tensor_columns / items.unit,
                                 Allowance(meter, meter.limit() / 4 + 1));
  std::int64_t sum = 0;
  for (int i : core.items) {
    const TensorColumns& t = problem.tensor_columns[i];
    sum += t.columns;
    d.facts.push_back(
        {t.owner, fmt::format("{} takes {} columns, {}", t.name, t.columns, lifetime_text(t)), t.where});
  }
  d.reason = core.clique
                 ? fmt::format("no two of these {} claims may share columns, and they sum to {} of {}",
                               core.items.size(), sum, problem.target.tensor_columns)
                 : fmt::format("no placement of these {} claims fits {} columns", core.items.size(),
                               problem.target.tensor_columns);
  return d;
}

Diagnostic barriers_too_few(const Problem& problem, const Conflicts& conflicts, Meter& meter) {
  Diagnostic d = error("L-BARRIERS", "the hardware barriers do not suffice");
  const std::size_t most = static_cast<std::size_t>(problem.target.named_barriers);
  const Colouring all = fewest_colours(conflicts.of, Allowance(meter, meter.limit() / 8 + 1));
  if (all.clique.size() > most) {
    std::vector<int> set(all.clique.begin(), all.clique.begin() + static_cast<std::ptrdiff_t>(most) + 1);
    d.facts = claim_facts(problem.barriers, set, "named barrier");
    d.reason = fmt::format("no two of these {} named barriers may share an id, and there are {} ids",
                           set.size(), most);
    return d;
  }
  std::vector<int> set(problem.barriers.size());
  std::iota(set.begin(), set.end(), 0);
  remove_needless(set, [&](const std::vector<int>& less) {
    std::vector<Bits> part(less.size(), Bits(less.size()));
    for (std::size_t i = 0; i < less.size(); ++i)
      for (std::size_t j = 0; j < less.size(); ++j)
        if (conflicts.of[less[i]].test(less[j])) part[i].set(j);
    return fewest_colours(part, Allowance(meter, kCoreUnits)).bound > static_cast<int>(most);
  });
  d.facts = claim_facts(problem.barriers, set, "named barrier");
  d.reason =
      fmt::format("these {} named barriers need more than the {} ids, however they share", set.size(), most);
  return d;
}

Diagnostic warps_too_few(const Problem& problem) {
  Diagnostic d = error("L-WARPS", "the warps do not fit a block");
  const Target& target = problem.target;
  std::vector<int> set(problem.roles.size());
  std::iota(set.begin(), set.end(), 0);
  std::stable_sort(set.begin(), set.end(),
                   [&](int a, int b) { return problem.roles[a].warps > problem.roles[b].warps; });
  remove_needless(set, [&](const std::vector<int>& less) {
    Problem part;
    part.target = target;
    for (int i : less) part.roles.push_back(problem.roles[i]);
    std::sort(part.roles.begin(), part.roles.end(),
              [](const Role& a, const Role& b) { return a.name < b.name; });
    Meter meter(1'000'000);
    return place_roles(part, meter).answer == WarpAnswer::kTooManyWarps;
  });
  int sum = 0;
  for (int i : set) {
    const Role& r = problem.roles[i];
    sum += r.warps;
    d.facts.push_back({r.owner,
                       fmt::format("role {} has {} warps{}", r.name, r.warps,
                                   r.align_warps == 4 ? ", aligned to a warpgroup" : ""),
                       r.where});
  }
  d.reason = fmt::format("these {} roles have {} warps and, aligned, need more than the {} warps of a block",
                         set.size(), sum, target.max_warps / 4 * 4);
  return d;
}

Diagnostic registers_too_few(const Problem& problem, const WarpPlan& plan) {
  Diagnostic d = error("L-REGS", "the registers do not suffice");
  for (const Role& r : problem.roles)
    d.facts.push_back({r.owner,
                       fmt::format("role {} has {} warps and needs at least {} registers per thread", r.name,
                                   r.warps, r.min_registers),
                       r.where});
  std::string minima;
  int sum = 0;
  for (int m : plan.minima) {
    minima += fmt::format("{}{}", minima.empty() ? "" : " + ", m);
    sum += m;
  }
  const int groups = static_cast<int>(plan.minima.size());
  d.reason = fmt::format(
      "{} warpgroups of 128 threads start with {} registers per thread each, {} in all; their minima are {} "
      "= {}",
      groups, plan.entry, groups * plan.entry, minima, sum);
  return d;
}

}  // namespace pipelink::place
