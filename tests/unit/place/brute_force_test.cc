// The solver against enumeration, on problems small enough for it.
#include <doctest/doctest.h>

#include <algorithm>
#include <numeric>

#include "linker/place/antichain.h"
#include "linker/place/barriers.h"
#include "linker/place/canonical.h"
#include "linker/place/clique.h"
#include "linker/place/exact.h"
#include "linker/place/pack.h"
#include "linker/place/proof.h"
#include "linker/place/solve.h"
#include "linker/place/verify.h"
#include "random_problem.h"

using namespace pipelink;
using namespace pipelink::place;
using namespace pipelink::place::test;

namespace {

// Every placement can be pushed down to one in which each item lies on a conflicting item below it: all
// orders.
std::int64_t least_footprint(const std::vector<std::int64_t>& size, const std::vector<std::int64_t>& align,
                             const std::vector<Bits>& conflict) {
  std::vector<int> order(size.size());
  std::iota(order.begin(), order.end(), 0);
  std::int64_t best = INT64_MAX;
  do {
    std::vector<std::int64_t> end(size.size(), -1);
    std::int64_t top = 0;
    for (int i : order) {
      std::int64_t at = 0;
      for (std::size_t j = 0; j < size.size(); ++j)
        if (end[j] >= 0 && conflict[i].test(j)) at = std::max(at, end[j]);
      end[i] = (at + align[i] - 1) / align[i] * align[i] + size[i];
      top = std::max(top, end[i]);
    }
    best = std::min(best, top);
  } while (std::next_permutation(order.begin(), order.end()));
  return size.empty() ? 0 : best;
}

Items random_items(Random& random, int n, int density) {
  Conflicts c;
  std::vector<std::int64_t> bytes, align;
  c.of.assign(n, Bits(n));
  for (int i = 0; i < n; ++i) {
    c.group.push_back(i);
    bytes.push_back(random.between(1, 20));
    align.push_back(1 << random.below(4));
    for (int j = 0; j < i; ++j)
      if (random.below(10) < density) {
        c.of[i].set(j);
        c.of[j].set(i);
      }
  }
  c.between_groups = c.of;
  return make_items(c, bytes, align);
}

bool valid(const Items& items, const Offsets& offset, std::int64_t end) {
  for (std::size_t i = 0; i < items.count(); ++i) {
    if (offset[i] < 0 || offset[i] % items.align[i] || offset[i] + items.size[i] > end) return false;
    for (std::size_t j = 0; j < i; ++j)
      if (items.conflict[i].test(j) && offset[i] < offset[j] + items.size[j] &&
          offset[j] < offset[i] + items.size[i])
        return false;
  }
  return true;
}

std::int64_t brute(const Problem& p, const Conflicts& relation, const std::vector<int>& depths) {
  std::vector<std::int64_t> size, align;
  for (const Buffer& b : p.buffers) {
    const int ring = b.ring.empty() ? -1 : b.ring[1] - '0';
    size.push_back(b.bytes + (ring >= 0 ? b.stage_bytes * depths[ring] : 0));
    align.push_back(b.align);
  }
  return least_footprint(size, align, relation.of);
}

}  // namespace

