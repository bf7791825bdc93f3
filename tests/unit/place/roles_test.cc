#include <doctest/doctest.h>

#include <algorithm>
#include <tuple>

#include "linker/place/canonical.h"
#include "linker/place/solve.h"
#include "linker/place/verify.h"
#include "linker/place/warps.h"
#include "random_problem.h"

using namespace pipelink;
using namespace pipelink::place;
using namespace pipelink::place::test;

namespace {

Role role(std::string name, int warps, int align, int low, int high) {
  Role r;
  r.name = std::move(name);
  r.owner = "o";
  r.warps = warps;
  r.align_warps = align;
  r.min_registers = low;
  r.max_registers = high;
  return r;
}

Solution solved(const Problem& p) {
  const auto s = solve(p);
  for (const Diagnostic& d : s.diagnostics) MESSAGE(d.clause << ": " << d.reason);
  REQUIRE(s);
  CHECK(verify(p, *s).empty());
  return *s;
}

}  // namespace

TEST_CASE("the entry register count") {
  const Target t;
  CHECK(entry_registers(t, 1) == 248);
  CHECK(entry_registers(t, 3) == 168);
  CHECK(entry_registers(t, 4) == 128);
  CHECK(entry_registers(t, 5) == 96);
  Target two;
  two.blocks_per_sm = 2;
  CHECK(entry_registers(two, 3) == 80);
}

TEST_CASE("a producer and two consumers share as evenly as they can") {
  Problem p;
  p.roles = {role("load", 4, 4, 24, 40), role("mma0", 4, 4, 128, 240), role("mma1", 4, 4, 128, 240)};
  const Solution s = solved(p);
  CHECK(s.entry_registers == 168);
  CHECK(s.warps == 12);
  CHECK(s.role("load")->registers == 40);
  CHECK(s.role("mma0")->registers == 232);
  CHECK(s.role("mma1")->registers == 232);
}

TEST_CASE("a role in two warpgroups has one budget") {
  Problem p;
  p.roles = {role("load", 4, 4, 24, 24), role("mma", 8, 4, 128, 240)};
  const Solution s = solved(p);
  CHECK(s.warpgroup_registers == std::vector<int>{24, 240, 240});
  CHECK(s.role("mma")->first_warp == 4);
}

TEST_CASE("small roles fill warpgroups, those with like needs together") {
  Problem p;
  p.roles = {role("a", 2, 1, 24, 40),   role("b", 2, 1, 152, 200), role("c", 2, 1, 24, 40),
             role("d", 2, 1, 152, 200), role("m", 4, 4, 200, 240), role("n", 3, 1, 24, 40)};
  const Solution s = solved(p);
  CHECK(s.warps == 16);
  CHECK(s.role("a")->first_warp / 4 == s.role("c")->first_warp / 4);
  CHECK(s.role("b")->first_warp / 4 == s.role("d")->first_warp / 4);
}

TEST_CASE("what a warpgroup role leaves free is used") {
  Problem p;
  p.roles = {role("aux", 2, 2, 24, 24), role("main", 6, 4, 40, 240)};
  const Solution s = solved(p);
  CHECK(s.warps == 8);
  CHECK(s.role("main")->first_warp == 0);
  CHECK(s.role("aux")->first_warp == 6);
}

TEST_CASE("too many warps") {
  Problem p;
  p.roles = {role("a", 16, 4, 24, 24), role("b", 12, 4, 24, 24), role("c", 1, 1, 24, 24),
             role("d", 4, 4, 24, 24), role("e", 4, 4, 24, 24)};
  const auto s = solve(p);
  REQUIRE_FALSE(s);
  REQUIRE(s.diagnostics.size() == 1);
  CHECK(s.diagnostics[0].clause == "L-WARPS");
  CHECK(s.diagnostics[0].facts.size() ==
        4);  // 16 + 12 + 4 warps fit exactly: all but c, or but e, are too many
}

TEST_CASE("too many registers") {
  Problem p;
  p.roles = {role("a", 4, 4, 24, 24), role("b", 4, 4, 240, 240), role("c", 4, 4, 248, 248)};
  const auto s = solve(p);
  REQUIRE_FALSE(s);
  REQUIRE(s.diagnostics.size() == 1);
  CHECK(s.diagnostics[0].clause == "L-REGS");
  CHECK(s.diagnostics[0].reason ==
        "3 warpgroups of 128 threads start with 168 registers per thread each, 504 in all; their minima are "
        "24 + 240 + "
        "248 = 512");
  CHECK(s.diagnostics[0].facts.size() == 3);
}

