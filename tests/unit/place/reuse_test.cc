#include "linker/place/reuse.h"

#include <doctest/doctest.h>

#include "linker/place/solve.h"
#include "random_problem.h"

using namespace pipelink::place;
using namespace pipelink::place::test;

namespace {

Problem three_steps(bool loop) {
  Problem p;
  p.name = "steps";
  p.loop = loop;
  p.phases = {{"a", {}, {"c"}}, {"b", {"a"}, {}}, {"c", {"b"}, {}}};
  if (!loop) p.phases[0].after_previous.clear();
  const auto buffer = [&](const char* name, std::int64_t bytes, std::vector<std::string> live) {
    Buffer& b = p.buffers.emplace_back();
    b.name = name;
    b.owner = "o";
    b.bytes = bytes;
    b.live = std::move(live);
  };
  buffer("early", 4096, {"a"});
  buffer("late", 2048, {"c"});
  buffer("always", 64, {});
  return p;
}

bool is_edge(const Problem& p, const std::string& from, const std::string& to, bool next) {
  for (const Phase& phase : p.phases)
    if (phase.name == to)
      for (const std::string& before : next ? phase.after_previous : phase.after)
        if (before == from) return true;
  return false;
}

}  // namespace

TEST_CASE("two claims with bytes in common, and the chain of orders between them") {
  const Problem p = three_steps(true);
  const auto solution = solve(p);
  REQUIRE(solution);
  const std::vector<Reuse> found = shared_reuse(p, *solution);
  REQUIRE(found.size() == 1);
  CHECK(found[0].first == "early");
  CHECK(found[0].second == "late");
  CHECK(found[0].bytes == 2048);
  REQUIRE(found[0].within.size() == 1);
  CHECK(found[0].within[0].path == std::vector<std::string>{"a", "b", "c"});
  CHECK(found[0].within[0].crossing == 0);
  REQUIRE(found[0].across.size() == 1);
  CHECK(found[0].across[0].path == std::vector<std::string>{"c", "a"});
  CHECK(found[0].across[0].crossing == 1);
  CHECK(phases_in_order(p) == std::vector<std::string>{"a", "b", "c"});
}

TEST_CASE("without a loop there is no next iteration") {
  const Problem p = three_steps(false);
  const auto solution = solve(p);
  REQUIRE(solution);
  const std::vector<Reuse> found = shared_reuse(p, *solution);
  REQUIRE(found.size() == 1);
  CHECK(found[0].across.empty());
}

TEST_CASE("random problems: whatever shares has chains, and each step of them is declared") {
  int pairs = 0;
  for (std::uint64_t seed = 0; seed < 400; ++seed) {
    Random random(seed);
    const Problem p = random_problem(random, 6, seed % 2 == 0);
    const auto solution = solve(p);
    if (!solution) continue;
    for (const auto& list : {shared_reuse(p, *solution), barrier_reuse(p, *solution)})
      for (const Reuse& r : list) {
        ++pairs;
        CHECK_FALSE(r.within.empty());
        CHECK(r.across.empty() != p.loop);
        for (const auto* chains : {&r.within, &r.across})
          for (const OrderPath& o : *chains)
            for (std::size_t n = 1; n < o.path.size(); ++n)
              CHECK(is_edge(p, o.path[n - 1], o.path[n], o.crossing == n));
      }
  }
  CHECK(pairs > 100);
}
