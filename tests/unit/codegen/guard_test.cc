// The placement of guarded links: bands are what no claim covers, whatever sizes and alignments claims have;
// what gives way, and in which order, where the memory does not suffice.
#include "linker/plan/guard.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "builders.h"
#include "linker/codegen/glue.h"
#include "linker/codegen/launch.h"
#include "linker/place/solve.h"
#include "linker/place/verify.h"
#include "packager/base/render.h"

namespace pipelink::test {
namespace {

constexpr std::int64_t kCapacity = 232'448;

place::Problem problem() {
  place::Problem p;
  p.name = "guarded";
  p.loop = true;
  place::Role role;
  role.name = "a.run";
  role.owner = "a";
  p.roles.push_back(role);
  return p;
}

void add(place::Problem& p, const std::string& name, std::int64_t bytes, std::int64_t align,
         std::vector<std::string> live = {}) {
  place::Buffer b;
  b.name = name;
  b.owner = name.substr(0, name.find('.'));
  b.bytes = bytes;
  b.align = align;
  b.live = std::move(live);
  p.buffers.push_back(std::move(b));
}

/// Two phases that never overlap: what lives in one may share with what lives in the other.
void add_phases(place::Problem& p) {
  p.phases = {{"a.take", {}, {"a.give"}}, {"a.give", {"a.take"}, {}}};
}

GuardedPlacement placed(const place::Problem& p) {
  Outcome<GuardedPlacement> out = place_guarded(p, place::kDefaultLimit);
  REQUIRE_MESSAGE(out, render_text(out.diagnostics));
  CHECK(render_text(place::verify(out->problem, out->solution)) == "");
  return std::move(*out.value);
}

/// Byte by byte: what each byte of shared memory is.
void check_bytes(const GuardedPlacement& p, bool shares = false) {
  std::vector<int> claims(static_cast<std::size_t>(p.end)), bands(claims.size());
  for (const place::BufferPlacement& b : p.solution.buffers)
    for (std::int64_t i = b.offset; i < b.offset + b.bytes; ++i) ++claims.at(static_cast<std::size_t>(i));
  for (const GuardBand& b : guard_bands(p.solution, p.end))
    for (std::int64_t i = b.begin; i < b.end; ++i) ++bands.at(static_cast<std::size_t>(i));
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < claims.size(); ++i)
    wrong += (claims[i] != 0) == (bands[i] != 0) || bands[i] > 1 || (!shares && claims[i] > 1);
  CHECK(wrong == 0);
  CHECK(p.solution.buffer(kGuardClaim)->offset == 0);
  CHECK(p.solution.buffer(kGuardClaim)->bytes == kGuardBytes);
  CHECK(p.solution.capacity == kCapacity);
}

std::vector<GuardedClaim> claims_of(const GuardedPlacement& p) {
  return guarded_claims(p.solution, guard_bands(p.solution, p.end));
}

std::vector<std::string> bare(const GuardedPlacement& p) {
  std::vector<std::string> out;
  for (const GuardedClaim& c : claims_of(p))
    if (c.before == 0 || c.after == 0) out.push_back(c.name);
  return out;
}

}  // namespace

TEST_CASE("claims of any size and alignment lie between bands that begin at their last byte") {
  std::mt19937 random(7);
  for (int round = 0; round < 16; ++round) {
    place::Problem p = problem();
    add_phases(p);
    const int count = 1 + static_cast<int>(random() % 12);
    for (int n = 0; n < count; ++n) {
      const std::int64_t align = std::int64_t{1} << (random() % 11);
      std::vector<std::string> live;
      if (random() % 2 == 0) live.push_back(random() % 2 == 0 ? "a.take" : "a.give");
      add(p, "a.b" + std::to_string(n), 1 + static_cast<std::int64_t>(random() % 6000), align, live);
    }
    const GuardedPlacement out = placed(p);
    check_bytes(out);
    for (const place::Buffer& b : p.buffers) {
      CHECK(out.solution.buffer(b.name)->bytes == b.bytes);
      CHECK(out.solution.buffer(b.name)->offset % b.align == 0);
    }
    CHECK(out.reusing.empty());
    for (const GuardedClaim& c : claims_of(out)) {
      CHECK(c.before >= kGuardBand);
      CHECK(c.after >= kGuardBand);
    }
    std::reverse(p.buffers.begin(), p.buffers.end());
    CHECK(placed(p).solution == out.solution);
  }
}

