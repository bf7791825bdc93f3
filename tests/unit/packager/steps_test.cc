#include "packager/contract/steps.h"

#include <doctest/doctest.h>

#include "packager/contract/expression.h"

namespace pipelink::contract {
namespace {

std::string shown(const std::vector<Step>& steps) {
  std::string out;
  for (const Step& s : steps) {
    out += out.empty() ? "" : "; ";
    out += s.inner.empty() ? s.word + " " + s.name : "(" + shown(s.inner) + ")";
    out += s.sometimes ? "?" : "";
    out += s.any ? "*" : "";
    if (to_text(s.count) != "1") out += " x " + to_text(s.count);
  }
  return out;
}

std::string parsed(std::string_view text) {
  const ParsedSteps steps = parse_steps(text);
  return steps ? shown(*steps.value) : steps.error;
}

}  // namespace

TEST_SUITE_BEGIN("steps");

TEST_CASE("steps are read as they are written") {
  CHECK(parsed("") == "");
  CHECK(parsed("  wait full ;arrive empty;") == "wait full; arrive empty");
  CHECK(parsed("wait full x2") == "wait full x 2");
  CHECK(parsed("wait full x (n + 1) / 2; arrive empty") == "wait full x (n + 1) / 2; arrive empty");
  CHECK(parsed("(wait x; arrive x x 3)* ; call f?") == "(wait x; arrive x x 3)*; call f?");
  CHECK(parsed("((sync a)* x min(n, 2))?") == "((sync a)* x min(n, 2))?");
  CHECK(parsed("wait full?*x 2") == "wait full?* x 2");
  CHECK(parsed("\n  wait full\n    x 2;\r\n\tarrive empty ?\n") == "wait full x 2; arrive empty?");
  CHECK(parsed("wait full x x * x") == "wait full x x * x");  // a fact of that name
}

TEST_CASE("marks in another order are told the right one") {
  const std::string order =
      " comes too late: after a step stand '?', then '*', then 'x' and a number, each at most once";
  CHECK(parsed("wait full * ?") == "column 13: '?'" + order);
  CHECK(parsed("wait full ??") == "column 12: '?'" + order);
  CHECK(parsed("(wait full)* *; arrive a") == "column 14: '*'" + order);
  CHECK(parsed("wait full x 2 ?") == "column 15: '?'" + order);
  CHECK(parsed("wait full x 2*; arrive a") == "column 14: '*'" + order);
  CHECK(parsed("wait full x n x 3") == "column 15: 'x'" + order);
  CHECK(parsed("(wait full x (n + 1) ? ; arrive a)") == "column 22: '?'" + order);
  CHECK(parsed("wait full;\narrive empty * ?") == "line 2, column 16: '?'" + order);
}

TEST_CASE("what is wrong is named by its column") {
  CHECK(parsed("wait") == "column 5: expected a name, found the end");
  CHECK(parsed("wait full arrive empty") == "column 11: expected ';' or the end, found 'a'");
  CHECK(parsed("wait full x") == "column 12: expected a number, found the end");
  CHECK(parsed("(wait full") == "column 11: expected ')', found the end");
  CHECK(parsed("()") == "column 2: expected a step, found ')'");
  CHECK(parsed("wait full)") == "column 10: expected ';' or the end, found ')'");
  CHECK(parsed("Wait full") == "column 1: expected a step such as `wait full`, found 'W'");
  CHECK(parsed(std::string(40, '(')) == "column 18: expected brackets nested at most 16 deep, found '('");
  CHECK(parsed(std::string(5000, ' ')) == "it has 5000 characters, the bound is 4096");
  CHECK(parsed(std::string("wait a\0b", 8)) == "column 7: expected ';' or the end, found another character");
}

TEST_CASE("words are those of the handle") {
  Contract c;
  c.rings.resize(2);
  c.rings[0].name = "q";
  c.rings[1].name = "p";
  c.rings[1].side = RingSide::kProducer;
  c.mbarriers.emplace_back().name = "m";
  c.counters.emplace_back().name = "n";
  c.named_barriers.push_back({"b", {}, {128, {}}, {}});
  Callable f;
  f.name = "f";
  f.direction = Direction::kImport;
  c.callables.push_back(f);
  f.name = "g";
  f.direction = Direction::kExport;
  c.callables.push_back(f);
  const auto does = [&](const std::string& word, const std::string& name) {
    Step step;
    step.word = word;
    step.name = name;
    std::string error;
    const std::optional<StepTarget> target = step_target(c, step, error);
    if (!target) return error;
    return std::string(target->waits ? "waits " : "") + (target->arrives ? "arrives" : "");
  };
  CHECK(does("wait", "q") == "waits ");
  CHECK(does("release", "q") == "arrives");
  CHECK(does("acquire", "p") == "waits ");
  CHECK(does("arrive", "p") == "arrives");
  CHECK(does("wait", "m") == "waits ");
  CHECK(does("arrive", "m") == "arrives");
  CHECK(does("wait", "n") == "waits ");
  CHECK(does("arrive", "n") == "arrives");
  CHECK(does("sync", "n") == "`n` is a counter: its words are `wait` and `arrive`, not `sync`");
  CHECK(does("sync", "b") == "waits arrives");
  CHECK(does("arrive", "b") == "arrives");
  CHECK(does("call", "f") == "");
  CHECK(does("acquire", "q") ==
        "`q` is a ring's consumer: its words are `wait` and `release`, not `acquire`");
  CHECK(does("wait", "b") == "`b` is a named barrier: its words are `sync` and `arrive`, not `wait`");
  CHECK(does("call", "g") == "the component has no `g` that can be waited at, arrived at or called");
  c.mbarriers[0].name = "q";
  CHECK(does("wait", "q") == "the component has several `q` that can be waited at, arrived at or called");
}

TEST_SUITE_END();

}  // namespace pipelink::contract
