#include "packager/layout/cover.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <map>

#include "tests/unit/layout/support.h"

namespace pipelink::layout {

TEST_SUITE_BEGIN("layout cover");

TEST_CASE("coverage") {
  CHECK(cover_fault(read("(32,4):(4,1)"), 128).empty());
  CHECK(cover_fault(read("Sw<2,0,2> o (8,4):(4,1)"), 32).empty());
  CHECK(cover_fault(read("(32,4):(4,1)"), 64) ==
        "the layout has 32 threads x 4 values = 128 elements, the tile has 64");
  CHECK(cover_fault(read("(4,4):(4,2)"), 16) ==
        "tile element 4 is held twice, by thread 0 value 2 and thread 1 value 0");
  CHECK(cover_fault(read("(4,4):(0,1)"), 16) ==
        "tile element 0 is held twice, by thread 0 value 0 and thread 1 value 0");
  CHECK(cover_fault(read("(4,4):(1,8)"), 16) == "thread 0 value 2 is element 16, the tile ends at 15");
  CHECK(cover_fault(read("(2,2,2):(1,2,4)"), 8) == "the layout has 3 modes, (thread, value) are two");
}

TEST_CASE("stated replication") {
  CHECK(cover_fault(read("(4,4):(0,1)"), 4, 4).empty());
  CHECK(cover_fault(read("((4,8,4),2):((0,1,16),8)"), 64, 4)
            .empty());  // a row's value in the four of its lanes
  CHECK(cover_fault(read("(4,4):(0,1)"), 4) ==
        "the layout has 4 threads x 4 values = 16 elements, the tile has 4");
  CHECK(cover_fault(read("(4,4):(0,1)"), 4, 2) ==
        "the layout has 4 threads x 4 values = 16 elements, the tile has 4, each held twice");
  CHECK(cover_fault(read("((2,2),2):((0,0),0)"), 4, 2) ==
        "tile element 0 is held 3 times, by thread 0 value 0 and thread 1 value 0, twice is stated");
  CHECK(cover_fault(read("4:1"), 4, 0) == "an element cannot be held 0 times");
}

TEST_CASE("every layout of small extents, against brute force") {
  const std::int64_t strides[] = {0, 1, 2, 3, 4, 6, 8};
  int covering = 0, replicating = 0;
  for (const std::int64_t a : strides)
    for (const std::int64_t b : strides)
      for (const std::int64_t c : strides)
        for (const std::int64_t d : strides) {
          const Layout layout(Mode({Mode({Mode(2, a), Mode(3, b)}), Mode({Mode(2, c), Mode(2, d)})}));
          std::map<std::int64_t, int> count;
          for (std::int64_t t = 0; t < 6; ++t)
            for (std::int64_t v = 0; v < 4; ++v) ++count[t % 2 * a + t / 2 * b + v % 2 * c + v / 2 * d];
          for (const int replicas : {1, 2, 3}) {
            const std::int64_t tile = 24 / replicas;
            const bool good = count.size() == static_cast<std::size_t>(tile) &&
                              count.rbegin()->first == tile - 1 &&
                              std::all_of(count.begin(), count.end(),
                                          [&](const auto& held) { return held.second == replicas; });
            CHECK(cover_fault(layout, tile, replicas).empty() == good);
            (replicas == 1 ? covering : replicating) += good ? 1 : 0;
          }
        }
  CHECK(covering > 0);
  CHECK(replicating > 0);
}

TEST_CASE("memory: each element at a place of its own") {
  CHECK(injective_fault(read("(8,64):(72,1)")).empty());
  CHECK(injective_fault(read("Sw<3,3,3> o (64,64):(64,1)")).empty());
  CHECK(injective_fault(read("(8,64):(32,1)")) == "(1, 0) and (0, 32) are both at 32");
  CHECK(injective_fault(read("4:0")) == "(0) and (1) are both at 0");
  Generator draw(8);
  for (int round = 0; round < 2000; ++round) {
    const Layout layout = draw.any();
    std::vector<std::int64_t> table = enumerated(layout);
    std::sort(table.begin(), table.end());
    CAPTURE(to_text(layout));
    REQUIRE(injective_fault(layout).empty() ==
            (std::adjacent_find(table.begin(), table.end()) == table.end()));
  }
}

TEST_CASE("the order of a thread's values") {
  const Layout base = read("((4,8,4),(2,2,32)):((2,256,4096),(1,2048,8))");
  const Layout regrouped = read("((4,8,4),(2,(2,(4,8)))):((2,256,4096),(1,(2048,(8,32))))");
  const Layout swapped = read("((4,8,4),(2,2,32)):((2,256,4096),(2048,1,8))");
  const Layout other_threads = read("((8,4,4),(2,2,32)):((256,2,4096),(1,2048,8))");
  CHECK(same_function(base, regrouped));
  CHECK(!same_function(base, swapped));
  const auto identity = value_permutation(base, regrouped);
  REQUIRE(identity);
  for (std::size_t v = 0; v < identity->size(); ++v) CHECK((*identity)[v] == static_cast<std::int64_t>(v));
  const auto permutation = value_permutation(base, swapped);
  REQUIRE(permutation);
  for (std::int64_t t = 0; t < 128; ++t)
    for (std::int64_t v = 0; v < 128; ++v)
      REQUIRE(base(t, v) == swapped(t, (*permutation)[static_cast<std::size_t>(v)]));
  CHECK((*permutation)[1] == 2);
  CHECK(!value_permutation(base, other_threads));
  CHECK(!value_permutation(base, read("(128,64):(64,1)")));
  CHECK(!value_permutation(read("(2,2):(2,1)"), read("(2,2):(2,0)")));
  // The same elements in each thread, but in an order that differs between threads.
  CHECK(!value_permutation(read("(4,4):(4,1)"), read("Sw<2,0,2> o (4,4):(4,1)")));
}

TEST_SUITE_END();

}  // namespace pipelink::layout