TEST_CASE("packing of arbitrary relations") {
  for (int seed = 1; seed <= 4000; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const Items items = random_items(random, random.between(1, 6), random.between(2, 9));
    const std::int64_t best = least_footprint(items.size, items.align, items.conflict);
    Meter meter(1'000'000);
    const Packed start = pack(items, 1'000'000, {}, Allowance(meter, 1'000'000));
    REQUIRE(start.answer == Answer::kYes);
    const Tightest t = tighten(items, start.offset, Allowance(meter, 1'000'000));
    CHECK(t.footprint == best);
    CHECK(t.bound == best);
    CHECK(valid(items, t.offset, best));
    const Packed exact = pack(items, best, {}, Allowance(meter, 1'000'000));
    CHECK(exact.answer == Answer::kYes);
    CHECK(valid(items, exact.offset, best));
    CHECK(pack(items, best - 1, {}, Allowance(meter, 1'000'000)).answer == Answer::kNo);
    // The exact search alone, as cheaper means often come first.
    Offsets found;
    CHECK(fits_exactly(items, best - 1, found, Allowance(meter, 1'000'000)) == Answer::kNo);
    CHECK(fits_exactly(items, best, found, Allowance(meter, 1'000'000)) == Answer::kYes);
    CHECK(valid(items, found, best));
    for (const Preference preference : kPreferences)
      for (const std::uint64_t again : {0, 5}) {
        CHECK(fits_exactly(items, best - 1, found, Allowance(meter, 1'000'000), preference, again) ==
              Answer::kNo);
        REQUIRE(fits_exactly(items, best, found, Allowance(meter, 1'000'000), preference, again) ==
                Answer::kYes);
        CHECK(valid(items, found, best));
      }
    CHECK(strongest_cut(items, Allowance(meter, 1'000'000)).value <= best);
  }
}

TEST_CASE("Z3 agrees") {
  for (int seed = 1; seed <= 40; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const Items items = random_items(random, 6, 7);
    const std::int64_t best = least_footprint(items.size, items.align, items.conflict);
    Meter meter(10'000'000);
    Offsets found;
    CHECK(fits_by_z3(items, best - 1, found, Allowance(meter, 5'000'000)) == Answer::kNo);
    CHECK(fits_by_z3(items, best, found, Allowance(meter, 5'000'000)) == Answer::kYes);
    std::vector<int> core;
    REQUIRE(core_by_z3(items, best - 1, core, Allowance(meter, 5'000'000)));
    CHECK(fits_by_z3(subset(items, core), best - 1, found, Allowance(meter, 5'000'000)) == Answer::kNo);
    CHECK_FALSE(core_by_z3(items, best, core, Allowance(meter, 5'000'000)));
    CHECK(fits_by_z3(items, best, found, Allowance(meter, 5'000'000)) == Answer::kYes);
    CHECK(valid(items, found, best));
    CHECK(meter.used() > 0);
  }
}

TEST_CASE("heaviest antichains of transitive orders") {
  for (int seed = 1; seed <= 2000; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const int n = random.between(1, 9), density = random.between(1, 7);
    std::vector<Bits> order(n, Bits(n)), apart(n, Bits(n));
    std::vector<std::int64_t> weight;
    for (int i = n; i-- > 0;) {
      weight.push_back(random.below(9));
      for (int j = i + 1; j < n; ++j)
        if (random.below(10) < density) {
          order[i].set(j);
          order[i] |= order[j];
        }
    }
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (i != j && !order[i].test(j) && !order[j].test(i)) apart[i].set(j);
    Meter meter(1'000'000);
    const Clique flow = heaviest_antichain(order, weight, meter);
    std::int64_t total = 0;
    for (int i : flow.members) {
      total += weight[i];
      for (int j : flow.members) CHECK((i == j || apart[i].test(j)));
    }
    CHECK(total == flow.weight);
    CHECK(flow.weight == heaviest_clique(apart, weight, Allowance(meter, 1'000'000)).weight);
  }
}

