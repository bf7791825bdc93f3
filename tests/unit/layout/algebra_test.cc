// The algebra against enumeration: thousands of random layouts, each index by the definition.
#include "packager/layout/algebra.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "tests/unit/layout/support.h"

namespace pipelink::layout {
namespace {

using Table = std::vector<std::int64_t>;

std::int64_t at(const Table& table, std::int64_t i) {
  return table[static_cast<std::size_t>(i)];
}

bool injective(Table table) {
  std::sort(table.begin(), table.end());
  return std::adjacent_find(table.begin(), table.end()) == table.end();
}

/// Whether some layout has these values, by trying every first extent.
bool is_layout(const Table& values) {
  if (values.front() != 0) return false;
  if (values.size() == 1) return true;
  for (std::size_t n = 2; n <= values.size(); ++n) {
    if (values.size() % n != 0) continue;
    bool good = values[1] >= 0;
    Table rest;
    for (std::size_t i = 0; i < values.size() && good; ++i) {
      if (i % n == 0) rest.push_back(values[i]);
      good = values[i] == rest.back() + static_cast<std::int64_t>(i % n) * values[1];
    }
    if (good && (rest.size() == 1 || is_layout(rest))) return true;
  }
  return false;
}

/// Whether a layout with the extents of b, each of them perhaps in parts, can be a after b.
bool can_compose(const Table& a, const Layout& b) {
  const std::vector<Mode> extents = leaves(b.map());
  const Table b_table = enumerated(b);
  std::int64_t step = 1;
  std::vector<Table> parts;
  for (const Mode& extent : extents) {
    Table part;
    for (std::int64_t j = 0; j < extent.shape; ++j) part.push_back(at(a, at(b_table, j * step)));
    if (!is_layout(part)) return false;
    parts.push_back(std::move(part));
    step *= extent.shape;
  }
  for (std::int64_t i = 0; i < b.size(); ++i) {
    std::int64_t sum = 0, rest = i;
    for (std::size_t k = 0; k < extents.size(); ++k) {
      sum += at(parts[k], rest % extents[k].shape);
      rest /= extents[k].shape;
    }
    if (sum != at(a, at(b_table, i))) return false;
  }
  return true;
}

}  // namespace

TEST_SUITE_BEGIN("layout algebra");

TEST_CASE("evaluation of random layouts") {
  Generator draw(1);
  for (int round = 0; round < 4000; ++round) {
    const Layout layout = draw.any();
    CAPTURE(to_text(layout));
    const Table expected = enumerated(layout);
    REQUIRE(static_cast<std::size_t>(layout.size()) == expected.size());
    REQUIRE(indices(layout) == expected);
    REQUIRE(layout.cosize() == *std::max_element(expected.begin(), expected.end()) + 1);
    REQUIRE(read(to_text(layout)) == layout);
    for (std::int64_t i = 0; i < layout.size(); i += 1 + draw.below(3)) {
      REQUIRE(layout(i) == at(expected, i));
      Table coordinate;
      std::int64_t rest = i;
      for (std::size_t k = 0; k < layout.rank(); ++k) {
        coordinate.push_back(rest % layout.size(k));
        rest /= layout.size(k);
      }
      REQUIRE(layout(coordinate) == at(expected, i));
      if (layout.rank() <= 2)
        REQUIRE(layout(coordinate[0], coordinate.size() > 1 ? coordinate[1] : 0) == at(expected, i));
    }
    if (layout.rank() > 2) continue;
    const Table by_thread = thread_value_indices(layout);
    for (std::int64_t i = 0; i < layout.size(); ++i)
      REQUIRE(at(by_thread, i) == layout(i / layout.values(), i % layout.values()));
  }
}

TEST_CASE("coalesce keeps the function and leaves nothing to join") {
  Generator draw(2);
  for (int round = 0; round < 4000; ++round) {
    const Layout layout = draw.any();
    CAPTURE(to_text(layout));
    const Layout less = coalesce(layout), by_mode = coalesce_modes(layout);
    const Table expected = enumerated(layout);
    REQUIRE(enumerated(less) == expected);
    REQUIRE(enumerated(by_mode) == expected);
    REQUIRE(by_mode.rank() == layout.rank());
    for (std::size_t k = 0; k < layout.rank(); ++k) REQUIRE(by_mode.size(k) == layout.size(k));
    const std::vector<Mode> extents = leaves(less.map());
    for (std::size_t i = 0; i + 1 < extents.size(); ++i) {
      REQUIRE(extents[i].shape > 1);
      REQUIRE(extents[i].stride * extents[i].shape != extents[i + 1].stride);
    }
  }
  CHECK(to_text(coalesce(read("(2,(1,6)):(1,(7,2))"))) == "12:1");
  CHECK(to_text(coalesce(read("(1,1):(3,4)"))) == "1:0");
}

TEST_CASE("composition is a after b, or there is none") {
  Generator draw(3);
  int made = 0, refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    const Layout a = draw.below(2) == 0
                         ? draw.any(false)
                         : draw.compact(static_cast<std::size_t>(1 + draw.below(4)), draw.below(2) == 0);
    const Layout b = draw.any(false);
    const Result<Layout> c = composition(a, b);
    CAPTURE(to_text(a));
    CAPTURE(to_text(b));
    const Table a_table = enumerated(a), b_table = enumerated(b);
    if (*std::max_element(b_table.begin(), b_table.end()) >= a.size()) {
      REQUIRE(!c);
      REQUIRE(c.error.find("the first has") != std::string::npos);
      continue;
    }
    if (!c) {
      ++refused;
      REQUIRE(!c.error.empty());
      REQUIRE(!can_compose(a_table, b));
      continue;
    }
    ++made;
    const Table c_table = enumerated(*c);
    REQUIRE(c_table.size() == b_table.size());
    for (std::size_t i = 0; i < b_table.size(); ++i) REQUIRE(c_table[i] == at(a_table, b_table[i]));
    REQUIRE(c->rank() >= b.rank());
    if (b.rank() > 1)
      for (std::size_t k = 0; k < b.rank(); ++k) REQUIRE(c->size(k) == b.size(k));
  }
  CHECK(made > 500);
  CHECK(refused > 500);
}