TEST_CASE("rings have their least depth") {
  place::Problem p = problem();
  p.rings.push_back({"a.ring", "a", {}, 2, 8});
  add(p, "a.ring", 0, 128);
  p.buffers.back().ring = "a.ring";
  p.buffers.back().stage_bytes = 1000;
  const GuardedPlacement out = placed(p);
  check_bytes(out);
  CHECK(out.solution.ring("a.ring")->depth == 2);
  CHECK(out.solution.buffer("a.ring")->bytes == 2000);
}

TEST_CASE("where the memory does not suffice, bands go first, those of the largest alignment first of all") {
  place::Problem p = problem();
  for (int n = 0; n < 20; ++n) add(p, "a.big" + std::to_string(10 + n), 10240, 1024);
  for (int n = 0; n < 10; ++n) add(p, "a.little" + std::to_string(n), 1000, 8);
  const GuardedPlacement out = placed(p);
  check_bytes(out);
  const std::vector<std::string> without = bare(out);
  CHECK_FALSE(without.empty());
  for (const std::string& name : without) CHECK(name.starts_with("a.big"));
  CHECK(out.reusing.empty());
  const std::vector<NotGuarded> told = not_guarded(out, guard_bands(out.solution, out.end));
  REQUIRE(told.size() == without.size());
  for (std::size_t i = 0; i < told.size(); ++i) {
    CHECK(told[i].owner == "a");
    CHECK(told[i].what.ends_with(without[i]));
    CHECK(told[i].why == "there is no room for a band");
  }
  CHECK(placed(p).solution == out.solution);
}

