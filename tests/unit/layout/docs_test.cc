// cmake/docs/layouts.rst lists every map as the table has it, and shows only layouts that can be read.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>

#include "packager/layout/maps.h"
#include "packager/layout/text.h"

namespace pipelink::layout {
namespace {

std::string page() {
  std::ifstream file(LAYOUTS_PAGE);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_SUITE_BEGIN("layout page");

TEST_CASE("the tables of maps") {
  const std::string text = page();
  std::string table, gives;
  std::size_t rows = 0;
  const auto listed = [&] {
    CAPTURE(table);
    CHECK(text.find("     - what it is of\n" + table + "\n") != std::string::npos);
  };
  for (const NamedMap& map : named_maps()) {
    if (map.gives != gives && !table.empty()) {
      listed();
      table.clear();
    }
    gives = map.gives;
    table += fmt::format("   * - ``{}({})``\n     - {}\n", map.name, map.arguments, map.summary);
    ++rows;
  }
  listed();
  CHECK(rows == named_maps().size());
}

TEST_CASE("the layouts in the text") {
  const std::string text = page();
  std::size_t found = 0;
  for (std::size_t at = text.find("``"); at != std::string::npos; at = text.find("``", at)) {
    const std::size_t end = text.find("``", at + 2);
    REQUIRE(end != std::string::npos);
    std::string literal = text.substr(at + 2, end - at - 2);
    at = end + 2;
    if (const std::size_t quote = literal.find('"'); quote != std::string::npos)
      literal = literal.substr(quote + 1, literal.rfind('"') - quote - 1);
    const std::size_t open = literal.find('(');
    const bool call = open != std::string::npos && find_map(literal.substr(0, open)) != nullptr &&
                      literal.find_first_of("0123456789", open) == open + 1;
    if (!call && literal.find("):(") == std::string::npos) continue;
    ++found;
    const Result<LayoutText> parsed = parse_layout_text(literal);
    CAPTURE(literal);
    CAPTURE(parsed.error);
    REQUIRE(parsed);
    const Result<Layout> made = parsed->evaluate([](std::string_view) { return Result<std::int64_t>(8); });
    CAPTURE(made.error);
    CHECK(made);
  }
  CHECK(found >= 8);
}

TEST_SUITE_END();

}  // namespace pipelink::layout
