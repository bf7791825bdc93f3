// The verifier sees every damage.
#include "linker/place/verify.h"

#include <doctest/doctest.h>

#include "linker/place/solve.h"
#include "random_problem.h"

using namespace pipelink;
using namespace pipelink::place;
using namespace pipelink::place::test;

namespace {

template <class F>
void damaged(const Problem& p, const Solution& s, F&& damage) {
  Solution wrong = s;
  damage(wrong);
  const Diagnostics found = verify(p, wrong);
  CHECK_FALSE(found.empty());
  for (const Diagnostic& d : found) CHECK(d.clause == "L-VERIFY");
}

}  // namespace

TEST_CASE("a damaged placement is seen") {
  const Problem p = load("moe42v");
  const Solution s = *solve(p);
  REQUIRE(verify(p, s).empty());
  for (std::size_t i = 0; i < s.buffers.size(); ++i) {
    damaged(p, s, [&](Solution& w) { w.buffers[i].offset += 4; });
    damaged(p, s, [&](Solution& w) { w.buffers[i].offset = -1024; });
    damaged(p, s, [&](Solution& w) { w.buffers[i].offset = 1 << 20; });
    damaged(p, s, [&](Solution& w) { w.buffers[i].bytes += 1; });
    damaged(p, s, [&](Solution& w) { w.buffers.erase(w.buffers.begin() + static_cast<std::ptrdiff_t>(i)); });
  }
  damaged(p, s, [](Solution& w) { w.buffers.push_back(w.buffers[0]); });
  damaged(p, s, [](Solution& w) { w.buffers[0].name = "nobody"; });
  damaged(p, s, [](Solution& w) { w.footprint += 1024; });
  damaged(p, s, [](Solution& w) { w.capacity += 1024; });
  damaged(p, s, [](Solution& w) { w.rings[0].depth = 9; });
  damaged(p, s, [](Solution& w) { w.rings[0].depth += 1; });
  damaged(p, s, [](Solution& w) { w.barriers[1].id = w.barriers[2].id; });  // nb.b and nb.c are live together
  damaged(p, s, [](Solution& w) { w.barriers[0].id = 0; });
  damaged(p, s, [](Solution& w) { w.barriers[0].id = 16; });
  damaged(p, s, [](Solution& w) { w.barrier_count = 16; });
  damaged(p, s, [](Solution& w) { w.tensor_columns[0].column = 8; });
  damaged(p, s, [](Solution& w) { w.tensor_columns[0].column = 512; });
  damaged(p, s, [](Solution& w) { w.roles[0].first_warp = w.roles[1].first_warp; });
  damaged(p, s, [](Solution& w) { w.roles[0].registers += 8; });
  damaged(p, s, [](Solution& w) { w.warpgroup_registers[0] = 4; });
  damaged(p, s, [](Solution& w) { w.warpgroup_registers.push_back(24); });
  damaged(p, s, [](Solution& w) { w.entry_registers = 128; });
  damaged(p, s, [](Solution& w) { w.roles[0].warps += 1; });
}

TEST_CASE("of two overlapping claims that may not share, both are named") {
  const Problem p = load("attn");
  Solution s = *solve(p);
  for (BufferPlacement& b : s.buffers)
    if (b.name == "core.k") b.offset = s.buffer("core.v")->offset;
  bool named = false;
  for (const Diagnostic& d : verify(p, s))
    if (d.facts.size() == 2)
      named = named || (d.facts[0].text.find("core.v") == 0 && d.facts[1].text.find("core.k") == 0) ||
              (d.facts[0].text.find("core.k") == 0 && d.facts[1].text.find("core.v") == 0);
  CHECK(named);
}

TEST_CASE("overlaps of claims that may not share are exactly what is reported") {
  for (int seed = 1; seed <= 300; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    Problem p = random_problem(random, 5, true);
    p.target.shared_bytes = 1 << 20;
    p.target.named_barriers = 15;
    const auto s = solve(p);
    REQUIRE(s);
    CHECK(verify(p, *s).empty());
    // The least footprint is least: pressing everything to 0 breaks something unless everything lies there.
    Solution flat = *s;
    flat.footprint = 0;
    bool moved = false;
    for (BufferPlacement& b : flat.buffers) {
      moved = moved || b.offset != 0;
      b.offset = 0;
      flat.footprint = std::max(flat.footprint, b.bytes);
    }
    CHECK(verify(p, flat).empty() == !moved);
  }
}
