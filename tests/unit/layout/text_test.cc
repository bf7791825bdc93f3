#include "packager/layout/text.h"

#include <doctest/doctest.h>

#include <map>

#include "packager/layout/cover.h"
#include "tests/unit/layout/support.h"

namespace pipelink::layout {
namespace {

std::string fault(std::string_view text) {
  return parse_layout(text).error;
}

/// With names for numbers; a name that is missing is a fault.
Result<Layout> evaluated(std::string_view text, const std::map<std::string, std::int64_t>& names) {
  const Result<LayoutText> parsed = parse_layout_text(text);
  CAPTURE(parsed.error);
  REQUIRE(parsed);
  return parsed->evaluate([&](std::string_view expression) {
    const auto found = names.find(std::string(expression));
    if (found == names.end())
      return Result<std::int64_t>::fault("'" + std::string(expression) + "' has no value");
    return Result<std::int64_t>(found->second);
  });
}

}  // namespace

TEST_SUITE_BEGIN("layout text");

TEST_CASE("notation") {
  CHECK(read("(8,4):(4,1)").rank() == 2);
  CHECK(read("(_8,_4):(_4,_1)") == read("(8,4):(4,1)"));
  CHECK(read(" ( 8 , ( 2 , 2 ) ) : ( 4 , ( 1 , 2 ) ) ") == read("(8,(2,2)):(4,(1,2))"));
  CHECK(read("32:1").rank() == 1);
  CHECK(read("32:1").values() == 1);
  CHECK(read("((2,4)):((1,2))").rank() == 1);
  CHECK(read("(2,3,4):(1,2,6)").rank() == 3);
  CHECK(read("Sw<3,4,3> o (8,64):(64,1)").swizzle() == Swizzle{3, 4, 3});
  CHECK(read("Sw<3,4,-3>o(8,64):(64,1)").swizzle() == Swizzle{3, 4, -3});
  CHECK(read("Sw<0,4,3> o (8,64):(64,1)") == read("(8,64):(64,1)"));
}

TEST_CASE("what is read is written") {
  for (const char* text :
       {"1:0", "32:1", "(32):(1)", "((2,4)):((1,2))", "(2,3,4):(1,2,6)", "Sw<3,4,3> o (8,64):(64,1)",
        "Sw<2,1,-4> o ((4,8,4),(2,(2,32))):((2,256,4096),(1,(2048,8)))"})
    CHECK(to_text(read(text)) == text);
  CHECK(to_text(read(" ( _8 , 4 ) : ( 4 , 1 ) ")) == "(8,4):(4,1)");
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
  CHECK(fault("(8,-1):(4,1)") == "column 4: '-1' is not a number");
  CHECK(fault("(8,n):(4,1)") == "column 4: 'n' is not a number");
  CHECK(fault("(4096,4096):(1,1)") == "column 1: more than 4194304 elements");
  CHECK(fault("(1,99999999999999999999):(1,1)") == "column 4: the number is too large");
  CHECK(fault("(1,2):(1,1099511627777)") == "column 10: the number is too large");
  CHECK(fault("Sw<3,4,2> o (8,4):(4,1)") ==
        "column 1: a shift of 2 is nearer than the 3 bits of the swizzle");
  CHECK(fault("Sw<17,4,20> o (8,4):(4,1)") == "column 1: a swizzle has from 0 to 16 bits, not 17");
  CHECK(fault("Sw<3,40,9> o (8,4):(4,1)") == "column 1: a swizzle reaches bit 47 at most");
  CHECK(fault("Sw<3,99999999999,3> o 8:1") == "column 6: the number is too large");
  CHECK(fault("Sw<3,,3> o 8:1") == "column 6: expected a number");
  CHECK(fault("Sw<3,4,3> (8,4):(4,1)") == "column 11: expected 'o'");
  CHECK(fault("Sw<3,4,3>") == "column 10: expected 'o'");
  CHECK(fault("8:1 o ") == "column 7: expected a number");
  CHECK(fault(std::string(40, '(') + "1") == "column 18: nested too deep");
  CHECK(fault(std::string(5000, '(')) == "column 1: longer than 4096 characters");
  CHECK(fault("()") == "column 2: expected a number");
  CHECK(fault("(") == "column 2: expected a number");
  CHECK(fault("(1,") == "column 4: expected a number");
  std::string chain = "8:1";
  for (int i = 0; i < 20; ++i) chain += " o 8:1";
  CHECK(fault(chain) == "column 96: more than 16 factors");
  std::string many = "(1";
  for (int i = 0; i < 200; ++i) many += ",1";
  CHECK(fault(many + "):1") == "column 258: more than 64 extents");
}

TEST_CASE("expressions are found, and their brackets, colons and commas told from the layout's") {
  const std::map<std::string, std::int64_t> names = {
      {"n", 8},    {"n*2", 16}, {"n / 4", 2},         {"(n+8)/4", 4},     {"min(n, 2, 4)", 2},
      {"o", 4},    {"8*o", 32}, {"n > 4 ? 2 : 1", 2}, {"(n) ? n : o", 8}, {"g.n", 16},
      {"g.o", 32}, {"-1", -1},  {"n ? (n?o:n):1", 4}};
  const auto is = [&](std::string_view text, std::string_view plain) {
    const Result<Layout> made = evaluated(text, names);
    CAPTURE(text);
    CAPTURE(made.error);
    REQUIRE(made);
    CHECK(to_text(*made) == plain);
  };
  is("n:1", "8:1");
  is("(n,n*2):(1,n)", "(8,16):(1,8)");
  is("(n / 4,4):(4,1)", "(2,4):(4,1)");
  is("((n+8)/4,4):(4,1)", "(4,4):(4,1)");
  is("(min(n, 2, 4),4):(4,1)", "(2,4):(4,1)");
  is("min(n, 2, 4):1", "2:1");
  is("(n > 4 ? 2 : 1,4):(4,1)", "(2,4):(4,1)");
  is("n > 4 ? 2 : 1:4", "2:4");
  is("n ? (n?o:n):1:4", "4:4");
  is("((n) ? n : o,4):(4,1)", "(8,4):(4,1)");
  is("(o,4):(8*o,1)", "(4,4):(32,1)");
  is("o:g.n", "4:16");
  is("(g.o,g.n):(g.n,1)", "(32,16):(16,1)");
  is("(n,2):(1,n) o (2,n):(n,1)", "(2,8):(8,1)");
  is("(n):(n) o n:1", "8:8");
  is("64:2 o o:n", "4:16");
  const auto wrong = [&](std::string_view text) { return evaluated(text, names).error; };
  CHECK(wrong("(n,m):(1,n)") == "column 4: 'm' has no value");
  CHECK(wrong("(n,2):(-1,n)") == "column 8: a stride is at least 0, '-1' is -1");
  CHECK(wrong("(n,-1):(1,n)") == "column 4: an extent is at least 1, '-1' is -1");
  const Result<LayoutText> parsed = parse_layout_text("(n, (o+1)*2 ) : ( 1,8 )");
  REQUIRE(parsed);
  REQUIRE(parsed->expressions().size() == 2);
  CHECK(parsed->expressions()[1].text == "(o+1)*2");
  CHECK(parsed->expressions()[1].column == 5);
  CHECK(!parsed->derived());
  CHECK(parse_layout_text("mma_m16n8_c(16,n)")->derived());
  CHECK(parse_layout_text("n:1 o n:1")->derived());
  CHECK(!parse_layout_text("Sw<1,4,3> o n:1")->derived());
}

TEST_CASE("maps by name") {
  CHECK(to_text(read("wgmma_accumulator(64,256)")) == "((4,8,4),(2,2,32)):((2,256,4096),(1,2048,8))");
  CHECK(to_text(*evaluated("mma_m16n8_c(16,n)", {{"n", 8}})) == "((4,8),(2,2)):((2,8),(1,64))");
  CHECK(read("(16,8):(8,1) o mma_m16n8k16_b(8,16)").size() == 128);
  CHECK(fault("wgmma_acc(64,256)") == "column 1: there is no map 'wgmma_acc'");
  CHECK(fault("8:1 o wgmma_acc(64,256)") == "column 7: there is no map 'wgmma_acc'");
  CHECK(fault("wgmma_accumulator(64)") == "column 1: wgmma_accumulator takes (m, n, warpgroups = 1)");
  CHECK(fault("wgmma_accumulator()") == "column 1: wgmma_accumulator takes (m, n, warpgroups = 1)");
  CHECK(fault("wgmma_accumulator(64,256") == "column 25: expected ')'");
  CHECK(fault("wgmma_accumulator(64,100)") ==
        "column 1: wgmma_accumulator(64,100): 100 columns are not a multiple of 8");
  CHECK(fault("wgmma_accumulator(64,99999999)") ==
        "column 1: wgmma_accumulator(64,99999999): 99999999 is not between 0 and 4194304");
}

TEST_CASE("swizzles compose with what follows") {
  CHECK(read("Sw<2,0,2> o Sw<2,0,2> o 16:1") == read("16:1"));
  CHECK(read("Sw<2,0,2> o 16:1 o (4,4):(4,1)") == read("Sw<2,0,2> o (4,4):(4,1)"));
  CHECK(read("16:1 o Sw<2,0,2> o 16:1") == read("Sw<2,0,2> o 16:1"));
  CHECK(fault("Sw<2,0,2> o Sw<1,0,3> o 16:1") ==
        "column 1: the swizzles Sw<2,0,2> and Sw<1,0,3> are not one swizzle");
}

TEST_SUITE_END();

}  // namespace pipelink::layout
