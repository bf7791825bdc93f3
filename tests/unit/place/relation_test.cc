#include "linker/place/relation.h"

#include <doctest/doctest.h>

#include "linker/place/canonical.h"
#include "linker/place/solve.h"
#include "linker/place/verify.h"
#include "random_problem.h"

using namespace pipelink::place;
using namespace pipelink::place::test;

namespace {

Claim live_in(std::vector<std::string> phases) {
  Claim c;
  c.live = std::move(phases);
  return c;
}

bool share(const Problem& p, const Claim& a, const Claim& b) {
  const Lifetimes lifetimes(canonical(p));
  const bool ab = lifetimes.may_share(lifetimes.phases(a), lifetimes.phases(b));
  CHECK(ab == lifetimes.may_share(lifetimes.phases(b), lifetimes.phases(a)));
  return ab;
}

// Roles r1 = [wait E1, A, wait E2, B, arrive F] and r2 = [wait F, B, arrive E1, C, arrive E2]; E1 and E2 have
// one credit.
Problem two_roles() {
  Problem p;
  p.loop = true;
  p.phases = {{"r1a", {}, {"r1b", "r2b"}},  // after its role's last phase; after E1
              {"r1b", {"r1a"}, {"r2c"}},    // after E2
              {"r2b", {"r1b"}, {"r2c"}},    // after F
              {"r2c", {"r2b"}, {}}};
  return p;
}

Buffer buffer(std::string name, std::int64_t bytes, std::vector<std::string> live) {
  Buffer b;
  b.name = std::move(name);
  b.bytes = bytes;
  b.live = std::move(live);
  return b;
}

}  // namespace

TEST_CASE("sharing over all iterations is not transitive") {
  const Problem p = two_roles();
  const Claim a = live_in({"r1a"}), b = live_in({"r1b", "r2b"}), c = live_in({"r2c"});
  CHECK(share(p, a, b));
  CHECK(share(p, b, c));
  CHECK_FALSE(share(p, a, c));  // A of iteration 1 races C of iteration 0

  Problem once = p;
  once.loop = false;
  for (Phase& phase : once.phases) phase.after_previous.clear();
  CHECK(share(once, a, c));
}

TEST_CASE("the placement of the case that is not transitive") {
  Problem p = two_roles();
  p.buffers = {buffer("a", 1024, {"r1a"}), buffer("b", 1024, {"r1b", "r2b"}), buffer("c", 1024, {"r2c"})};
  const auto s = solve(p);
  REQUIRE(s);
  CHECK(s->footprint == 2048);
  CHECK(s->optimal);
  CHECK(s->buffer("a")->offset != s->buffer("c")->offset);
  CHECK(verify(p, *s).empty());
  Solution wrong = *s;
  for (BufferPlacement& b : wrong.buffers) b.offset = 0;
  wrong.footprint = 1024;
  CHECK(verify(p, wrong).size() == 1);
}

TEST_CASE("an order that holds from the second next iteration on is not enough") {
  Problem p;
  p.loop = true;
  p.phases = {{"p", {}, {"h"}}, {"q", {"p"}, {}}, {"h", {}, {"q", "h"}}};
  CHECK_FALSE(share(p, live_in({"p"}), live_in({"q"})));  // q of iteration 0 races p of iteration 1
  p.phases[0].after_previous.push_back("q");
  CHECK(share(p, live_in({"p"}), live_in({"q"})));
}

TEST_CASE("a pattern that takes long to repeat") {
  // Cycles of 2, 3, 5, 7, 11 and 13 iterations beside p and q: what follows p comes back after 30,030.
  Problem p;
  p.loop = true;
  p.phases = {{"p", {}, {"q"}}, {"q", {"p"}, {}}};
  for (int length : {2, 3, 5, 7, 11, 13})
    for (int i = 0; i < length; ++i) {
      const auto name = [&](int k) {
        return "c" + std::to_string(length) + "_" + std::to_string(k % length);
      };
      p.phases.push_back({name(i), {}, {name(i + length - 1)}});
      if (i == 0) p.phases.back().after.push_back("q");
    }
  p.buffers = {buffer("a", 1024, {"p"}), buffer("b", 1024, {"q"}), buffer("c", 1024, {"c2_0"})};
  const Solution s = *solve(p);
  CHECK(s.footprint == 2048);
  CHECK(verify(p, s).empty());
}

TEST_CASE("an empty live set never shares") {
  const Problem p = two_roles();
  CHECK_FALSE(share(p, live_in({}), live_in({"r1a"})));
}

TEST_CASE("a phase does not share with itself one iteration later unless an order says so") {
  Problem p;
  p.loop = true;
  p.phases = {{"x", {}, {}}, {"y", {"x"}, {}}};
  CHECK_FALSE(share(p, live_in({"x"}), live_in({"y"})));
  p.phases = {{"x", {}, {"y"}}, {"y", {"x"}, {}}};
  CHECK(share(p, live_in({"x"}), live_in({"y"})));
  // Every second iteration only: y before x of the next iteration, but nothing else.
  p.phases = {{"x", {}, {"y"}}, {"y", {"z"}, {}}, {"z", {}, {"x"}}};
  CHECK_FALSE(share(p, live_in({"x"}), live_in({"y"})));
}

TEST_CASE("the relation is that of the loop written out") {
  for (int seed = 1; seed <= 1500; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const int n = random.between(2, 5), iterations = 30;
    Problem p;
    p.loop = random.below(4) != 0;
    p.phases = random_phases(random, n, p.loop);
    const int copies = p.loop ? iterations : 1, nodes = n * copies;
    std::vector<std::vector<char>> before(nodes, std::vector<char>(nodes));
    for (int i = 0; i < copies; ++i)
      for (int q = 0; q < n; ++q) {
        for (const std::string& name : p.phases[q].after) before[i * n + name[1] - '0'][i * n + q] = 1;
        if (i > 0)
          for (const std::string& name : p.phases[q].after_previous)
            before[(i - 1) * n + name[1] - '0'][i * n + q] = 1;
      }
    for (int k = 0; k < nodes; ++k)
      for (int i = 0; i < nodes; ++i)
        if (before[i][k])
          for (int j = 0; j < nodes; ++j) before[i][j] |= before[k][j];
    const Lifetimes lifetimes(canonical(p));
    for (int pair = 0; pair < 12; ++pair) {
      std::vector<int> a{random.below(n)}, b{random.below(n)};
      if (random.below(2)) a.push_back(random.below(n));
      if (random.below(2)) b.push_back(random.below(n));
      auto all = [&](const std::vector<int>& x, int i, const std::vector<int>& y, int j) {
        for (int u : x)
          for (int v : y)
            if (!before[i * n + u][j * n + v]) return false;
        return true;
      };
      bool expected = true;
      for (int i = 0; i < copies; ++i)
        for (int j = 0; j < copies; ++j) expected = expected && (all(a, i, b, j) || all(b, j, a, i));
      Claim ca, cb;
      for (int u : a) ca.live.push_back("p" + std::to_string(u));
      for (int v : b) cb.live.push_back("p" + std::to_string(v));
      CHECK(lifetimes.may_share(lifetimes.phases(ca), lifetimes.phases(cb)) == expected);
    }
  }
}
