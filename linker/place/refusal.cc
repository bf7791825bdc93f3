#include "linker/place/refusal.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "linker/place/barriers.h"
#include "linker/place/canonical.h"
#include "linker/place/core.h"
#include "linker/place/depths.h"
#include "linker/place/pack.h"

namespace pipelink::place {
namespace {

constexpr std::uint64_t kQuestionUnits = 1'600'000;  // for one question of a deletion or a way out

Diagnostic error(std::string clause, std::string title) {
  Diagnostic d;
  d.clause = std::move(clause);
  d.title = std::move(title);
  return d;
}

template <class T>
std::string names(const std::vector<T>& claims, const std::vector<int>& which) {
  std::string text;
  for (int i : which) text += (text.empty() ? "" : ", ") + claims[i].name;
  return text;
}

// Those of `which` that are always live, and so share with nothing.
template <class T>
std::vector<int> always_live(const std::vector<T>& claims, const std::vector<int>& which) {
  std::vector<int> result;
  for (int i : which)
    if (claims[i].live.empty()) result.push_back(i);
  std::sort(result.begin(), result.end());
  return result;
}

// A ring of the core with fewer stages than its least depth, so that everything fits: tried.
std::string shallower_ring(const Problem& problem, const Conflicts& conflicts, const std::vector<int>& depths,
                           const Core& core, Meter& meter) {
  std::vector<bool> in_core(problem.rings.size());
  for (int i : core.items)
    if (problem.buffers[i].stage_bytes) in_core[find_sorted(problem.rings, problem.buffers[i].ring)] = true;
  for (std::size_t r = 0; r < depths.size(); ++r) {
    if (!in_core[r]) continue;
    std::vector<int> less = depths;
    while (--less[r] >= 1) {
      const Items items = shared_items(problem, conflicts, less);
      const Packed packed =
          pack(items, shared_capacity(problem.target) / items.unit, {}, Allowance(meter, kQuestionUnits));
      if (packed.answer == Answer::kYes)
        return fmt::format("with stages from {} instead of {} for ring {} everything fits", less[r],
                           depths[r], problem.rings[r].name);
    }
  }
  return {};
}

// A buffer of the core with fewer bytes, so that everything fits: tried, the largest first.
std::string smaller_buffer(const Problem& problem, const Conflicts& conflicts, const std::vector<int>& depths,
                           const Core& core, std::int64_t excess, Meter& meter) {
  std::vector<int> order = core.items;
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return problem.buffers[a].bytes > problem.buffers[b].bytes; });
  for (int i : order) {
    const Buffer& buffer = problem.buffers[i];
    const std::int64_t bytes = (buffer.bytes - excess) / buffer.align * buffer.align;
    if (buffer.stage_bytes || bytes <= 0) continue;
    Problem changed = problem;
    changed.buffers[i].bytes = bytes;
    const Items items = shared_items(changed, conflicts, depths);
    const Packed packed =
        pack(items, shared_capacity(problem.target) / items.unit, {}, Allowance(meter, kQuestionUnits));
    if (packed.answer == Answer::kYes)
      return fmt::format("with {} bytes instead of {} for {} everything fits", bytes, buffer.bytes,
                         buffer.name);
  }
  return {};
}

}  // namespace

