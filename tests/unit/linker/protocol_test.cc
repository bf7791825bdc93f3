// The order in which roles wait and arrive.
#include "linker/protocol/order.h"

#include <doctest/doctest.h>

#include "builders.h"
#include "linker/check/check.h"
#include "packager/base/render.h"

namespace pipelink::test {
namespace {

Component gemm(const std::string& loop, const std::string& once = {}) {
  return Component("gemm").role("mma", 4).ring(kOut, "operands", kConsumer).steps("mma", loop, once);
}
Component loader(const std::string& loop, const std::string& once = {}) {
  return Component("loader").role("load", 4).ring(kIn, "operands", kProducer).steps("load", loop, once);
}

/// "titles | checked | unchecked", with every ring of that depth.
std::string judged(const std::vector<Use>& uses, std::int64_t stages) {
  const Composition c = compose(uses);
  const Outcome<Bindings> b = bind(c);
  INFO(render_text(b.diagnostics));
  REQUIRE(b);
  RingStages depths;
  for (const Binding& ring : b->rings) depths[ring.exporter] = stages;
  const ProtocolOrder order = protocol_order(c, *b, depths);
  std::string out;
  for (const ProtocolFault& f : order.faults) out += f.diagnostic.clause + ": " + f.diagnostic.title + "; ";
  out += "|";
  for (const std::string& name : order.checked) out += " " + name;
  out += " |";
  for (const UncheckedProtocol& p : order.unchecked) out += " " + p.name + " (" + p.why + ")";
  return out;
}

std::string judged(const Component& a, const Component& b, std::int64_t stages) {
  return judged({{a, ""}, {b, ""}}, stages);
}

const std::string kFine = "| gemm.operands |";

}  // namespace

TEST_CASE("a ring is live with one stage if each side does one step at a time") {
  CHECK(judged(gemm("wait operands; release operands"), loader("acquire operands; arrive operands"), 1) ==
        kFine);
}

TEST_CASE("loops of different lengths balance") {
  CHECK(judged(gemm("wait operands x 5; release operands x 5"), loader("acquire operands; arrive operands"),
               5) == kFine);
  CHECK(judged(gemm("wait operands x 3; release operands x 3"),
               loader("(acquire operands; arrive operands) x 2"), 3) == kFine);
}

TEST_CASE("L-DEADLOCK: more stages held than there are") {
  const Component holds_three = gemm("wait operands; release operands", "wait operands x 2");
  const Component load = loader("acquire operands; arrive operands");
  CHECK(judged(holds_three, load, 3) == kFine);
  const Composition c = compose({{holds_three, ""}, {load, ""}});
  const Outcome<Bindings> b = bind(c);
  REQUIRE(b);
  CHECK(check(c, *b).empty());
  CHECK(render_text(check_placed(c, *b, {{PortRef{0, 0}, 2}})) ==
        R"(error[L-DEADLOCK]: `gemm.mma` and `loader.load` wait for each other at `gemm.operands`
  gemm: `wait operands` of gemm.mma waits for `arrive operands` of loader.load, and `release operands` comes after (gemm.cu:3)
  loader: `acquire operands` of loader.load waits for `release operands` of gemm.mma, and `arrive operands` comes after (loader.cu:3)
  = reason: the 3rd `wait operands` of gemm.mma needs the 3rd `arrive operands` of loader.load
            the 3rd `acquire operands` of loader.load needs the 1st `release operands` of gemm.mma, since gemm.operands has 2 stages
  = help: give the ring `gemm.operands` a least depth: .stages = {3, 8}; with 3 stages these waits are met
)");
  CHECK(check_placed(c, *b, {{PortRef{0, 0}, 3}}).empty());
}

TEST_CASE("L-DEADLOCK: before placement, if no depth that is allowed would do, with a depth that was tried") {
  const Component wide = gemm("wait operands x 9; release operands x 9");
  const std::string text = messages(compose({{wide, ""}, {loader("acquire operands; arrive operands"), ""}}));
  CHECK(text.find("error[L-DEADLOCK]: `gemm.mma` and `loader.load` wait for each other at `gemm.operands`") ==
        0);
  CHECK(text.find(
            "the 9th `acquire operands` of loader.load needs the 1st `release operands` of gemm.mma, since "
            "gemm.operands has 8 stages") != std::string::npos);
  CHECK(text.find("= help: give the ring `gemm.operands` a least depth: .stages = {9, 9}; with 9 stages "
                  "these waits are "
                  "met") != std::string::npos);
}

TEST_CASE("L-DEADLOCK: a SET that mends it, tried and allowed by all requirements") {
  const auto help = [](const Component& reader) {
    const std::string text =
        messages(compose({{reader, ""}, {loader("acquire operands; arrive operands"), ""}}));
    CHECK(text.find("error[L-DEADLOCK]") == 0);
    CHECK(text.find("error[", 1) == std::string::npos);
    const std::size_t at = text.find("help: ");
    return at == std::string::npos ? text : text.substr(at + 6);
  };
  const auto wide = [] {
    return gemm("wait operands x n; release operands x n").settable("n", 12, {1, 8, 10, 12, 16});
  };
  CHECK(help(wide()) == "SET gemm.n=8\n");
  CHECK(help(wide().requires_that("even", "n % 8 != 0")) == "SET gemm.n=1\n");
  // No value of the domain will do; then a depth, unless a requirement forbids it.
  CHECK(help(wide().requires_that("many", "n >= 10")) ==
        "give the ring `gemm.operands` a least depth: .stages = {12, 12}; with 12 stages these waits are "
        "met\n");
  CHECK(help(wide().requires_that("many", "n >= 10").requires_that("room", "operands.stages <= 8")) ==
        "let one of these roles arrive before it waits\n");
}

TEST_CASE("L-COUNT: more arrivals than the roles have threads") {
  const auto pair = [](std::int64_t arrivals) {
    return Component("pair")
        .role("left", 2)
        .role("right", 1)
        .role("third", 4)
        .mbarriers("a")
        .change([](Contract& c) {
          c.mbarriers[0].arrivals = {0, "n"};
        })
        .fact("n", number(arrivals))
        .steps("left", "", "arrive a")
        .steps("right", "", "arrive a")
        .steps("third", "", "wait a");
  };
  CHECK(messages(compose({{pair(96), ""}})).empty());
  CHECK(messages(compose({{pair(1), ""}})).empty());
  CHECK(messages(compose({{pair(97), ""}})) ==
        R"(error[L-COUNT]: `pair.a`, where `pair.third` waits, expects more arrivals than can come
  pair: `arrive a` of pair.left: 64 threads (pair.cu:6)
  pair: `arrive a` of pair.right: 32 threads (pair.cu:7)
  pair: declares `a` (pair.cu:4)
  = reason: it waits for 97 arrivals; the roles that arrive there have 64 + 32 = 96 threads
  = help: state at most 96 arrivals, one for each thread that arrives, or add the step to the role that also does
)");
  Composition cluster = compose({{pair(97), ""}});
  cluster.launch.cluster[0] = 2;
  CHECK(messages(cluster).empty());
  const Component held = gemm("wait operands; release operands").change([](Contract& c) {
    c.rings[0].empty_arrivals = number(256);
  });
  CHECK(messages(compose({{held, ""}, {loader("acquire operands; arrive operands"), ""}}))
            .find("error[L-COUNT]: the empty barriers of `gemm.operands`, where `loader.load` waits") == 0);
}

TEST_CASE("L-RATE: a SET that mends it") {
  const Component taker = gemm("wait operands x n; release operands").settable("n", 2, {1, 2});
  const std::string text =
      messages(compose({{taker, ""}, {loader("acquire operands; arrive operands"), ""}}));
  CHECK(text.find("error[L-RATE]") == 0);
  CHECK(text.find("help: SET gemm.n=1\n") != std::string::npos);
}

TEST_CASE("L-DEADLOCK: two protocols taken in opposite order") {
  const Component pair = Component("pair")
                             .role("left", 1)
                             .role("right", 1)
                             .mbarriers("a")
                             .mbarriers("b")
                             .steps("left", "wait b; arrive a")
                             .steps("right", "wait a; arrive b");
  CHECK(messages(compose({{pair, ""}})) ==
        R"(error[L-DEADLOCK]: `pair.left` and `pair.right` wait for each other at `pair.b` and `pair.a`
  pair: `wait b` of pair.left waits for `arrive b` of pair.right, and `arrive a` comes after (pair.cu:5)
  pair: `wait a` of pair.right waits for `arrive a` of pair.left, and `arrive b` comes after (pair.cu:6)
  = reason: the 1st `wait b` of pair.left needs the 1st `arrive b` of pair.right
            the 1st `wait a` of pair.right needs the 1st `arrive a` of pair.left
  = help: let one of these roles arrive before it waits
)");
}

TEST_CASE("what is free at first passes the first waits") {
  const auto pair = [](std::int64_t count, std::int64_t parity) {
    return Component("pair")
        .role("left", 1)
        .role("right", 1)
        .mbarriers("full", count)
        .mbarriers("empty", count, parity)
        .steps("left", "wait empty; arrive full")
        .steps("right", "wait full x 2; arrive empty x 2");
  };
  CHECK(judged({{pair(2, 1), ""}}, 0) == "| pair.empty pair.full |");
  const std::string dead =
      "L-DEADLOCK: `pair.left` and `pair.right` wait for each other at `pair.empty` and `pair.full`; ";
  CHECK(judged({{pair(1, 1), ""}}, 0) == dead + "| pair.empty pair.full |");
  CHECK(judged({{pair(2, 0), ""}}, 0) == dead + "| pair.empty pair.full |");
}

TEST_CASE("L-DEADLOCK: a role that waits for its own later arrival") {
  const Component one = Component("one").role("run", 1).mbarriers("m").steps("run", "wait m; arrive m");
  CHECK(judged({{one, ""}}, 0) == "L-DEADLOCK: `one.run` waits for itself at `one.m`; | one.m |");
}

TEST_CASE("L-OVERRUN: a producer that does not acquire, a consumer that releases before it waits") {
  const std::string ahead =
      "L-OVERRUN: `loader.load` may run ahead of `gemm.mma` at the full barriers of `gemm.operands`; ";
  CHECK(judged(gemm("wait operands; release operands"), loader("arrive operands"), 4) == ahead + kFine);
  CHECK(
      judged(gemm("release operands; wait operands"), loader("acquire operands; arrive operands"), 4) ==
      ahead +
          "L-OVERRUN: `gemm.mma` may run ahead of `loader.load` at the empty barriers of `gemm.operands`; " +
          kFine);
  // One stage is always held back, or what comes before a loop gives no more than there is.
  CHECK(judged(gemm("wait operands; release operands", "wait operands"),
               loader("acquire operands; arrive operands"), 2) == kFine);
  CHECK(judged(gemm("", "wait operands x 3"), loader("", "arrive operands x 3"), 3) == kFine);
  CHECK(judged(gemm("", "wait operands x 3"), loader("", "arrive operands x 3"), 2) == ahead + kFine);
}

TEST_CASE("L-OVERRUN: mbarriers tell two phases apart, and an answer keeps the other side back") {
  const auto pair = [](const std::string& left, const std::string& right, std::int64_t count = 1) {
    return Component("pair")
        .role("left", 1)
        .role("right", 1)
        .mbarriers("m", count)
        .mbarriers("back", 1)
        .steps("left", left)
        .steps("right", right);
  };
  const std::string ahead = "L-OVERRUN: `pair.left` may run ahead of `pair.right` at `pair.m`; ",
                    fine = "| pair.back pair.m |";
  CHECK(judged({{pair("arrive m", "wait m; arrive back"), ""}}, 0) == ahead + fine);
  CHECK(judged({{pair("arrive m; wait back", "wait m; arrive back"), ""}}, 0) == fine);
  CHECK(judged({{pair("arrive m; wait back", "arrive back; wait m"), ""}}, 0).find("L-OVERRUN") == 0);
  CHECK(judged({{pair("arrive m x 2; wait back", "wait m x 2; arrive back"), ""}}, 0) == ahead + fine);
  CHECK(judged({{pair("arrive m x 2; wait back", "wait m x 2; arrive back", 2), ""}}, 0) == fine);
  // What keeps it back may be what is not checked.
  CHECK(judged({{pair("arrive m; wait back ?", "wait m; arrive back ?"), ""}}, 0).find("|") == 0);
}

TEST_CASE("L-OVERRUN: stages that are filled without being acquired, where others are") {
  const std::string take = "wait operands; release operands";
  // The first ones are known to be empty: all, some, or the one that is always ahead.
  CHECK(judged(gemm(take), loader("acquire operands; arrive operands", "arrive operands x 4"), 4) == kFine);
  CHECK(judged(gemm(take), loader("acquire operands; arrive operands", "arrive operands x 2"), 4) == kFine);
  CHECK(judged(gemm(take), loader("arrive operands; acquire operands"), 1) == kFine);
  CHECK(judged(gemm(take), loader("arrive operands; acquire operands", "acquire operands"), 2) == kFine);
  // Two at a time, where the first one's barrier speaks for both.
  CHECK(judged(gemm("wait operands x 2; release operands"), loader("acquire operands; arrive operands x 2"),
               4) == kFine);
  CHECK(judged(gemm("wait operands; release operands x 2"), loader("acquire operands x 2; arrive operands"),
               4) == kFine);
  // By two roles: one that acquires all but the first, and tells the other; one that helps.
  const Component two = Component("loader")
                            .role("ask", 1)
                            .role("load", 1)
                            .ring(kIn, "operands", kProducer)
                            .mbarriers("free", 1)
                            .mbarriers("filled", 1)
                            .steps("ask", "acquire operands; arrive free; wait filled")
                            .steps("load", "wait free; arrive operands; arrive filled", "arrive operands");
  CHECK(judged(gemm(take), two, 1).find("|") == 0);
  const Component help = Component("loader")
                             .role("load", 4)
                             .role("help", 4)
                             .ring(kIn, "operands", kProducer)
                             .steps("load", "acquire operands; arrive operands")
                             .steps("help", "arrive operands");
  CHECK(judged(gemm(take), help, 2) == kFine);
  // The consumer gives them out.
  const Component gives =
      gemm(take, "release operands x 2").change([](Contract& c) { c.rings[0].empty_parity = number(0); });
  CHECK(judged(gives, loader("acquire operands; arrive operands"), 2) == kFine);
}

TEST_CASE("L-OVERRUN: nothing is said where no step names what may keep roles back") {
  const auto pair = [](std::int64_t threads, const std::string& more) {
    return Component("pair")
        .role("left", 4)
        .role("right", 4)
        .mbarriers("m")
        .barrier("all", threads)
        .steps("left", "arrive m" + more)
        .steps("right", "wait m" + more);
  };
  CHECK(judged({{pair(256, "; sync all"), ""}}, 0) == "| pair.all pair.m |");
  CHECK(judged({{pair(256, ""), ""}}, 0) == "| pair.all pair.m |");
  CHECK(judged({{pair(128, ""), ""}}, 0).find("L-OVERRUN") == 0);  // within one role
}

TEST_CASE("L-OVERRUN: arrivals of a cluster's other blocks, TMA transactions, two instances") {
  const auto pair = [](std::int64_t arrivals) {
    return Component("pair")
        .role("left", 1)
        .role("right", 1)
        .mbarriers("m")
        .change([](Contract& c) {
          c.mbarriers[0].arrivals = {0, "n"};
        })
        .fact("n", number(arrivals))
        .steps("left", "arrive m")
        .steps("right", "wait m");
  };
  Composition cluster = compose({{pair(64), ""}});
  cluster.launch.cluster[0] = 2;
  CHECK(messages(cluster).empty());  // the other block's may be what is late
  CHECK(messages(compose({{pair(32), ""}})).find("error[L-OVERRUN]") == 0);
  const auto transfers = [](Contract& c) {
    c.rings[0].transaction_bytes = number(1024);
    c.rings[0].full_arrivals = number(1);
  };
  const Component take = gemm("wait operands; release operands").change(transfers);
  const Component load = loader("acquire operands; arrive operands").change(transfers);
  CHECK(judged(take, load, 2) == kFine);
  const Component answered = Component("pair")
                                 .role("left", 1)
                                 .role("right", 1)
                                 .mbarriers("m")
                                 .mbarriers("back")
                                 .steps("left", "arrive m; wait back")
                                 .steps("right", "wait m; arrive back");
  CHECK(judged({{answered, "p"}, {answered, "q"}}, 0) == "| p.back p.m q.back q.m |");
}

TEST_CASE("L-OVERRUN: turns, chains and several roles at one barrier") {
  const Component turns = Component("pair")
                              .role("left", 4)
                              .role("right", 4)
                              .mbarriers("first", 1, 1)
                              .mbarriers("second")
                              .steps("left", "wait first; arrive second")
                              .steps("right", "wait second; arrive first");
  CHECK(judged({{turns, ""}}, 0) == "| pair.first pair.second |");
  const Component chain = Component("chain")
                              .role("a", 4)
                              .role("b", 4)
                              .role("c", 4)
                              .mbarriers("m")
                              .mbarriers("n")
                              .mbarriers("back")
                              .steps("a", "arrive m; wait back")
                              .steps("b", "wait m; arrive n")
                              .steps("c", "wait m; wait n; arrive back");
  CHECK(judged({{chain, ""}}, 0) == "| chain.back chain.m chain.n |");
  // Released by another role, which is told: with two stages the first may tell twice before it is heard.
  const Component other = Component("gemm")
                              .role("mma", 4)
                              .role("free", 4)
                              .ring(kOut, "operands", kConsumer)
                              .mbarriers("done")
                              .steps("mma", "wait operands; arrive done")
                              .steps("free", "wait done; release operands");
  const Component load = loader("acquire operands; arrive operands");
  CHECK(judged(other, load, 1) == "| gemm.done gemm.operands |");
  CHECK(judged(other, load, 2).find("L-OVERRUN: `gemm.mma` may run ahead of `gemm.free` at `gemm.done`") ==
        0);
}

TEST_CASE("L-DEADLOCK: a wait before the loop that needs the other role's loop") {
  const Component ahead = gemm("release operands; wait operands", "wait operands x 4");
  const Component load = loader("acquire operands; arrive operands");
  CHECK(judged(ahead, load, 3).find("L-DEADLOCK") == 0);
  CHECK(judged(ahead, load, 4) == kFine);
}

TEST_CASE("L-DEADLOCK: nobody arrives") {
  const Component one =
      Component("one").role("run", 1).role("other", 1).mbarriers("m").steps("run", "wait m");
  CHECK(messages(compose({{one, ""}})) ==
        R"(error[L-DEADLOCK]: nobody arrives at `one.m`, where `one.run` waits
  one: `wait m` of one.run waits (one.cu:4)
  one: declares `m` (one.cu:3)
  = reason: the steps of 0 roles and exports arrive there
  = help: add the step that arrives to the role that does it, or drop the wait
)");
  const Component once = Component("one")
                             .role("run", 1)
                             .role("other", 1)
                             .mbarriers("m")
                             .steps("run", "wait m")
                             .steps("other", "", "arrive m x 2");
  // The phase of an mbarrier that is over stays over, if the parity does not change.
  CHECK(judged({{once, ""}}, 0) == "| | one.m (it is waited for in a loop, and arrived at before one)");
  CHECK(judged({{Component("one")
                     .role("run", 1)
                     .role("other", 1)
                     .mbarriers("m")
                     .steps("run", "", "wait m x 3")
                     .steps("other", "", "arrive m x 2"),
                 ""}},
               0) ==
        "L-DEADLOCK: `one.run` waits at `one.m` more often than `one.other` arrives; | | one.m (a wait there "
        "is never met)");
}

TEST_CASE("L-DEADLOCK: too few threads for a named barrier") {
  const auto meeting = [](std::int64_t threads) {
    return Component("meet")
        .role("left", 4)
        .role("right", 4)
        .role("other", 4)
        .barrier("all", threads)
        .steps("left", "sync all")
        .steps("right", "sync all");
  };
  CHECK(judged({{meeting(256), ""}}, 0) == "| meet.all |");
  CHECK(messages(compose({{meeting(384), ""}})) ==
        R"(error[L-DEADLOCK]: too few threads arrive at `meet.all`, where `meet.left` and `meet.right` wait
  meet: `sync all` of meet.left: 128 threads (meet.cu:5)
  meet: `sync all` of meet.right: 128 threads (meet.cu:6)
  meet: declares `all` (meet.cu:4)
  = reason: the barrier waits for 384 threads; the roles that use it have 128 + 128 = 256
  = help: state .threads = 256, or add the step to the role that also takes part
)");
  const std::string more = messages(compose({{meeting(512), ""}}));
  CHECK(more.find("error[L-THREADS]") == 0);
  CHECK(more.find("L-DEADLOCK") == std::string::npos);
  CHECK(judged({{meeting(128), ""}}, 0) == "| | meet.all (several roles arrive at it in turns)");
}

TEST_CASE("barriers met in opposite order") {
  const Component cross = Component("meet")
                              .role("left", 4)
                              .role("right", 4)
                              .barrier("a", 256)
                              .barrier("b", 256)
                              .steps("left", "sync a; sync b")
                              .steps("right", "sync b; sync a");
  CHECK(judged({{cross, ""}}, 0) ==
        "L-DEADLOCK: `meet.left` and `meet.right` wait for each other at `meet.a` and `meet.b`; | meet.a "
        "meet.b |");
}

TEST_CASE("L-RATE") {
  const Component uneven = gemm("wait operands x 2; release operands");
  CHECK(
      messages(compose({{uneven, ""}, {loader("acquire operands; arrive operands"), ""}})) ==
      R"(error[L-RATE]: `loader.load` and `gemm.mma` wait and arrive at different rates at the empty barriers of `gemm.operands`
  loader: `arrive operands` of loader.load: 1 time in an iteration (loader.cu:3)
  gemm: `wait operands` of gemm.mma: 2 times in an iteration (gemm.cu:3)
  gemm: `release operands` of gemm.mma: 1 time in an iteration (gemm.cu:3)
  loader: `acquire operands` of loader.load: 1 time in an iteration (loader.cu:3)
  = reason: the other steps make it 2 of loader.load to 1 of gemm.mma iterations, those at the empty barriers of `gemm.operands` 1 of loader.load to 1 of gemm.mma
  = help: let both sides wait and arrive equally often, or mark a step that only some iterations do with `?`
)");
  const Component self = Component("one").role("run", 1).mbarriers("m").steps("run", "arrive m; wait m x 2");
  CHECK(judged({{self, ""}}, 0) ==
        "L-RATE: `one.run` waits and arrives at `one.m` a different number of times; | one.m |");
}

TEST_CASE("a part of any number of rounds is taken once, twice, and more often than a ring is deep") {
  const std::string load = "acquire operands; arrive operands";
  CHECK(judged(gemm("(wait operands; release operands)*; wait operands; release operands"), loader(load),
               1) == kFine);
  // Each holds what it waited for until the end: only for so many rounds are the stages enough.
  for (const int depth : {1, 2, 5}) {
    const std::string text = judged(gemm("(wait operands)*; (release operands)*"), loader(load), depth);
    CHECK(text.find("L-DEADLOCK: `gemm.mma` and `loader.load`") == 0);
  }
  CHECK(judged(gemm("(wait operands)*; release operands"), loader(load), 8).find("L-RATE") == 0);
}

TEST_CASE("what a role repeats to its end is its loop, at a rate of its own") {
  const auto both = [](const std::string& mma, const std::string& load, int depth) {
    return judged(gemm("", mma), loader("", load), depth);
  };
  const std::string one = "(acquire operands; arrive operands)*";
  CHECK(both("(wait operands; release operands)*", one, 1) == kFine);
  CHECK(both("(wait operands x 2; release operands x 2)*", one, 2) == kFine);
  CHECK(both("(wait operands x 2; release operands x 2)*", one, 1).find("L-DEADLOCK") == 0);
  CHECK(both("(wait operands; release operands)*", "(acquire operands x 4; arrive operands x 4)*", 4) ==
        kFine);
  CHECK(both("((wait operands; release operands)*)*", one, 1) == kFine);
  CHECK(judged(gemm("wait operands; release operands"), loader("(acquire operands; arrive operands)*"), 1) ==
        kFine);
  CHECK(both("((wait operands; release operands)*; wait operands) x 2", one, 4) ==
        "| | gemm.operands (gemm.mma repeats a part with it any number of times, and then goes on)");
  // How often is not known, and it matters.
  CHECK(both("wait operands; (wait operands; release operands)*; release operands", one, 4) ==
        "| | gemm.operands (gemm.mma uses it after a part that it repeats any number of times)");
  CHECK(both("(wait operands; release operands)*", "(acquire operands)*; (arrive operands)*", 2) ==
        "| | gemm.operands (loader.load uses it after a part that it repeats any number of times)");
  CHECK(judged(gemm("(wait operands)*; (release operands)*"),
               loader("(acquire operands)*; (arrive operands)*"), 1) ==
        "| | gemm.operands (gemm.mma and loader.load each repeat a part with it any number of times)");
}

TEST_CASE("steps do not say which barrier of an array they mean, nor that nobody is early") {
  const Component ping = Component("one")
                             .role("run", 1)
                             .role("other", 1)
                             .mbarriers("m", 2)
                             .steps("run", "arrive m; wait m")
                             .steps("other", "wait m; arrive m");
  CHECK(judged({{ping, ""}}, 0) == "| | one.m (steps do not say which of its 2 barriers they mean)");
  const Component early = Component("one")
                              .role("run", 4)
                              .role("other", 4)
                              .barrier("n", 256)
                              .steps("run", "arrive n")
                              .steps("other", "sync n");
  CHECK(judged({{early, ""}}, 0).find("one.n (a role arrives there again without waiting there") !=
        std::string::npos);
}

TEST_CASE("a ring is placed no shallower than its waits need") {
  const auto least = [](const std::string& mma, int from, int to) {
    Composition c = compose({{gemm(mma), ""}, {loader("acquire operands; arrive operands"), ""}});
    for (PackageInput& p : c.packages)
      if (p.contract.component == "gemm") {
        p.contract.rings[0].stages_min = number(from);
        p.contract.rings[0].stages_max = number(to);
      }
    const Outcome<Bindings> b = bind(c);
    REQUIRE(b);
    CHECK(check(c, *b).empty());
    const RingStages found = least_depths(c, *b);
    return found.empty() ? 0 : found.begin()->second;
  };
  CHECK(least("wait operands; release operands", 1, 8) == 1);
  CHECK(least("wait operands x 3; release operands x 3", 2, 8) == 3);
  CHECK(least("wait operands x 8; release operands x 8", 1, 8) == 8);
}

TEST_CASE("calls bring the steps of the export") {
  const auto sink = [](const std::string& steps) {
    return Component("sink").callable(kOut, "epilogue").barrier("all", 128).steps("epilogue", "", steps);
  };
  const Component caller =
      Component("gemm").role("mma", 4).callable(kIn, "epilogue").steps("mma", "call epilogue x 2");
  CHECK(judged({{caller, ""}, {sink("sync all"), ""}}, 0) == "| sink.all |");
  const Component narrow =
      Component("gemm").role("mma", 2).callable(kIn, "epilogue").steps("mma", "call epilogue");
  CHECK(judged({{narrow, ""}, {sink("sync all"), ""}}, 0) ==
        "L-DEADLOCK: too few threads arrive at `sink.all`, where `gemm.mma` waits; | | sink.all (a wait "
        "there is never met)");
  const Component silent = Component("gemm").role("mma", 4).callable(kIn, "epilogue");
  CHECK(judged({{silent, ""}, {sink("sync all"), ""}}, 0) ==
        "| | sink.all (gemm does not state when it calls `epilogue`)");
}

TEST_CASE("what is not known is not checked, and no error") {
  const Component load = loader("acquire operands; arrive operands");
  const Component silent = Component("gemm").role("mma", 4).ring(kOut, "operands", kConsumer);
  CHECK(judged(silent, load, 2) == "| | gemm.operands (gemm states no steps)");
  CHECK(judged(gemm("(wait operands; release operands)?"), load, 2) ==
        "| | gemm.operands (gemm.mma uses it in some iterations only)");
  CHECK(judged(gemm("wait operands x 1024; (release operands x 1024) x 1024"), load, 2)
            .find("more than 524288 steps") != std::string::npos);
}

TEST_CASE("counts by facts, and by the placement") {
  const Component deep = gemm("(wait operands; release operands) x operands.stages", "").fact("n", number(4));
  CHECK(judged(deep, loader("(acquire operands; arrive operands) x 2"), 3) == kFine);
  const Component wrong = gemm("wait operands x n; release operands x n").fact("n", number(-1));
  const std::string out_of_range =
      messages(compose({{wrong, ""}, {loader("acquire operands; arrive operands"), ""}}));
  CHECK(out_of_range.find("error[P-VALUE]: a count of the steps `gemm.mma` is out of range") == 0);
  CHECK(out_of_range.find("error[", 1) == std::string::npos);  // and no other, made of a count that is none
  const Component unknown = gemm("wait operands x 4 / n; release operands x 4 / n").fact("n", number(0));
  const std::string not_known =
      messages(compose({{unknown, ""}, {loader("acquire operands; arrive operands"), ""}}));
  CHECK(not_known.find("error[P-EXPRESSION]: a count of the steps `gemm.mma` cannot be evaluated") == 0);
  CHECK(not_known.find("error[L-") == std::string::npos);
}

TEST_CASE("two instances of one package have protocols of their own") {
  const Component pair = Component("pair")
                             .role("left", 1)
                             .role("right", 1)
                             .mbarriers("a")
                             .steps("left", "", "arrive a")
                             .steps("right", "", "wait a");
  CHECK(judged({{pair, "p"}, {pair, "q"}}, 0) == "| p.a q.a |");
}

}  // namespace pipelink::test