TEST_CASE("composition with swizzles") {
  Generator draw(4);
  int made = 0;
  for (int round = 0; round < 10'000; ++round) {
    const Layout plain_a = draw.compact(static_cast<std::size_t>(1 + draw.below(3)), true);
    const Layout plain_b = draw.compact(static_cast<std::size_t>(1 + draw.below(3)), draw.below(4) != 0);
    const Layout a(plain_a.map(), draw.swizzle()), b(plain_b.map(), draw.swizzle());
    CAPTURE(to_text(a));
    CAPTURE(to_text(b));
    const Result<Layout> c = composition(a, b);
    if (!c) {
      REQUIRE(!c.error.empty());
      continue;
    }
    ++made;
    const Table a_table = enumerated(a), b_table = enumerated(b), c_table = enumerated(*c);
    for (std::size_t i = 0; i < b_table.size(); ++i) REQUIRE(c_table[i] == at(a_table, b_table[i]));
  }
  CHECK(made > 1000);
}

TEST_CASE("inverses") {
  Generator draw(5);
  int left_made = 0, right_swizzled = 0;
  for (int round = 0; round < 20'000; ++round) {
    const bool compact = draw.below(2) == 0;
    const Layout plain = compact
                             ? draw.compact(static_cast<std::size_t>(1 + draw.below(4)), draw.below(2) == 0)
                             : draw.any(false);
    const Layout a(plain.map(), draw.swizzle());
    CAPTURE(to_text(a));
    const Table table = enumerated(a);
    if (const Result<Layout> right = right_inverse(a)) {
      const Table inverse = enumerated(*right);
      for (std::size_t i = 0; i < inverse.size(); ++i)
        REQUIRE(at(table, inverse[i]) == static_cast<std::int64_t>(i));
      if (compact) REQUIRE(right->size() == a.size());
      if (!a.swizzle().trivial() && !right->swizzle().trivial()) ++right_swizzled;
    } else {
      REQUIRE(!right.error.empty());
      REQUIRE(!a.swizzle().trivial());
    }
    const Result<Layout> left = left_inverse(a);
    if (!left) {
      REQUIRE(!left.error.empty());
      if (compact) REQUIRE(!a.swizzle().trivial());
      continue;
    }
    ++left_made;
    REQUIRE(injective(table));
    const Table inverse = enumerated(*left);
    for (std::size_t i = 0; i < table.size(); ++i)
      REQUIRE(at(inverse, table[i]) == static_cast<std::int64_t>(i));
  }
  CHECK(left_made > 2000);
  CHECK(right_swizzled > 100);
}

