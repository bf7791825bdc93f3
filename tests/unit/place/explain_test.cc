#include "linker/place/explain.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <set>
#include <tuple>

#include "linker/place/solve.h"
#include "packager/base/catalog.h"
#include "random_problem.h"

using namespace pipelink;
using namespace pipelink::place;
using namespace pipelink::place::test;

namespace {

NamedBarrier barrier(int i) {
  NamedBarrier b;
  b.name = "n" + std::to_string(i);
  b.owner = "o";
  return b;
}

}  // namespace

TEST_CASE("the claims named are too many, and none of them is needless") {
  int seen = 0, by_search = 0, offered = 0;
  for (int seed = 1; seed <= 1500; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    Problem p = random_problem(random, random.between(3, 9), random.below(2) == 1);
    p.barriers.clear();
    p.target.shared_bytes = std::int64_t{8} * random.between(20, 34);
    const auto s = solve(p);
    if (s) continue;
    ++seen;
    REQUIRE(s.diagnostics.size() == 1);
    const Diagnostic& d = s.diagnostics[0];
    REQUIRE(d.clause == "L-SMEM");
    by_search += d.reason.find("no placement") == 0;
    auto only = [&](const std::set<std::string>& names) {
      Problem part = p;
      std::erase_if(part.buffers, [&](const Buffer& b) { return !names.count(b.name); });
      return solve(part);
    };
    std::set<std::string> names;
    for (const LabelledFact& f : d.facts) names.insert(f.text.substr(0, f.text.find(' ')));
    CHECK(names.size() == d.facts.size());
    CHECK_FALSE(only(names));
    CHECK_FALSE(d.help.empty());
    std::smatch said;
    static const std::regex kSmaller("with (\\d+) bytes instead of \\d+ for (\\w+) everything fits");
    if (std::regex_search(d.help, said, kSmaller)) {
      Problem changed = p;
      for (Buffer& b : changed.buffers)
        if (b.name == said[2]) b.bytes = std::stoll(said[1]);
      CHECK(solve(changed));
      ++offered;
    }
    if (d.reason.find("may be needed") == std::string::npos)
      for (const std::string& name : names) {
        std::set<std::string> less = names;
        less.erase(name);
        CHECK(only(less));
      }
  }
  CHECK(seen > 300);
  CHECK(offered > 100);
  MESSAGE(seen << " infeasible problems, " << by_search << " explained by search");
}

TEST_CASE("facts say size, stages, alignment and lifetime") {
  const auto s = solve(load("moe42inf"));
  REQUIRE_FALSE(s);
  const LabelledFact& f = s.diagnostics[0].facts[0];
  CHECK(f.owner == "gu");
  CHECK(f.text ==
        "gu.b takes 49152 bytes (3 stages of 16384 bytes of ring gu), aligned to 1024, live in gateup, "
        "gu_prefetch");
  CHECK(f.where.file == "moe42inf.pl");
  CHECK(f.where.line == 25);
}

TEST_CASE("too many named barriers") {
  Problem p;
  for (int i = 0; i < 20; ++i) p.barriers.push_back(barrier(i));
  const auto s = solve(p);
  REQUIRE_FALSE(s);
  CHECK(s.diagnostics[0].clause == "L-BARRIERS");
  CHECK(s.diagnostics[0].facts.size() == 16);
  CHECK(s.diagnostics[0].facts[0].text == "named barrier n0, always live");
  CHECK(s.diagnostics[0].reason == "no two of these 16 named barriers may share an id, and there are 15 ids");
  CHECK(s.diagnostics[0].help.starts_with("claim 5 named barriers fewer, or "));
}

TEST_CASE("too many tensor-memory columns") {
  Problem p;
  for (int i = 0; i < 3; ++i) {
    TensorColumns t;
    t.name = "t" + std::to_string(i);
    t.columns = 256;
    p.tensor_columns.push_back(t);
  }
  const auto s = solve(p);
  REQUIRE_FALSE(s);
  CHECK(s.diagnostics[0].clause == "L-COLUMNS");
  CHECK(s.diagnostics[0].reason == "no two of these 3 claims may share columns, and they sum to 768 of 512");
  CHECK(s.diagnostics[0].help == "state phases for these claims in which not all of them are live");
  p.tensor_columns.pop_back();
  p.tensor_columns[0].columns = 512;
  const auto two = solve(p);
  REQUIRE_FALSE(two);
  CHECK(two.diagnostics[0].help.starts_with("with 256 columns instead of 512 for t0 everything fits, or "));
}

TEST_CASE("all errors of a problem are reported") {
  Problem p = load("moe42inf");
  for (int i = 0; i < 20; ++i) p.barriers.push_back(barrier(i));
  for (Role& r : p.roles) r.warps = 28;
  const auto s = solve(p);
  REQUIRE_FALSE(s);
  std::set<std::string> clauses;
  for (const Diagnostic& d : s.diagnostics) {
    clauses.insert(d.clause);
    CHECK(find_clause(d.clause) != nullptr);
  }
  CHECK(clauses == std::set<std::string>{"L-BARRIERS", "L-SMEM", "L-WARPS"});
}

TEST_CASE("why a ring is not deeper") {
  const Problem p = load("moe42v");
  const Solution s = *solve(p);
  const Explanation gu = why_not_deeper(p, s, "gu");
  CHECK(gu.proven);
  CHECK(gu.text ==
        "at depth 4 (with comb=2 disp=2 dn=3), no two of these 7 claims may share bytes, and they sum to "
        "244736 of "
        "232448 bytes");
  CHECK(gu.facts.size() == 7);
  CHECK(why_not_deeper(p, s, "none").text == "there is no ring none");
  const Problem attn = load("attn");
  CHECK(why_not_deeper(attn, *solve(attn), "k").text == "ring k has its greatest depth, 6");
}