Diagnostic shared_too_small(const Problem& problem, const Conflicts& conflicts,
                            const std::vector<int>& depths) {
  Diagnostic d = error("L-SMEM", "the shared memory does not suffice");
  Meter meter(kExplainUnits);
  const std::int64_t capacity = shared_capacity(problem.target);
  const Items items = shared_items(problem, conflicts, depths);
  const std::vector<std::int64_t> bytes = buffer_bytes(problem, depths);
  const Core core = minimal_core(items, capacity / items.unit, Allowance(meter, meter.left()));
  d.facts = buffer_facts(problem, bytes, core.items);
  std::int64_t sum = 0;
  for (int i : core.items) sum += bytes[i];
  std::string after = problem.rings.empty() ? "" : ", with every ring at its least depth";
  if (problem.target.blocks_per_sm > 1)
    after += fmt::format(", with {} blocks per SM", problem.target.blocks_per_sm);
  d.reason = core_text(core, sum, capacity, after);

  const std::int64_t excess = std::max(sum, core.need) - capacity;
  const std::vector<int> always = always_live(problem.buffers, core.items);
  Meter trials(kExplainUnits);
  d.help = shallower_ring(problem, conflicts, depths, core, trials);
  if (d.help.empty()) d.help = smaller_buffer(problem, conflicts, depths, core, excess, trials);
  if (d.help.empty()) d.help = "make these claims smaller";
  if (core.items.size() > 1 && !always.empty())
    d.help += fmt::format(", or state in which phases {} {} live, so that bytes can be shared",
                          names(problem.buffers, always), always.size() == 1 ? "is" : "are");
  return d;
}

namespace {

// A claim of the core with half its columns or less, so that everything fits: tried, the largest first.
std::string fewer_columns(const Problem& problem, const Conflicts& conflicts,
                          const std::vector<std::int64_t>& columns, const Core& core) {
  std::vector<int> order = core.items;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return columns[a] > columns[b]; });
  Meter meter(kExplainUnits);
  for (int i : order) {
    std::vector<std::int64_t> less = columns;
    while ((less[i] /= 2) >= 32) {
      const Items items = make_items(conflicts, less, std::vector<std::int64_t>(less.size(), 32));
      const Packed packed =
          pack(items, column_capacity(problem.target) / items.unit, {}, Allowance(meter, kQuestionUnits));
      if (packed.answer == Answer::kYes)
        return fmt::format("with {} columns instead of {} for {} everything fits", less[i], columns[i],
                           problem.tensor_columns[i].name);
    }
  }
  return {};
}

}  // namespace

Diagnostic columns_too_few(const Problem& problem, const Conflicts& conflicts) {
  Diagnostic d = error("L-COLUMNS", "the tensor-memory columns do not suffice");
  Meter meter(kExplainUnits);
  std::vector<std::int64_t> columns;
  for (const TensorColumns& t : problem.tensor_columns) columns.push_back(t.columns);
  const Items items = make_items(conflicts, columns, std::vector<std::int64_t>(columns.size(), 32));
  const int capacity = column_capacity(problem.target);
  const Core core = minimal_core(items, capacity / items.unit, Allowance(meter, meter.left()));
  std::int64_t sum = 0;
  for (int i : core.items) {
    const TensorColumns& t = problem.tensor_columns[i];
    sum += t.columns;
    d.facts.push_back(
        {t.owner, fmt::format("{} takes {} columns, {}", t.name, t.columns, lifetime_text(t)), t.where});
  }
  const std::string of = problem.target.blocks_per_sm > 1
                             ? fmt::format("{} that each of {} blocks per SM may allocate", capacity,
                                           problem.target.blocks_per_sm)
                             : fmt::format("{}", capacity);
  d.reason = core.clique
                 ? fmt::format("no two of these {} claims may share columns, and they sum to {} of {}",
                               core.items.size(), sum, of)
                 : fmt::format("no placement of these {} claims, {} columns in all, fits the {}",
                               core.items.size(), sum, of);
  if (!core.minimal) d.reason += "; not all of them may be needed for that";
  d.help = fewer_columns(problem, conflicts, columns, core);
  d.help += fmt::format("{}state phases for these claims in which not all of them are live",
                        d.help.empty() ? "" : ", or ");
  if (problem.target.blocks_per_sm > 1 && sum <= problem.target.tensor_columns)
    d.help += ", or run fewer blocks per SM";
  return d;
}

namespace {

// Which of `some` conflict with each other.
std::vector<Bits> among(const Conflicts& conflicts, const std::vector<int>& some) {
  std::vector<Bits> part(some.size(), Bits(some.size()));
  for (std::size_t i = 0; i < some.size(); ++i)
    for (std::size_t j = 0; j < some.size(); ++j)
      if (conflicts.of[some[i]].test(some[j])) part[i].set(j);
  return part;
}

}  // namespace

