// A composition of two hundred components, in the time in which a build does not notice it.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include "builders.h"
#include "linker/check/check.h"
#include "linker/plan/plan.h"
#include "linker/route/route.h"
#include "packager/base/render.h"

namespace pipelink::test {
namespace {

constexpr int kComponents = 200, kWorkers = 16;
#if defined(NDEBUG) && !defined(__SANITIZE_ADDRESS__)
constexpr double kMost = 300;
#else
constexpr double kMost = 6'000;  // the same work without optimisation, and watched
#endif

/// Of this process, and so the same beside others.
double cpu_ms() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return 1e3 * static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-3 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

std::string named(const std::string& word, int n) {
  return word + std::to_string(n);
}

/// Workers in pairs with a ring each. Every worker calls a chain of callables, a component each, that have
/// memory, facts and requirements of their own and read those of the next one.
Composition two_hundred() {
  std::vector<Use> uses;
  const int chain = (kComponents - kWorkers) / kWorkers;
  int next = 0;
  for (int w = 0; w < kWorkers; ++w) {
    const int first = next;
    for (int n = 0; n < chain || (w + 1 == kWorkers && static_cast<int>(uses.size()) + 1 < kComponents);
         ++n) {
      const bool last =
          n + 1 >= chain && !(w + 1 == kWorkers && static_cast<int>(uses.size()) + 2 < kComponents);
      Component part(named("part", next));
      part.callable(kOut, named("f", next), {"int", "float (&)[4]"})
          .buffer("room", expression(named("size", next) + " * 64"))
          .fact(named("size", next), number(1 + next % 4))
          .settable("width", 4, {2, 4, 8})
          .requires_that("fits", named("size", next) + " * width <= 64")
          .steps(named("f", next), "", last ? "" : "call " + named("f", next + 1));
      if (!last)
        part.callable(kIn, named("f", next + 1), {"int", "float (&)[4]"})
            .reads(named("size", next + 1))
            .requires_that("order", named("size", next + 1) + " > 0");
      uses.push_back({part, ""});
      ++next;
    }
    const bool produces = w % 2 == 0;
    const std::string ring = named("ring", w / 2), call = "; call " + named("f", first);
    Component worker(named("worker", w));
    worker.role("run", 2)
        .ring(produces ? kIn : kOut, ring, produces ? kProducer : kConsumer)
        .change([](Contract& c) { c.rings[0].full_arrivals = c.rings[0].empty_arrivals = number(1); })
        .callable(kIn, named("f", first), {"int", "float (&)[4]"})
        .steps("run",
               (produces ? "acquire " + ring + "; arrive " + ring : "wait " + ring + "; release " + ring) +
                   call);
    uses.push_back({worker, ""});
  }
  return compose(uses);
}

/// A producer's tile of 64 x 256 in the registers of a warpgroup, and a consumer that wants it in another
/// layout; by a call, or between two roles.
void add_tile(std::vector<Use>& uses, int n, const std::string& layout, bool roles) {
  const auto sized = [](Contract& c) {
    c.callables[0].parameters[0] = {c.callables[0].parameters[0].name, 512, 4};
    c.tensors[0].tile = {number(64), number(256)};
  };
  Component give(named("give", n)), take(named("take", n));
  give.role("hold", 4)
      .callable(kIn, named("f", n), {"const float (&)[128]"})
      .tensor(kOut, named("tile", n), named("f", n))
      .change(sized);
  if (roles) take.role("use", 4);
  take.callable(roles ? kIn : kOut, named(roles ? "g" : "f", n),
                {roles ? "float (&)[128]" : "const float (&)[128]"})
      .tensor(kIn, named("tile", n), named(roles ? "g" : "f", n))
      .change(sized);
  uses.push_back({give.layout("((4,8,4),(2,2,32)):((2,256,4096),(1,2048,8))"), ""});
  uses.push_back({take.layout(layout), ""});
}

}  // namespace

TEST_CASE("large tiles of every kind of route are routed in 50 ms") {
  constexpr double kRouting = kMost / 300 * 50;
  const char* const kRenamed = "((4,8,4),(32,2,2)):((2,256,4096),(8,2048,1))";
  const char* const kLanes = "((8,4,4),(2,2,32)):((256,2,4096),(1,2048,8))";
  const char* const kRuns = "((2,2,8,4),(4,2,16)):((2048,4,256,4096),(1,8,16))";
  const char *const kHalves = "(128,128):(128,1)", *const kColumns = "(128,(64,2)):(1,(256,128))";
  std::vector<Use> uses;
  int n = 0;
  for (const char* layout : {kRenamed, kLanes, kRuns, kHalves, kColumns}) add_tile(uses, n++, layout, false);
  for (const char* layout : {kHalves, kColumns}) add_tile(uses, n++, layout, true);
  const Composition c = compose(uses);
  const Outcome<Bindings> bindings = bind(c);
  INFO(render_text(bindings.diagnostics));
  REQUIRE(bindings);
  const double start = cpu_ms();
  const Outcome<std::vector<Route>> routes = route(c, *bindings);
  const double all = cpu_ms() - start;
  INFO(render_text(routes.diagnostics));
  REQUIRE(routes);
  std::string kinds;
  for (const Route& r : *routes) kinds += std::string(transfer::name_of(r.transfer.kind)) + "; ";
  MESSAGE("routes " << kinds << all << " ms");
  CHECK(all <= kRouting);
}

TEST_CASE("two hundred components are bound, checked and placed in 300 ms") {
  const Composition c = two_hundred();
  REQUIRE(c.instances.size() == kComponents);
  const double start = cpu_ms();
  const Outcome<Bindings> bindings = bind(c);
  const double bound = cpu_ms();
  INFO(render_text(bindings.diagnostics));
  REQUIRE(bindings);
  const Diagnostics checked = check(c, *bindings);
  const double done = cpu_ms();
  INFO(render_text(checked));
  REQUIRE(checked.empty());
  const Outcome<Plan> planned = plan(c, *bindings, {});
  const double placed = cpu_ms();
  INFO(render_text(planned.diagnostics));
  REQUIRE(planned);
  CHECK(check_placed(c, *bindings, ring_stages(c, *planned)).empty());
  const double all = cpu_ms() - start;
  MESSAGE("bind " << bound - start << " ms, check " << done - bound << " ms, place " << placed - done
                  << " ms, all " << all << " ms");
  CHECK(planned->solution.optimal);
  CHECK(all <= kMost);
}

}  // namespace pipelink::test
