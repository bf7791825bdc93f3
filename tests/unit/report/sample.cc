#include "sample.h"

#include <doctest/doctest.h>

#include <algorithm>

#include "linker/codegen/glue.h"
#include "linker/report/map.h"

namespace pipelink::test {
namespace {

contract::Phase phase(std::string name, std::vector<std::string> after,
                      std::vector<std::string> after_previous, int line) {
  return {std::move(name), {"main.cu", line}, std::move(after), std::move(after_previous)};
}

/// Runs the loop: what it keeps while it loads and while it stores lies in the same place.
Component driver() {
  return Component("driver")
      .role("run", 4)
      .ring(kOut, "tiles", kConsumer, number(4096))
      .buffer("loaded", number(8192))
      .buffer("stored", number(6000))
      .callable(kIn, "finish", {"float (&)[1]"})
      .callable(kOut, "unused", {"int"}, "int")
      .tensor(kOut, "acc", "finish")
      .settable("rounds", 4, {2, 4, 8})
      .fact("width", number(64))
      .change([](Contract& c) {
        c.phases = {phase("load", {}, {"store"}, 90), phase("store", {"load"}, {}, 91)};
        c.buffers[0].live = {"load"};
        c.buffers[1].live = {"store"};
        c.rings[0].stages_min = number(2);
        c.rings[0].stages_max = number(64);
        c.rings[0].full_arrivals = number(1);
        c.rings[0].empty_arrivals = number(128);
        c.rings[0].transaction_bytes = number(4096);
        c.callables[0].phases = {"store"};
        c.named_barriers = {{"full", {"main.cu", 92}, number(128), {"load"}},
                            {"drained", {"main.cu", 93}, number(128), {"store"}}};
        c.mbarriers = {{"once", {"main.cu", 94}, number(3), number(32), 0, {}}};
        c.parameters =
            contract::ParameterRegion{"driver::Parameters", "driver.h", {"main.cu", 95}, 24, 8, {}};
      });
}

Component loader() {
  return Component("loader")
      .role("fill", 1)
      .ring(kIn, "tiles", kProducer, number(4096))
      .reads("rounds")
      .change([](Contract& c) {
        c.roles[0].align_warps = 1;
        c.roles[0].registers_max = 40;
      });
}

Component finisher() {
  return Component("finisher")
      .callable(kOut, "finish", {"float (&)[1]"})
      .tensor(kIn, "acc", "finish")
      .buffer("room", number(2048))
      .reads("width")
      .change([](Contract& c) {
        c.phases = {phase("body", {}, {}, 80)};
        c.callables[0].phases = {"body"};
        c.buffers[0].live = {"body"};
      });
}

}  // namespace

Composition sample_composition(bool turned) {
  std::vector<Use> uses = {{driver(), ""}, {loader(), ""}, {finisher(), "last"}};
  if (turned) std::reverse(uses.begin(), uses.end());
  return compose(uses, {{}, {{"driver.rounds", "8"}}});
}

std::string sample_map(bool turned) {
  Linked linked;
  Checked& in = linked.checked;
  in.composition = sample_composition(turned);
  Outcome<Bindings> bindings = bind(in.composition);
  REQUIRE(bindings);
  Outcome<std::vector<Route>> routes = route(in.composition, *bindings);
  REQUIRE(routes);
  Outcome<Plan> planned = plan(in.composition, *bindings, *routes);
  REQUIRE(planned);
  Outcome<std::string> text = glue(in.composition, *bindings, *planned, *routes);
  REQUIRE(text);
  in.bindings = std::move(*bindings);
  in.plan = std::move(*planned);
  in.routes = std::move(*routes);
  linked.glue = std::move(*text);
  linked.cubin = "no cubin, but bytes that have a digest";
  linked.gate.rows = {{"threads", "256", "256", true}, {"registers at entry", "248", "255", true}};
  return map_texts(linked).json;
}

place::Problem problem_of(const Composition& composition) {
  Outcome<Bindings> bindings = bind(composition);
  REQUIRE(bindings);
  Outcome<place::Problem> problem = placement_problem(composition, *bindings, {});
  REQUIRE(problem);
  return *problem;
}

}  // namespace pipelink::test