Diagnostic barriers_too_few(const Problem& problem, const Conflicts& conflicts) {
  Diagnostic d = error("L-BARRIERS", "the hardware barriers do not suffice");
  Meter meter(kExplainUnits);
  const std::size_t most = static_cast<std::size_t>(problem.target.named_barriers);
  const Colouring all = fewest_colours(conflicts.of, Allowance(meter, kExplainUnits / 4));
  std::vector<int> set;
  if (all.clique.size() > most) {
    set.assign(all.clique.begin(), all.clique.begin() + static_cast<std::ptrdiff_t>(most) + 1);
    d.reason = fmt::format("no two of these {} named barriers may share an id, and there are {} ids",
                           set.size(), most);
  } else {
    bool minimal = true;
    set.resize(problem.barriers.size());
    std::iota(set.begin(), set.end(), 0);
    remove_needless(set, [&](const std::vector<int>& less) {
      const Colouring c = fewest_colours(among(conflicts, less), Allowance(meter, kQuestionUnits));
      minimal = minimal && (c.bound > static_cast<int>(most) || c.count <= static_cast<int>(most));
      return c.bound > static_cast<int>(most);
    });
    d.reason = fmt::format("these {} named barriers need more than the {} ids, however they share{}",
                           set.size(), most, minimal ? "" : "; not all of them may be needed for that");
  }
  for (int i : set) {
    const NamedBarrier& b = problem.barriers[i];
    d.facts.push_back({b.owner, fmt::format("named barrier {}, {}", b.name, lifetime_text(b)), b.where});
  }
  // Without the last ones of the set, is it enough?
  const int excess = std::max(1, all.bound - static_cast<int>(most));
  const std::vector<int> always = always_live(problem.barriers, set);
  std::vector<int> kept(problem.barriers.size());
  std::iota(kept.begin(), kept.end(), 0);
  const auto dropped = [&](int i) {
    return std::find(set.end() - std::min<std::ptrdiff_t>(excess, std::ssize(set)), set.end(), i) !=
           set.end();
  };
  std::erase_if(kept, dropped);
  const Colouring rest = fewest_colours(among(conflicts, kept), Allowance(meter, kQuestionUnits));
  const std::string fewer =
      rest.count <= static_cast<int>(most)
          ? fmt::format("claim {} named barrier{} fewer", excess, excess == 1 ? "" : "s")
          : "claim fewer named barriers";
  d.help = always.empty() ? fewer
                          : fmt::format("{}, or state in which phases {} {} live, so that ids can be shared",
                                        fewer, always.size() > 3 ? "they" : names(problem.barriers, always),
                                        always.size() == 1 ? "is" : "are");
  return d;
}

namespace {

Problem with_roles(const Problem& problem, const std::vector<int>& which) {
  Problem part;
  part.target = problem.target;
  for (int i : which) part.roles.push_back(problem.roles[i]);
  std::sort(part.roles.begin(), part.roles.end(),
            [](const Role& a, const Role& b) { return a.name < b.name; });
  return part;
}

// A minimal set of roles for which the answer is `wrong`.
std::vector<int> role_core(const Problem& problem, WarpAnswer wrong, bool& minimal) {
  std::vector<int> set(problem.roles.size());
  std::iota(set.begin(), set.end(), 0);
  std::stable_sort(set.begin(), set.end(), [&](int a, int b) {
    const Role &x = problem.roles[a], &y = problem.roles[b];
    return wrong == WarpAnswer::kTooManyWarps ? x.warps > y.warps : x.min_registers > y.min_registers;
  });
  // Fewer roles can need fewer warpgroups, whose pool is another: so until nothing more can be left out.
  for (std::size_t before = set.size() + 1; set.size() < before;) {
    before = set.size();
    remove_needless(set, [&](const std::vector<int>& less) {
      Meter meter(kExplainUnits);
      const WarpAnswer answer = place_roles(with_roles(problem, less), meter).answer;
      minimal = minimal && answer != WarpAnswer::kUnknown;
      return answer == wrong;
    });
  }
  return set;
}

}  // namespace