TEST_CASE("where claims do not fit beside each other, the largest may share bytes as in any link") {
  place::Problem p = problem();
  add_phases(p);
  add(p, "a.first", 150'000, 16, {"a.take"});
  add(p, "a.second", 140'000, 16, {"a.give"});
  add(p, "a.third", 1000, 16, {"a.give"});
  const GuardedPlacement out = placed(p);
  check_bytes(out, true);
  CHECK(out.reusing == std::vector<std::string>{"a.first", "a.second"});
  const place::BufferPlacement &first = *out.solution.buffer("a.first"),
                               &third = *out.solution.buffer("a.third");
  CHECK((third.offset >= first.offset + first.bytes || third.offset + third.bytes <= first.offset));
  const std::vector<NotGuarded> told = not_guarded(out, guard_bands(out.solution, out.end));
  REQUIRE(told.size() == 2);
  CHECK(told[0].what == "a.first");
  CHECK(told[0].why.find("may share bytes") != std::string::npos);
}

TEST_CASE("what does not fit even so is refused, with what the guard takes") {
  place::Problem p = problem();
  add(p, "a.all", kCapacity, 16);
  CHECK(place::solve(p));
  const Outcome<GuardedPlacement> out = place_guarded(p, place::kDefaultLimit);
  REQUIRE_FALSE(out);
  CHECK(out.diagnostics.front().clause == "L-SMEM");
  CHECK(out.diagnostics.front().help.find("the guard itself takes 208 bytes") != std::string::npos);
  p.buffers.front().bytes -= kGuardBytes;
  CHECK(bare(placed(p)) == std::vector<std::string>{"a.all"});
}

TEST_CASE("other errors are those of any placement") {
  place::Problem p = problem();
  p.roles.front().min_registers = p.roles.front().max_registers = 24;
  for (int n = 0; n < 40; ++n) {
    place::Role role = p.roles.front();
    role.name = "b.r" + std::to_string(n);
    p.roles.push_back(role);
  }
  const Outcome<GuardedPlacement> out = place_guarded(p, place::kDefaultLimit);
  REQUIRE_FALSE(out);
  CHECK(out.diagnostics.front().clause == "L-WARPS");
}

TEST_CASE("two blocks on a multiprocessor have half the memory, less the guard's own") {
  place::Problem p = problem();
  p.target.blocks_per_sm = 2;
  const std::int64_t half = place::shared_capacity(p.target);
  add(p, "a.most", half - 128 - kGuardBytes - 2 * kGuardBand, 16);
  const GuardedPlacement out = placed(p);
  CHECK(out.end <= half);
  CHECK(bare(out).empty());
}

namespace {

struct Made {
  Composition composition;
  Plan plan;
  std::string glue;
  LaunchDescription launch;
};

Made make(bool guard) {
  Made out;
  out.composition =
      compose({{Component("worker").role("run", 1).buffer("room", number(100)).change([](Contract& c) {
                  c.roles[0].align_warps = 1;
                  c.mbarriers.push_back({"turns", {"worker.cu", 8}, number(3), number(2), 0, {}});
                  c.named_barriers.push_back({"all", {"worker.cu", 9}, number(32), {}});
                }),
                ""}});
  out.composition.options.guard = guard;
  Outcome<Bindings> bindings = bind(out.composition);
  REQUIRE(bindings);
  Outcome<Plan> planned = plan(out.composition, *bindings, {});
  REQUIRE_MESSAGE(planned, render_text(planned.diagnostics));
  out.plan = std::move(*planned.value);
  Outcome<std::string> text = glue(out.composition, *bindings, out.plan, {});
  REQUIRE_MESSAGE(text, render_text(text.diagnostics));
  out.glue = *text;
  out.launch = launch_description(out.composition, *bindings, out.plan);
  return out;
}

}  // namespace

TEST_CASE("only the glue of a guarded link has a guard") {
  const Made plain = make(false), guarded = make(true);
  CHECK(plain.glue.find("pl_guard") == std::string::npos);
  CHECK(plain.glue.find("bool pl__guard__wait(unsigned, unsigned) { return false; }") != std::string::npos);
  CHECK(plain.glue.find("bool pl__guard__barrier(unsigned, unsigned, bool) { return false; }") !=
        std::string::npos);
  CHECK_FALSE(plain.launch.guard);
  CHECK_FALSE(plain.plan.guard);
  for (const char* part : {"> 2000 * 1000000ull", "pl_guard_fill();", "sizeof(pl_guard_head) == 208",
                           "\n  pl_guard_end();\n}\n"})
    CHECK_MESSAGE(guarded.glue.find(part) != std::string::npos, part);
  // The order of things: bands and words are there before the first barrier, roles only after the second.
  const std::size_t fill = guarded.glue.find("  pl_guard_fill();"),
                    first = guarded.glue.find("__syncthreads();", fill),
                    second = guarded.glue.find("__syncthreads();", first + 1),
                    role = guarded.glue.find("pl__worker__role__run(pipelink::Self{0", second);
  CHECK(role != std::string::npos);
}

TEST_CASE("the launch description says what addresses are of") {
  const Made made = make(true);
  REQUIRE(made.launch.guard);
  const LaunchGuard& g = *made.launch.guard;
  CHECK(g.milliseconds == 2000);
  CHECK(g.parameter + 8 <= made.launch.parameter_size);
  CHECK(g.parameter % 8 == 0);
  REQUIRE(g.claims.size() == 3);
  CHECK(g.claims[0] == LaunchGuard::Claim{"kernel", "kernel:guard", 0, 208, 0});
  for (const LaunchGuard::Claim& c : g.claims) {
    const place::BufferPlacement& at = *made.plan.solution.buffer(c.name);
    CHECK(c.offset == at.offset);
    CHECK(c.bytes == at.bytes);
    if (c.name == "worker.turns")
      CHECK(c == LaunchGuard::Claim{"mbarriers", "worker.turns", c.offset, 24, 2});
    if (c.name == "worker.room") CHECK(c == LaunchGuard::Claim{"buffer", "worker.room", c.offset, 100, 0});
  }
  CHECK(g.roles == std::vector<LaunchGuard::Role>{{"worker.run", 0, 1}});
  CHECK(g.barriers == std::vector<LaunchGuard::Barrier>{{"worker.all", 1}});
}

}  // namespace pipelink::test