TEST_CASE("why a budget is not larger") {
  Problem p;
  for (auto [name, low, high] : {std::tuple{"load", 24, 40}, {"mma0", 128, 240}, {"mma1", 208, 240}}) {
    Role r;
    r.name = name;
    r.owner = "o";
    r.min_registers = low;
    r.max_registers = high;
    p.roles.push_back(r);
  }
  const Solution s = *solve(p);
  CHECK(why_not_larger(p, s, "load").text == "role load has its greatest budget, 40 registers per thread");
  const Explanation mma = why_not_larger(p, s, "mma0");
  CHECK(mma.proven);
  CHECK(mma.facts.size() == 2);
  CHECK(mma.text ==
        "240 registers per thread for role mma0 would fit, but other roles would get less, and the smallest "
        "budget and "
        "then the sum count first: the budgets 40 + 232 + 232 = 504 use the pool of 3 x 168 = 504 but for 0");
  p.roles[0].min_registers = 40;
  p.roles[2].min_registers = 232;
  CHECK(why_not_larger(p, *solve(p), "mma0").text ==
        "with 240 registers per thread for role mma0, the least budgets of the others leave too few: the "
        "budgets 40 + 232 "
        "+ 232 = 504 use the pool of 3 x 168 = 504 but for 0; 8 more in 1 warpgroup are 8");
  CHECK(why_not_larger(p, s, "none").text == "there is no role none");
}

TEST_CASE("roles, barriers and columns of a refusal are minimal") {
  int registers = 0, warps = 0, barriers = 0, columns = 0;
  for (int seed = 1; seed <= 400; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    Problem p = random_problem(random, 0, random.below(2) == 1);
    p.rings.clear();
    for (int i = random.between(2, 7); i > 0; --i) {
      Role r;
      r.name = "r" + std::to_string(i);
      r.warps = random.between(1, 8);
      r.align_warps = r.warps > 4 ? 4 : 1;
      r.min_registers = 8 * random.between(3, 20);
      r.max_registers = r.min_registers + 8 * random.below(3);
      p.roles.push_back(r);
    }
    for (int i = random.below(7); i > 0; --i) {
      TensorColumns t;
      t.name = "t" + std::to_string(i);
      t.columns = 32 << random.below(4);
      if (random.below(3)) t.live = {p.phases[random.below(static_cast<int>(p.phases.size()))].name};
      p.tensor_columns.push_back(t);
    }
    p.target.tensor_columns = 256;
    p.target.blocks_per_sm = random.between(1, 2);
    const auto s = solve(p);
    if (s) continue;
    for (const Diagnostic& d : s.diagnostics) {
      CHECK_FALSE(d.help.empty());
      registers += d.clause == "L-REGS";
      warps += d.clause == "L-WARPS";
      barriers += d.clause == "L-BARRIERS";
      columns += d.clause == "L-COLUMNS";
      if (d.reason.find("may be needed") != std::string::npos) continue;
      std::set<std::string> names;
      for (const LabelledFact& f : d.facts) {
        const std::string what = d.clause == "L-BARRIERS"  ? "named barrier "
                                 : d.clause == "L-COLUMNS" ? ""
                                                           : "role ";
        const std::string rest = f.text.substr(what.size());
        names.insert(rest.substr(0, rest.find_first_of(" ,")));
      }
      const auto refused = [&](const std::set<std::string>& only) {
        Problem part = p;
        if (d.clause != "L-BARRIERS") part.barriers.clear();
        if (d.clause != "L-COLUMNS") part.tensor_columns.clear();
        if (d.clause == "L-BARRIERS" || d.clause == "L-COLUMNS") part.roles.clear();
        const auto other = [&](const auto& claim) { return !only.count(claim.name); };
        std::erase_if(part.barriers, other);
        std::erase_if(part.tensor_columns, other);
        std::erase_if(part.roles, other);
        const auto outcome = solve(part);
        return std::any_of(outcome.diagnostics.begin(), outcome.diagnostics.end(),
                           [&](const Diagnostic& found) { return found.clause == d.clause; });
      };
      CHECK(refused(names));
      for (const std::string& name : names) {
        std::set<std::string> less = names;
        less.erase(name);
        CHECK_MESSAGE(!refused(less), seed << " " << name << " " << d.reason);
      }
    }
  }
  CHECK(registers > 20);
  CHECK(warps > 20);
  CHECK(barriers > 20);
  CHECK(columns > 20);
}

TEST_CASE("a limit that does not suffice is said") {
  Problem p = load("cut20_0");
  const auto s = solve(p, 0);
  if (!s) {
    CHECK(s.diagnostics[0].clause == "L-UNKNOWN");
    CHECK(s.diagnostics[0].reason.find("within 0 units of work") != std::string::npos);
  } else {
    CHECK(s->rlimit_used == 0);
  }
}

TEST_CASE("a problem that means nothing is refused") {
  Problem p;
  p.phases = {{"a", {"b"}, {}}, {"b", {"a"}, {}}};
  auto s = solve(p);
  REQUIRE_FALSE(s);
  CHECK(s.diagnostics[0].clause == "I-INSTANCE");
  CHECK(s.diagnostics[0].title == "the phases' order has a cycle within one iteration");
  p = {};
  Buffer b;
  b.name = "b";
  b.align = 48;
  b.live = {"nowhere"};
  p.buffers = {b, b};
  CHECK(validate(p).size() == 7);
}
