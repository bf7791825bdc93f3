#include <doctest/doctest.h>

#include <limits>

#include "packager/contract/expression.h"

namespace pipelink::contract {
namespace {

const Scope kScope{{"a", 7},
                   {"tile_m", 128},
                   {"operands.stages", 4},
                   {"zero", 0},
                   {"big", std::numeric_limits<std::int64_t>::max()},
                   {"low", std::numeric_limits<std::int64_t>::min()}};

std::string result(std::string_view text) {
  const ParsedExpression parsed = parse_expression(text);
  if (!parsed) return parsed.error;
  const Evaluation value = parsed->evaluate(kScope);
  return value ? std::to_string(*value) : value.error;
}

}  // namespace

TEST_SUITE_BEGIN("expression");

TEST_CASE("values") {
  const std::pair<const char*, const char*> cases[] = {{"1", "1"},
                                                       {" 1 + 2 * 3 ", "7"},
                                                       {"(1+2)*3", "9"},
                                                       {"10-3-2", "5"},
                                                       {"100/7/2", "7"},
                                                       {"-7/2", "-3"},
                                                       {"-7%3", "-1"},
                                                       {"--3", "3"},
                                                       {"!0", "1"},
                                                       {"!5", "0"},
                                                       {"!!5", "1"},
                                                       {"1<2", "1"},
                                                       {"2<=1", "0"},
                                                       {"3>=3", "1"},
                                                       {"4>3", "1"},
                                                       {"1==1", "1"},
                                                       {"1!=1", "0"},
                                                       {"1 + 1 == 2 && 3 < 4", "1"},
                                                       {"0 || 2", "1"},
                                                       {"2 && 3", "1"},
                                                       {"1 ? 2 : 3", "2"},
                                                       {"0 ? 2 : 3", "3"},
                                                       {"0 ? 1 : 0 ? 2 : 3", "3"},
                                                       {"1 ? 0 ? 4 : 5 : 6", "5"},
                                                       {"min(3, 2)", "2"},
                                                       {"max(1,2,9,3)", "9"},
                                                       {"ceil_div(7, 2)", "4"},
                                                       {"ceil_div(8,2)", "4"},
                                                       {"round_up(65, 64)", "128"},
                                                       {"round_up(0,8)", "0"},
                                                       {"tile_m * operands.stages", "512"},
                                                       {"a", "7"},
                                                       {"9223372036854775807", "9223372036854775807"},
                                                       {"zero ? 1 / zero : 5", "5"},
                                                       {"zero && 1 / zero", "0"},
                                                       {"1 || unknown", "1"},
                                                       {"1 - -1", "2"},
                                                       {"!a == 0", "1"},
                                                       {"low", "-9223372036854775808"},
                                                       {"low % (0-1)", "0"},
                                                       {"1 < 2 == 1", "1"},
                                                       {"1 || 0 && 0", "1"}};
  for (const auto& [text, expected] : cases) CHECK_MESSAGE(result(text) == expected, text);
}

TEST_CASE("evaluation errors") {
  const std::pair<const char*, const char*> cases[] = {
      {"1 / zero", "division by zero"},
      {"1 % zero", "division by zero"},
      {"ceil_div(1, 0)", "division by zero"},
      {"round_up(1, 0)", "division by zero"},
      {"big + 1", "the value does not fit 64 bits"},
      {"big * 2", "the value does not fit 64 bits"},
      {"-2 - big", "the value does not fit 64 bits"},
      {"-low", "the value does not fit 64 bits"},
      {"low / (0-1)", "the value does not fit 64 bits"},
      {"round_up(big, 2)", "the value does not fit 64 bits"},
      {"ceil_div(0-1, 2)", "ceil_div and round_up take no negative value"},
      {"b", "unknown name 'b'"},
      {"a + x.y", "unknown name 'x.y'"}};
  for (const auto& [text, expected] : cases) CHECK_MESSAGE(result(text) == expected, text);
}

TEST_CASE("parse errors say the column") {
  const std::pair<const char*, const char*> cases[] = {
      {"", "column 1: expected a value, found the end"},
      {"1 +", "column 4: expected a value, found the end"},
      {"1 + )", "column 5: expected a value, found ')'"},
      {"(1", "column 3: expected ')', found the end"},
      {"1 2", "column 3: expected an operator, found '2'"},
      {"1 = 2", "column 3: expected an operator, found '='"},
      {"1 & 2", "column 3: expected an operator, found '&'"},
      {"f(1)", "column 1: unknown function 'f'"},
      {"min(1)", "column 1: 'min' does not take 1 values"},
      {"ceil_div(1,2,3)", "column 1: 'ceil_div' does not take 3 values"},
      {"min(1,)", "column 7: expected a value, found ')'"},
      {"a.", "column 3: expected a name, found the end"},
      {"a.1", "column 3: expected a name, found '1'"},
      {"12x", "column 3: expected an operator, found 'x'"},
      {"1.5", "column 2: expected an operator, found '.'"},
      {"9223372036854775808", "column 1: the number does not fit 64 bits"},
      {"1 ? 2", "column 6: expected ':', found the end"},
      {"a\x01", "column 2: expected an operator, found byte 0x01"},
      {"a(", "column 1: unknown function 'a'"},
      {"0x10", "column 2: expected an operator, found 'x'"}};
  for (const auto& [text, expected] : cases) CHECK_MESSAGE(result(text) == expected, text);
  CHECK(parse_expression(std::string(70, '(') + "1" + std::string(70, ')')).error ==
        "column 65: nested too deep");
  CHECK(parse_expression(std::string(70, '-') + "1").error.ends_with("nested too deep"));
  CHECK(parse_expression(std::string(5000, ' ')).error == "column 1: longer than 4096 characters");
  std::string chain = "1";
  for (int i = 0; i < 1000; ++i) chain += "+1";
  CHECK(parse_expression(chain).error.ends_with("too many operators"));
}

TEST_CASE("names, amounts") {
  const ParsedExpression parsed = parse_expression("tile_n*tile_k + max(tile_n, operands.stages)");
  REQUIRE(parsed);
  CHECK(parsed->names() == std::vector<std::string>{"operands.stages", "tile_k", "tile_n"});
  CHECK(parsed->text() == "tile_n*tile_k + max(tile_n, operands.stages)");
  CHECK(amount_from_text("-12") == Amount{-12, ""});
  CHECK(amount_from_text("12 ") == Amount{0, "12 "});
  CHECK(amount_from_text("99999999999999999999") == Amount{0, "99999999999999999999"});
  CHECK(to_text({5, ""}) == "5");
  CHECK(to_text({0, "a+1"}) == "a+1");
  CHECK(*evaluate(Amount{0, "a * 2"}, kScope) == 14);
  CHECK(*evaluate(Amount{3, ""}, {}) == 3);
  CHECK(evaluate(Amount{0, "a *"}, kScope).error == "column 4: expected a value, found the end");
  CHECK(names_of({0, "a + b"}) == std::vector<std::string>{"a", "b"});
  CHECK(names_of({0, "a +"}).empty());
  CHECK(names_of({1, ""}).empty());
}

TEST_CASE("any short text is read or refused") {
  const char alphabet[] = "a1.+-*/%()<>=!&|?:, min";
  std::uint64_t state = 1;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    for (int n = 0; n < 12; ++n) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      text += alphabet[(state >> 33) % (sizeof alphabet - 1)];
    }
    const ParsedExpression parsed = parse_expression(text);
    CHECK(parsed.error.empty() == static_cast<bool>(parsed));
    if (parsed) parsed->evaluate(kScope);
  }
}

TEST_SUITE_END();

}  // namespace pipelink::contract
