#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "linker/codegen/render_template.h"

using namespace pipelink;
using nlohmann::json;

namespace {

std::string reasons(const Outcome<std::string>& outcome) {
  std::string text;
  for (const Diagnostic& d : outcome.diagnostics) {
    CHECK(d.clause == "T-TEMPLATE");
    text += d.reason + "\n";
  }
  return text;
}

}  // namespace

TEST_CASE("values go in as they are") {
  const auto text = render_text("t", "{{a}} {{n}}{{#list}}\n[{{name}}{{a}}]{{/list}}{{^list}}none{{/list}}",
                                {{"a", "<&\"'>"}, {"n", 3}, {"list", {{{"name", "x"}}, {{"name", "y"}}}}});
  REQUIRE(text);
  CHECK(*text == "<&\"'> 3\n[x<&\"'>]\n[y<&\"'>]");
}

TEST_CASE("lines with a section's tag alone leave no empty line") {
  const auto text =
      render_text("t", "a\n{{#list}}\n  {{line}}\n{{/list}}\nb\n", {{"list", {{{"line", "x"}}}}});
  REQUIRE(text);
  CHECK(*text == "a\n  x\nb\n");
}

TEST_CASE("a key without a value, a value without a key") {
  CHECK(reasons(render_text("t", "{{a}}{{b}}", {{"a", "x"}, {"c", "y"}})) ==
        "the key `b` has no value\nthe value `c` is not in the template\n");
  CHECK(reasons(render_text("t", "{{#list}}{{x}}{{/list}}", {{"list", {{{"x", "1"}, {"y", "2"}}}}})) ==
        "the value `list.y` is not in the template\n");
  CHECK(reasons(render_text("t", "{{#list}}{{x}}{{/list}}", {{"list", {{{"x", "1"}}, json::object()}}})) ==
        "the key `x` has no value\n");
  CHECK(reasons(render_text("t", "{{a}}", {{"a", json::array()}})) == "the value `a` is not a text\n");
}

TEST_CASE("parts that are not shown still use their keys") {
  CHECK(render_text("t", "{{#on}}{{a}}{{/on}}{{^on}}{{b}}{{/on}}", {{"on", true}, {"a", "1"}, {"b", "2"}}));
  CHECK(render_text("t", "{{#list}}{{anything}}{{a}}{{/list}}", {{"list", json::array()}, {"a", "1"}}));
}

TEST_CASE("malformed templates") {
  CHECK(reasons(render_text("t", "{{#a}}", {{"a", true}})) == "section `a` has no end\n");
  CHECK(reasons(render_text("t", "{{#a}}{{/b}}", {{"a", true}})) == "`/b` ends `a`\n");
  CHECK(reasons(render_text("t", "{{a", {{"a", "x"}})) == "a tag has no end\n");
  CHECK(reasons(render_text("t", "{{> partial}}", json::object())) == "`> partial` is not a key\n");
  CHECK(reasons(render_template("no_such", json::object())) == "there is no such template\n");
}
