#include "linker/place/instance_format.h"

#include <doctest/doctest.h>

#include "linker/place/solve.h"
#include "random_problem.h"

using namespace pipelink;
using namespace pipelink::place;
using namespace pipelink::place::test;

namespace {

std::string errors(std::string_view text) {
  std::string out;
  for (const Diagnostic& d : parse_instance(text, "x.pl").diagnostics) {
    CHECK(d.clause == "I-INSTANCE");
    out += (d.facts.empty() ? "" : std::to_string(d.facts[0].where.line) + ": ") + d.title + "\n";
  }
  return out;
}

}  // namespace

TEST_CASE("a whole instance") {
  const auto p = parse_instance(
      "inst demo   # a comment\n"
      "target smem=1000 regs=100 warps=8 bars=3 tmem=64 blocks=2\n"
      "loop\n"
      "phase a\nphase b a\nphase c b\nphase d\n"
      "order a d\n"
      "order c a previous\n"
      "ring r depth=2:4 tier=1 weight=3\n"
      "buf o.x size=64 align=128 live=a..c\n"
      "buf o.y stage=32 ring=r align=8 live=d,a\n"
      "buf o.z size=8\n"
      "buf o.w size=8 live=always\n"
      "bar n live=b\n"
      "tmem t cols=32 live=b,c\n"
      "role w warps=4 wg=1 regs=24:40\n"
      "role v warps=1 wg=0 regs=24:40\n"
      "role u warps=2 align=2 regs=24:40\n",
      "demo.pl");
  REQUIRE(p);
  CHECK(p->name == "demo");
  CHECK(p->target.shared_bytes == 1000);
  CHECK(p->target.blocks_per_sm == 2);
  CHECK(p->loop);
  CHECK(p->phases[3].after == std::vector<std::string>{"a"});
  CHECK(p->phases[0].after_previous == std::vector<std::string>{"c"});
  CHECK(p->rings[0].max_depth == 4);
  CHECK(p->rings[0].weight == 3);
  CHECK(p->buffers[0].owner == "o");
  CHECK(p->buffers[0].live == std::vector<std::string>{"a", "b", "c"});
  CHECK(p->buffers[0].where.line == 11);
  CHECK(p->buffers[1].live == std::vector<std::string>{"a", "d"});
  CHECK(p->buffers[1].stage_bytes == 32);
  CHECK(p->buffers[2].live.empty());
  CHECK(p->buffers[3].live.empty());
  CHECK(p->roles[0].align_warps == 4);
  CHECK(p->roles[1].align_warps == 1);
  CHECK(p->roles[2].align_warps == 2);
}

TEST_CASE("written and read again") {
  for (const char* name : {"attn", "gemm", "moe42v", "real100_0"}) {
    const std::string text = write_instance(load(name));
    const auto again = parse_instance(text, "again.pl");
    REQUIRE(again);
    CHECK(write_instance(*again) == text);
  }
  for (int seed = 1; seed < 100; ++seed) {
    Random random(static_cast<std::uint64_t>(seed));
    const Problem p = random_problem(random, 5, random.below(2) == 1);
    const auto again = parse_instance(write_instance(p), "again.pl");
    REQUIRE(again);
    const auto s = solve(p), t = solve(*again);
    REQUIRE(s.value.has_value() == t.value.has_value());
    if (s) CHECK(*s == *t);
  }
}

TEST_CASE("every error is reported, with its line") {
  CHECK(errors("inst x\nfoo bar\nphase\nbuf b size=x\nbuf c align=8\nring r depth=3\nrole q warps=1 "
               "regs=24:40 color=1\n") ==
        "2: unknown statement 'foo'\n"
        "3: 'phase' needs a name\n"
        "4: 'size=x' is not a number that is possible here\n"
        "5: buffer 'c' has neither size nor stage\n"
        "6: 'depth=3' is not of the form min:max\n"
        "7: 'role' has no key 'color'\n");
  CHECK(
      errors(
          "phase a\nphase b\nbuf x size=8 live=a..b\nbuf y size=8 live=q\norder a z\norder a b previous\n") ==
      "5: unknown phase 'z'\n"
      "6: an order after the previous iteration needs the line 'loop'\n"
      "3: phase 'b' does not come after 'a'\n"
      "4: unknown phase 'q'\n");
  CHECK(errors("buf x size=8 size=9\nbuf y size\nbuf z size=8 live=\n") ==
        "1: key 'size' is given twice\n"
        "2: 'size' is not of the form key=value\n"
        "3: 'live=' names no phase\n");
  CHECK(errors("buf x size=8 align=3\nbuf x stage=8 ring=r\n") ==
        "2: two claims of kind buffer have one name\n"
        "1: an alignment must be a power of two\n"
        "2: a buffer names an unknown ring\n");
  CHECK(errors("") == "");
}

TEST_CASE("damaged texts never do more than report") {
  Random random(3);
  const std::string text = write_instance(load("moe42v"));
  for (int i = 0; i < 2000; ++i) {
    std::string damaged = text;
    for (int k = random.between(1, 4); k > 0; --k) {
      const std::size_t at = static_cast<std::size_t>(random.below(static_cast<int>(damaged.size())));
      switch (random.below(3)) {
        case 0:
          damaged[at] = static_cast<char>(random.between(1, 255));
          break;
        case 1:
          damaged.erase(at, static_cast<std::size_t>(random.between(1, 30)));
          break;
        default:
          damaged.insert(
              at,
              damaged.substr(static_cast<std::size_t>(random.below(static_cast<int>(damaged.size()))), 9));
      }
    }
    const auto p = parse_instance(damaged, "damaged.pl");
    CHECK(p.value.has_value() != has_error(p.diagnostics));
  }
}
