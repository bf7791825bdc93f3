// What components say of counters, scopes and the launch.
#include <doctest/doctest.h>

#include "builders.h"
#include "linker/check/check.h"
#include "packager/base/render.h"

namespace pipelink::test {
namespace {

Component gemm() {
  return Component("gemm").role("mma", 4);
}
Component signals(const std::string& scope = "device") {
  return gemm().counter(kOut, "done", scope);
}
Component waits(const std::string& scope = "device") {
  return Component("tail").role("run", 4).counter(kIn, "done", scope);
}

}  // namespace

TEST_CASE("a counter has one owner and any number of users") {
  const Composition c = compose({{signals(), ""}, {waits(), "one"}, {waits(), "two"}});
  CHECK(picture(c) == "one.done -> gemm.done\ntwo.done -> gemm.done\n");
  CHECK(messages(c).empty());
  const std::string text = messages(compose({{waits(), ""}}));
  CHECK(text.find("error[L-UNBOUND]: nobody exports what the counter `tail.done` needs") == 0);
  const std::string two = messages(compose({{signals(), "a"}, {signals(), "b"}, {waits(), ""}}));
  CHECK(two.find("error[L-AMBIGUOUS]: the counter `tail.done` could be bound to 2 exports") !=
        std::string::npos);
  CHECK(two.find("BIND tail.done=a.done or BIND tail.done=b.done") != std::string::npos);
  CHECK(picture(compose({{signals(), "a"}, {signals(), "b"}, {waits(), ""}},
                        {{{"tail.done", "b.done"}}, {}})) == "tail.done -> b.done\n");
}

TEST_CASE("L-COUNTER") {
  const Component other = waits()
                              .change([](Contract& c) {
                                c.counters[0].arrivals = expression("n");
                                c.counters[0].initial.reset();
                              })
                              .fact("n", number(2));
  CHECK(messages(compose({{signals(), ""}, {other, ""}})) ==
        R"(error[L-COUNTER]: the two sides of the counter `gemm.done` disagree on arrivals
  gemm: owns counter `done`, arrivals 1 (gemm.cu:2)
  tail: uses it as `done`, arrivals `n` = 2 (tail.cu:2)
  tail: `n` is 2 (tail.cu:3)
  = reason: 1 in gemm and 2 in tail, which differ by 1: waits would pass too early or never
  = help: state arrivals 1 in tail, by the facts of gemm if it has them
)");
}

TEST_CASE("L-SCOPE") {
  CHECK(messages(compose({{signals(), ""}, {waits("system"), ""}})) ==
        R"(error[L-SCOPE]: the two sides of the counter `gemm.done` state different scopes
  gemm: owns counter `done`, scope device (gemm.cu:2)
  tail: uses it as `done`, scope system (tail.cu:2)
  = reason: what gemm writes is ordered for one device, and tail relies on it in the whole system
  = help: state scope system in gemm, if its code orders memory for it, or device in tail
)");
  CHECK(messages(compose({{signals(), ""}, {waits(""), ""}})).empty());
  const Component owner =
      gemm().ring(kOut, "q", kConsumer).change([](Contract& c) { c.rings[0].scope = "cluster"; });
  const Component user = Component("load").role("run", 4).ring(kIn, "q", kProducer).change([](Contract& c) {
    c.rings[0].scope = "block";
  });
  CHECK(messages(compose({{owner, ""}, {user, ""}}))
            .find("error[L-SCOPE]: the two sides of the ring `gemm.q` state different scopes") == 0);
}

TEST_CASE("L-RING: the parities of the first waits") {
  const Component owner =
      gemm().ring(kOut, "q", kConsumer).change([](Contract& c) { c.rings[0].empty_parity = number(1); });
  const Component user = Component("load").role("run", 4).ring(kIn, "q", kProducer).change([](Contract& c) {
    c.rings[0].empty_parity = number(0);
  });
  CHECK(messages(compose({{owner, ""}, {user, ""}})) ==
        R"(error[L-RING]: the two sides of the ring `gemm.q` disagree on empty_parity
  gemm: owns ring `q`, empty_parity 1 (gemm.cu:2)
  load: uses it as `q`, empty_parity 0 (load.cu:2)
  = reason: 1 in gemm and 0 in load, which differ by 1: one side waits at first where the other passes
  = help: state empty_parity 1 in load, by the facts of gemm if it has them
)");
}

TEST_CASE("L-DEADLOCK: a ring whose stages the consumer gives at first") {
  const auto ring = [](const std::string& once) {
    const Component owner =
        gemm().ring(kOut, "q", kConsumer).steps("mma", "wait q; release q", once).change([](Contract& c) {
          c.rings[0].empty_parity = number(0);
        });
    const Component user =
        Component("load").role("run", 4).ring(kIn, "q", kProducer).steps("run", "acquire q; arrive q");
    return messages(compose({{owner, ""}, {user, ""}}));
  };
  CHECK(ring("release q x 2").empty());
  CHECK(ring("").find("error[L-DEADLOCK]: `gemm.mma` and `load.run` wait for each other at `gemm.q`") == 0);
}

TEST_CASE("L-CLUSTER") {
  const Component two = gemm().cluster(2);
  Composition launched = compose({{two, ""}});
  CHECK(messages(launched) ==
        R"(error[L-CLUSTER]: the composition does not launch the clusters that a component needs
  gemm: needs clusters of (2, 1, 1) (gemm.cu:2)
  composition: launches clusters of (1, 1, 1) (fused.json)
  = reason: 2 in gemm, and 1 in the composition
  = help: LINK_OPTIONS cluster=2x1x1
)");
  launched.launch.cluster[0] = 2;
  CHECK(messages(launched).empty());
  launched.launch.cluster[1] = 2;
  CHECK(messages(launched) ==
        R"(error[L-CLUSTER]: the composition's clusters have more than one dimension
  composition: launches clusters of (2, 2, 1) (fused.json)
  = reason: the grid has one dimension, so a cluster is (n, 1, 1)
  = help: launch clusters of (4, 1, 1)
)");
  const Component four = Component("pairs").role("run", 4).cluster(4);
  const std::string text = messages(compose({{two, ""}, {four, ""}}));
  CHECK(text.find(R"(error[L-CLUSTER]: two components need different clusters
  gemm: needs clusters of (2, 1, 1) (gemm.cu:2)
  pairs: needs clusters of (4, 1, 1) (pairs.cu:2)
  = reason: blocks of a cluster: 2 in gemm, 4 in pairs; a kernel has one size
  = help: use components that are written for one size of cluster
)") != std::string::npos);
}

TEST_CASE("L-GRID: an import without a scope has its owner's") {
  const Component tail = Component("tail").role("run", 4).counter(kIn, "done", "").steps("run", "wait done");
  const Component head = gemm().counter(kOut, "done", "device").steps("mma", "arrive done");
  CHECK(messages(compose({{head, ""}, {tail, ""}}))
            .find("error[L-GRID]: blocks that wait at `tail.done` need not all be on the device") == 0);
  const Component near = gemm().counter(kOut, "done", "block").steps("mma", "arrive done");
  CHECK(messages(compose({{near, ""}, {tail, ""}})).empty());
}

TEST_CASE("L-GRID: blocks that wait for each other") {
  const auto meeting = [] {
    return Component("meet")
        .role("run", 4)
        .counter(kOut, "all", "device")
        .steps("run", "(arrive all; wait all)");
  };
  CHECK(messages(compose({{meeting(), ""}})) ==
        R"(error[L-GRID]: blocks that wait at `meet.all` need not all be on the device
  meet: has the counter `all`, scope device (meet.cu:2)
  meet: waits at it in `run` (meet.cu:3)
  = reason: 0 components ask for resident blocks: a block that waits may keep out the one that it waits for
  = help: state PIPELINK_GRID(.resident = true) in meet
)");
  const Component resident = meeting().change([](Contract& c) { c.grid.emplace().resident = true; });
  CHECK(messages(compose({{resident, ""}})).empty());
  const Component apart =
      Component("meet").role("run", 4).counter(kOut, "all", "block").steps("run", "arrive all; wait all");
  CHECK(messages(compose({{apart, ""}})).empty());
}

}  // namespace pipelink::test