TEST_CASE("known inverses and compositions") {
  CHECK(to_text(*right_inverse(read("(4,8):(8,1)"))) == "(8,4):(4,1)");
  CHECK(to_text(*right_inverse(read("(4,8):(1,5)"))) == "4:1");
  CHECK(to_text(*right_inverse(read("4:2"))) == "1:0");
  CHECK(to_text(*left_inverse(read("4:2"))) == "(2,4):(0,1)");
  CHECK(left_inverse(read("(4,2):(1,3)")).error ==
        "the stride 3 is within the 4 indices of the extents below it");
  CHECK(left_inverse(read("(2,2):(2,5)")).error == "the stride 5 is not a multiple of the stride 2");
  CHECK(left_inverse(read("(4,2):(1,0)")).error == "2 coordinates have one index: an extent has stride 0");
  CHECK(left_inverse(read("(2,2):(1,1099511627776)")).error == "more than 4194304 elements");
  CHECK(to_text(*composition(read("(4,8):(8,1)"), read("(8,4):(4,1)"))) == "(8,4):(1,8)");
  CHECK(composition(read("(4,8):(8,1)"), read("6:1")).error ==
        "the extent 6:1 leaves an extent of the first layout after 4 steps, and 6 is not a multiple of that");
  CHECK(composition(read("(4,8):(8,1)"), read("(2,2):(3,1)")).error ==
        "the extents of the second layout together reach 4 in an extent of 4 of the first");
  CHECK(composition(read("8:2"), read("9:1")).error ==
        "the second layout gives the index 8, the first has 8 elements");
  CHECK(composition(read("2:1099511627776"), read("2:1"))->cosize() == (std::int64_t{1} << 40) + 1);
  // The operand tile of 128-byte rows, where a byte is: the swizzle goes to the other bits.
  CHECK(to_text(*right_inverse(read("Sw<3,4,3> o (8,128):(128,1)"))) == "Sw<3,0,-7> o (128,8):(8,1)");
  CHECK(right_inverse(read("Sw<3,4,3> o (64,64):(64,1)")).error ==
        "the swizzle Sw<3,4,3> cannot be moved before the layout (64,64):(64,1)");
}

TEST_CASE("scaled: offsets in bytes") {
  CHECK(to_text(*scaled(read("Sw<3,3,3> o (8,64):(64,1)"), 2)) == "Sw<3,4,3> o (8,64):(128,2)");
  CHECK(scaled(read("Sw<3,3,3> o (8,64):(64,1)"), 3).error ==
        "the factor 3 of a swizzled layout is no power of two");
  CHECK(to_text(*scaled(read("(8,64):(64,1)"), 3)) == "(8,64):(192,3)");
  CHECK(scaled(read("2:1099511627776"), 2).error == "the stride 1099511627777 is more than 2^40");
  CHECK(scaled(read("2:1"), 0).error == "the factor 0 is not from 1 to 2^40");
  Generator draw(6);
  for (int round = 0; round < 1000; ++round) {
    const Layout a = draw.any();
    const std::int64_t factor = std::int64_t{1} << draw.below(5);
    CAPTURE(to_text(a));
    Table expected = enumerated(a);
    for (std::int64_t& index : expected) index *= factor;
    REQUIRE(enumerated(*scaled(a, factor)) == expected);
  }
}

TEST_CASE("bounds") {
  CHECK(checked(Mode(0, 1)).error == "an extent is at least 1, not 0");
  CHECK(checked(Mode(2, -1)).error == "a stride is at least 0, not -1");
  CHECK(checked(Mode(kMaxSize, kMaxStride))->cosize() == (kMaxSize - 1) * kMaxStride + 1);
  CHECK(checked(Mode(kMaxSize + 1, 0)).error == "more than 4194304 elements");
  CHECK(checked(Mode(1, kMaxStride + 1)).error == "the stride 1099511627777 is more than 2^40");
  CHECK(checked(Mode(2, 1), Swizzle{3, 0, 2}).error ==
        "a shift of 2 is nearer than the 3 bits of the swizzle");
  Mode deep(2, 1);
  for (int i = 0; i < 40; ++i) deep = Mode(std::vector<Mode>{deep});
  CHECK(checked(deep).error == "nested too deep");
  CHECK(checked(Mode(std::vector<Mode>(65, Mode(1, 0)))).error == "more than 64 extents");
}

TEST_CASE("equal functions") {
  Generator draw(7);
  for (int round = 0; round < 2000; ++round) {
    const Layout a = draw.any();
    const Layout b = draw.below(2) == 0 ? coalesce_modes(a) : draw.any();
    bool equal = enumerated(a) == enumerated(b);
    for (std::size_t k = 0; k < std::max(a.rank(), b.rank()); ++k) equal = equal && a.size(k) == b.size(k);
    CAPTURE(to_text(a));
    CAPTURE(to_text(b));
    REQUIRE(same_function(a, b) == equal);
  }
}

TEST_SUITE_END();

}  // namespace pipelink::layout