Diagnostic warps_too_few(const Problem& problem) {
  Diagnostic d = error("L-WARPS", "the warps do not fit a block");
  bool minimal = true;
  const std::vector<int> set = role_core(problem, WarpAnswer::kTooManyWarps, minimal);
  int sum = 0;
  for (int i : set) {
    const Role& r = problem.roles[i];
    sum += r.warps;
    d.facts.push_back({r.owner,
                       fmt::format("role {} has {} warps{}", r.name, r.warps,
                                   r.align_warps == 4 ? ", aligned to a warpgroup" : ""),
                       r.where});
  }
  d.reason = fmt::format(
      "these {} roles have {} warps and, aligned, need more than the {} warps of a block{}{}", set.size(),
      sum, warp_capacity(problem.target),
      problem.target.blocks_per_sm > 1 ? fmt::format(" with {} blocks per SM", problem.target.blocks_per_sm)
                                       : "",
      minimal ? "" : "; not all of them may be needed for that");
  d.help = "leave out one of these roles, or use one with fewer warps";
  return d;
}

Diagnostic registers_too_few(const Problem& problem) {
  Diagnostic d = error("L-REGS", "the registers do not suffice");
  bool minimal = true;
  const std::vector<int> set = role_core(problem, WarpAnswer::kTooManyRegisters, minimal);
  for (int i : set) {
    const Role& r = problem.roles[i];
    d.facts.push_back({r.owner,
                       fmt::format("role {} has {} warps and needs at least {} registers per thread", r.name,
                                   r.warps, r.min_registers),
                       r.where});
  }
  Problem part = with_roles(problem, set);
  Meter meter(kExplainUnits);
  const WarpPlan plan = place_roles(part, meter);
  std::string minima;
  int sum = 0;
  for (int m : plan.minima) {
    minima += fmt::format("{}{}", minima.empty() ? "" : " + ", m);
    sum += m;
  }
  const int groups = static_cast<int>(plan.minima.size()), pool = groups * plan.entry;
  d.reason = fmt::format(
      "{} warpgroups of 128 threads start with {} registers per thread each{}, {} in all; their minima are "
      "{} = {}{}",
      groups, plan.entry,
      problem.target.blocks_per_sm > 1 ? fmt::format(" with {} blocks per SM", problem.target.blocks_per_sm)
                                       : "",
      pool, minima, sum, minimal ? "" : "; not all of these roles may be needed for that");
  // A way out that was tried: one role with less, the one that asks for most first.
  std::vector<std::size_t> order(part.roles.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return part.roles[a].min_registers > part.roles[b].min_registers;
  });
  for (std::size_t k : order) {
    Problem changed = problem;
    Role& role = changed.roles[find_sorted(changed.roles, part.roles[k].name)];
    const int asked = role.min_registers;
    while ((role.min_registers -= 8) >= 24) {
      Meter trial(kExplainUnits);
      if (place_roles(changed, trial).answer != WarpAnswer::kPlaced) continue;
      d.help = fmt::format("with registers from {} instead of {} for role {} they suffice",
                           role.min_registers, asked, role.name);
      return d;
    }
  }
  d.help = fmt::format(
      "the minima must come down by {} registers per thread in all: lower registers.min of several "
      "roles, or use fewer warpgroups",
      std::max(8, sum - pool));
  return d;
}

Diagnostic not_decided(const std::string& what, std::uint64_t limit) {
  Diagnostic d = error("L-UNKNOWN", "the placement was not decided");
  d.reason = fmt::format("{} was neither found nor excluded within {} units of work", what, limit);
  d.help =
      "raise the limit (--limit, or options.limit of the composition), or leave more room: shallower rings, "
      "smaller claims";
  return d;
}

}  // namespace pipelink::place
