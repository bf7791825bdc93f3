// The same result for any order of the input.
#include <doctest/doctest.h>

#include <algorithm>
#include <optional>

#include "linker/place/instance_format.h"
#include "linker/place/json.h"
#include "linker/place/solve.h"
#include "linker/place/verify.h"
#include "random_problem.h"

using namespace pipelink;
using namespace pipelink::place;
using namespace pipelink::place::test;

namespace {

std::string text_of(const Outcome<Solution>& outcome) {
  std::string text;
  for (const Diagnostic& d : outcome.diagnostics) {
    text += d.clause + " " + d.reason + "\n";
    for (const LabelledFact& f : d.facts) text += f.owner + ": " + f.text + "\n";
  }
  return text;
}

void check_orders(const Problem& p, Random& random, int times) {
  const auto first = solve(p);
  for (int i = 0; i < times; ++i) {
    const auto again = solve(shuffled(p, random));
    REQUIRE(first.value.has_value() == again.value.has_value());
    if (first) CHECK(*first == *again);  // the work counted, too
    CHECK(text_of(first) == text_of(again));
  }
}

}  // namespace

TEST_CASE("shuffled problems have one solution") {
  Random random(7);
  for (const char* name : {"attn", "gemm", "moe42", "moe42v", "moe42inf", "gap12_0", "cut20_0"})
    check_orders(load(name), random, 8);
  check_orders(load("real100_0"), random, 2);
  for (int i = 0; i < 150; ++i)
    check_orders(random_problem(random, random.between(1, 9), random.below(2) == 1), random, 3);
}

TEST_CASE("more capacity never turns feasible into infeasible, nor good into worse") {
  for (int seed = 1; seed <= 300; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    Problem p = random_problem(random, random.between(1, 8), random.below(2) == 1);
    Role r;
    r.name = "r";
    r.max_registers = 240;
    p.roles = {r};
    std::optional<Solution> before;
    for (int step = 0; step < 8; ++step) {
      const auto s = solve(p);
      if (before) {
        REQUIRE(s);
        CHECK(s->footprint >= 0);
        // The first ring in which they differ, in the order of the steps, is deeper: compare by tier and
        // level.
        int sum = 0, sum_before = 0, least_tier = INT32_MAX;
        for (const Ring& ring : p.rings) least_tier = std::min(least_tier, ring.tier);
        for (const Ring& ring : p.rings)
          if (ring.tier == least_tier) {
            sum += s->ring(ring.name)->depth;
            sum_before += before->ring(ring.name)->depth;
          }
        bool one = std::count_if(p.rings.begin(), p.rings.end(),
                                 [&](const Ring& ring) { return ring.tier == least_tier; }) == 1;
        CHECK((!one || sum >= sum_before));
        CHECK(s->roles[0].registers >= before->roles[0].registers);
      }
      if (s) before = *s;
      p.target.shared_bytes += 8 * random.between(1, 12);
      p.target.named_barriers += random.below(2);
      p.target.registers += 8 * 128 * random.below(8);
    }
  }
}

TEST_CASE("a limit of any size gives a placement, or says that it did not suffice") {
  const Problem p = load("moe42");
  const auto full = solve(p);
  REQUIRE(full);
  for (std::uint64_t limit = 0; limit < 20'000'000; limit = 3 * limit + 1) {
    const auto s = solve(p, limit);
    if (!s) {
      CHECK(text_of(s).find("L-UNKNOWN") == 0);
      continue;
    }
    CHECK(verify(p, *s).empty());
    CHECK(s->rlimit_used <= limit);
    CHECK(s->footprint - s->gap_bytes <= full->footprint);  // what is called proven is true
    CHECK(s->footprint >= full->footprint);
    CHECK((limit < 100'000 || s->buffers == full->buffers));
  }
}