TEST_CASE("heaviest cliques and fewest colours") {
  for (int seed = 1; seed <= 3000; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const int n = random.between(1, 8), density = random.between(1, 9);
    std::vector<Bits> graph(n, Bits(n));
    std::vector<std::int64_t> weight;
    for (int i = 0; i < n; ++i) {
      weight.push_back(random.below(9));
      for (int j = 0; j < i; ++j)
        if (random.below(10) < density) {
          graph[i].set(j);
          graph[j].set(i);
        }
    }
    std::int64_t heaviest = 0;
    for (int set = 0; set < 1 << n; ++set) {
      std::int64_t total = 0;
      bool clique = true;
      for (int i = 0; i < n; ++i) {
        if (!(set >> i & 1)) continue;
        total += weight[i];
        for (int j = 0; j < i; ++j) clique = clique && (!(set >> j & 1) || graph[i].test(j));
      }
      if (clique) heaviest = std::max(heaviest, total);
    }
    Meter meter(1'000'000);
    CHECK(heaviest_clique(graph, weight, Allowance(meter, 1'000'000)).weight == heaviest);

    int fewest = 1;
    std::vector<int> colour(n);
    auto possible = [&](auto&& self, int v, int colours) -> bool {
      if (v == n) return true;
      for (colour[v] = 0; colour[v] < colours; ++colour[v]) {
        bool free = true;
        for (int u = 0; u < v; ++u) free = free && !(graph[v].test(u) && colour[u] == colour[v]);
        if (free && self(self, v + 1, colours)) return true;
      }
      return false;
    };
    while (!possible(possible, 0, fewest)) ++fewest;
    const Colouring c = fewest_colours(graph, Allowance(meter, 1'000'000));
    CHECK(c.count == fewest);
    CHECK(c.bound == fewest);
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j)
        if (graph[i].test(j)) CHECK(c.colour[i] != c.colour[j]);
  }
}

TEST_CASE("depths, footprint and barriers of whole problems") {
  int feasible = 0, infeasible = 0;
  for (int seed = 1; seed <= 20000; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const Problem p = canonical(random_problem(random, random.between(1, 5), random.below(2) == 1));
    const Lifetimes lifetimes(p);
    const Conflicts relation = conflicts(lifetimes, p.buffers);

    // All depths that fit; the best is the one that takes the earliest steps.
    struct Step {
      int tier, level, weight, ring, depth;
    };
    std::vector<Step> steps;
    for (std::size_t r = 0; r < p.rings.size(); ++r)
      for (int d = p.rings[r].min_depth + 1; d <= p.rings[r].max_depth; ++d)
        steps.push_back(
            {p.rings[r].tier, d - p.rings[r].min_depth, p.rings[r].weight, static_cast<int>(r), d});
    std::sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
      if (a.tier != b.tier) return a.tier < b.tier;
      if (a.level * b.weight != b.level * a.weight) return a.level * b.weight < b.level * a.weight;
      return a.ring < b.ring || (a.ring == b.ring && a.depth < b.depth);
    });
    std::vector<int> best, depths;
    std::vector<char> best_taken;
    auto enumerate = [&](auto&& self, std::size_t r) -> void {
      if (r < p.rings.size()) {
        for (int d = p.rings[r].min_depth; d <= p.rings[r].max_depth; ++d) {
          depths.push_back(d);
          self(self, r + 1);
          depths.pop_back();
        }
        return;
      }
      if (brute(p, relation, depths) > p.target.shared_bytes) return;
      std::vector<char> taken;
      for (const Step& s : steps) taken.push_back(depths[s.ring] >= s.depth);
      if (best.empty() || taken > best_taken) {
        best = depths;
        best.push_back(0);  // never empty
        best_taken = taken;
      }
    };
    enumerate(enumerate, 0);

    Meter meter(1'000'000);
    const int ids = fewest_colours(conflicts(lifetimes, p.barriers).of, Allowance(meter, 1'000'000)).count;
    const auto s = solve(p);
    const bool expected = !best.empty() && ids <= p.target.named_barriers;
    REQUIRE(static_cast<bool>(s) == expected);
    if (!s) {
      ++infeasible;
      for (const Diagnostic& d : s.diagnostics) CHECK((d.clause == "L-SMEM" || d.clause == "L-BARRIERS"));
      CHECK((s.diagnostics[0].clause == "L-BARRIERS") == (ids > p.target.named_barriers));
      continue;
    }
    ++feasible;
    best.pop_back();
    for (std::size_t r = 0; r < best.size(); ++r) CHECK(s->rings[r].depth == best[r]);
    CHECK(s->footprint == brute(p, relation, best));
    CHECK(s->optimal);
    CHECK(s->gap_bytes == 0);
    CHECK(s->barrier_count == ids);
    CHECK(verify(p, *s).empty());
  }
  CHECK(feasible > 5000);
  CHECK(infeasible > 5000);
}