TEST_CASE("two blocks on an SM have half of each pool") {
  Target one, two;
  two.blocks_per_sm = 2;
  CHECK(shared_capacity(one) == 232'448);
  CHECK(shared_capacity(two) == 115'712);  // (232,448 + 1,024) / 2 − 1,024
  CHECK(column_capacity(one) == 512);
  CHECK(column_capacity(two) == 256);
  CHECK(warp_capacity(two) == 32);
  two.sm_warps = 48;
  CHECK(warp_capacity(two) == 24);
  two.blocks_per_sm = 3;
  CHECK(column_capacity(two) == 128);  // 170 is no power of two
  CHECK(warp_capacity(two) == 16);
  two.blocks_per_sm = 2;

  Problem p;
  p.roles = {role("load", 4, 4, 24, 40), role("mma", 8, 4, 80, 240)};
  Buffer b;
  b.name = "b";
  b.bytes = 115'712;
  p.buffers = {b};
  TensorColumns t;
  t.name = "t";
  t.columns = 256;
  p.tensor_columns = {t};
  Problem half = p;
  half.target.blocks_per_sm = 2;
  const Solution s = solved(half), whole = solved(p);
  CHECK(s.free_bytes() == 0);
  CHECK(s.entry_registers == 80);
  CHECK(s.role("mma")->registers == 96);
  CHECK(whole.entry_registers == 168);
  CHECK(whole.role("mma")->registers == 232);
  half.buffers[0].bytes += 16;
  half.tensor_columns[0].columns = 512;
  half.roles[1].min_registers = 112;
  const auto refused = solve(half);
  REQUIRE(refused.diagnostics.size() == 3);
  for (const Diagnostic& d : refused.diagnostics)
    CHECK(d.reason.find("2 blocks per SM") != std::string::npos);
  half.target.blocks_per_sm = 1;
  CHECK(solve(half));
}

TEST_CASE("many small roles") {
  // More ways into warpgroups than are enumerated: Z3 decides.
  Problem p;
  for (int i = 0; i < 20; ++i)
    p.roles.push_back(role("r" + std::to_string(i), 1, 1, 24 + 8 * (i % 5), 32 + 8 * (i % 5 + i % 7)));
  Solution s = solved(p);
  CHECK(s.warps == 20);
  CHECK(s.objectives[1].proven);
  CHECK(*std::min_element(s.warpgroup_registers.begin(), s.warpgroup_registers.end()) == 88);
  for (Role& r : p.roles) r.max_registers = r.min_registers = 24 + 8 * (r.name.back() % 2);
  for (int i = 0; i < 8; ++i) p.roles.push_back(role("s" + std::to_string(i), 1, 1, 96, 96));
  s = solved(p);  // the eight must share two warpgroups: 2 x 96 + 5 x 32 and no more
  CHECK(s.objectives[1].proven);
  for (Role& r : p.roles)
    if (r.name[0] == 's') r.min_registers = r.max_registers = 240;
  const auto refused = solve(p);
  REQUIRE_FALSE(refused);
  CHECK(refused.diagnostics[0].clause == "L-REGS");
}

TEST_CASE("warpgroups and budgets against enumeration") {
  for (int seed = 1; seed <= 20000; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    Problem p;
    p.target.registers = random.below(3) ? 65'536 : 24'576;
    const int n = random.between(1, 5);
    for (int i = 0; i < n; ++i) {
      const bool large = random.below(3) == 0;
      const int low = 8 * random.between(3, 12);
      const int warps = large ? random.between(3, 6) : random.between(1, 4);
      p.roles.push_back(role("r" + std::to_string(i), warps, large ? 4 : 1, low, low + 8 * random.below(5)));
    }
    p = canonical(p);

    // Large roles take warpgroups of their own; each small one goes to any warpgroup with room. Budgets: all.
    struct Group {
      int width, room, low, high;
    };
    std::vector<Group> groups;
    std::vector<int> small;
    for (int i = 0; i < n; ++i) {
      const Role& r = p.roles[i];
      if (r.align_warps < 4)
        small.push_back(i);
      else
        groups.push_back({(r.warps + 3) / 4, (4 - r.warps % 4) % 4, r.min_registers, r.max_registers});
    }
    int fewest = 1000;
    std::tuple<int, int> best{-1, -1};
    auto budgets = [&](auto&& self, const std::vector<Group>& g, std::size_t k, int left, int least,
                       int sum) -> void {
      if (left < 0) return;
      if (k == g.size()) {
        best = std::max(best, std::tuple(least, sum));
        return;
      }
      for (int v = g[k].low; v <= g[k].high; v += 8)
        self(self, g, k + 1, left - v * g[k].width, std::min(least, v), sum + v * g[k].width);
    };
    auto assign = [&](auto&& self, std::size_t k) -> void {
      if (k == small.size()) {
        int count = 0;
        for (const Group& g : groups) count += g.width;
        if (count > fewest) return;
        if (count < fewest) best = {-1, -1};
        fewest = count;
        budgets(budgets, groups, 0, count * entry_registers(p.target, count), 1000, 0);
        return;
      }
      const Role& r = p.roles[small[k]];
      for (std::size_t g = 0; g < groups.size(); ++g) {
        const Group before = groups[g];
        if (before.room < r.warps) continue;
        groups[g] = {before.width, before.room - r.warps, std::max(before.low, r.min_registers),
                     std::max(before.high, r.max_registers)};
        self(self, k + 1);
        groups[g] = before;
      }
      groups.push_back({1, 4 - r.warps, r.min_registers, r.max_registers});
      self(self, k + 1);
      groups.pop_back();
    };
    assign(assign, 0);

    Meter meter(1'000'000);
    const WarpPlan plan = place_roles(p, meter);
    CHECK((plan.answer == WarpAnswer::kPlaced) == (std::get<0>(best) >= 0));
    if (plan.answer != WarpAnswer::kPlaced) continue;
    CHECK(plan.proven);
    CHECK(static_cast<int>(plan.budgets.size()) == fewest);
    int sum = 0;
    for (int b : plan.budgets) sum += b;
    CHECK(*std::min_element(plan.budgets.begin(), plan.budgets.end()) == std::get<0>(best));
    CHECK(sum == std::get<1>(best));
    solved(p);
  }
}
