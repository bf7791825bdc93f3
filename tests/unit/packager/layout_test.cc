#include <doctest/doctest.h>

#include <numeric>

#include "packager/contract/layout.h"

namespace pipelink::contract {
namespace {

Layout read(std::string_view text) {
  ParsedLayout parsed = parse_layout(text);
  CAPTURE(text);
  CAPTURE(parsed.error);
  REQUIRE(parsed);
  return *parsed;
}

std::string fault(std::string_view text) {
  return parse_layout(text).error;
}

/// The accumulator of wgmma m64nNk16, row-major 64 x n, from its definition.
std::int64_t wgmma_index(std::int64_t t, std::int64_t v, std::int64_t n) {
  const std::int64_t row = t / 32 * 16 + t % 32 / 4 + v / 2 % 2 * 8;
  const std::int64_t column = v / 4 * 8 + t % 4 * 2 + v % 2;
  return row * n + column;
}

}  // namespace

TEST_SUITE_BEGIN("layout");

TEST_CASE("the wgmma accumulator") {
  const Layout layout = read("((4,8,4),(2,2,32)):((2,256,4096),(1,2048,8))");
  CHECK(layout.threads() == 128);
  CHECK(layout.values() == 128);
  for (std::int64_t t = 0; t < 128; ++t)
    for (std::int64_t v = 0; v < 128; ++v) REQUIRE(layout(t, v) == wgmma_index(t, v, 256));
  CHECK(cover_fault(layout, 64 * 256).empty());
}

TEST_CASE("notation") {
  CHECK(read("(8,4):(4,1)").modes.size() == 2);
  CHECK(read("(_8,_4):(_4,_1)").modes == read("(8,4):(4,1)").modes);
  CHECK(read(" ( 8 , ( 2 , 2 ) ) : ( 4 , ( 1 , 2 ) ) ").modes == read("(8,(2,2)):(4,(1,2))").modes);
  CHECK(read("32:1").modes.size() == 1);
  CHECK(read("32:1").values() == 1);
  CHECK(read("((2,4)):((1,2))").modes.size() == 1);
  CHECK(read("Sw<3,4,3> o (8,64):(64,1)").swizzle == Swizzle{3, 4, 3});
  CHECK(read("Sw<0,4,3> o (8,64):(64,1)").swizzle(1234) == 1234);
}

TEST_CASE("faults") {
  CHECK(fault("") == "column 1: expected a number");
  CHECK(fault("(8,4)") == "column 6: expected ':'");
  CHECK(fault("(8,4:(4,1)") == "column 5: expected ')'");
  CHECK(fault("(8,4):(4,1) x") == "column 13: expected the end");
  CHECK(fault("(8,4):(4,(1))") == "column 10: the strides are not nested as the shape is");
  CHECK(fault("(8,4):(4)") == "column 7: the strides are not nested as the shape is");
  CHECK(fault("(8,4):4") == "column 7: the strides are not nested as the shape is");
  CHECK(fault("(8,0):(4,1)") == "column 4: an extent is at least 1");
  CHECK(fault("(8,-1):(4,1)") == "column 4: expected a number");
  CHECK(fault("(2,2,2):(1,2,4)") == "column 1: expected two modes, (thread, value)");
  CHECK(fault("(4096,4096):(1,1)") == "column 1: more than 4194304 elements");
  CHECK(fault("(1,99999999999999999999):(1,1)") == "column 4: the number is too large");
  CHECK(fault("Sw<9,4,3> o (8,4):(4,1)") == "column 1: the swizzle is out of range");
  CHECK(fault("Sw<3,4,3> (8,4):(4,1)") == "column 11: expected 'o'");
  CHECK(fault(std::string(40, '(') + "1") == "column 18: nested too deep");
  CHECK(fault(std::string(5000, '(')) == "column 1: longer than 4096 characters");
  CHECK(fault("()") == "column 2: expected a number");
}

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
}

TEST_CASE("every layout of small extents, against brute force") {
  const std::int64_t strides[] = {0, 1, 2, 3, 4, 6, 8};
  int covering = 0;
  for (const std::int64_t a : strides)
    for (const std::int64_t b : strides)
      for (const std::int64_t c : strides)
        for (const std::int64_t d : strides) {
          Layout layout;
          layout.modes = {{{2, a}, {3, b}}, {{2, c}, {2, d}}};
          std::vector<int> count(24, 0);
          bool good = true;
          for (std::int64_t t = 0; t < 6; ++t)
            for (std::int64_t v = 0; v < 4; ++v) {
              const std::int64_t index = t % 2 * a + t / 2 * b + v % 2 * c + v / 2 * d;
              REQUIRE(layout(t, v) == index);
              if (index >= 24 || count[static_cast<std::size_t>(index)]++ != 0) good = false;
            }
          CHECK(cover_fault(layout, 24).empty() == good);
          covering += good ? 1 : 0;
        }
  CHECK(covering > 0);
}

TEST_CASE("swizzle against its definition") {
  const Layout layout = read("Sw<3,4,3> o (64,64):(64,1)");
  for (std::int64_t t = 0; t < 64; ++t)
    for (std::int64_t v = 0; v < 64; ++v) {
      const std::int64_t index = t * 64 + v;
      REQUIRE(layout(t, v) == (index ^ ((index >> 7 & 7) << 4)));
    }
  CHECK(cover_fault(layout, 4096).empty());
}

TEST_CASE("equality and permutation") {
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

}  // namespace pipelink::contract
