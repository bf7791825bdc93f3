// A composition file with its packages: names, architectures, toolkits, static data.
#include <doctest/doctest.h>

#include "builders.h"
#include "packager/base/render.h"

namespace pipelink::test {
namespace {

std::string faults(const std::vector<Use>& uses) {
  const Outcome<Composition> composition = try_compose(uses);
  CHECK(!composition);
  return render_text(composition.diagnostics);
}

Component for_arch(const std::string& name, const std::string& arch, const std::string& toolkit = "13.0") {
  Component c(name);
  const_cast<Contract&>(c.contract()).arch = arch;
  const_cast<Contract&>(c.contract()).toolkit = toolkit;
  return c;
}

}  // namespace

TEST_CASE("instances are sorted and numbered within their component") {
  const Composition c =
      compose({{Component("swiglu"), ""}, {Component("gemm"), "up"}, {Component("gemm"), "down"}});
  REQUIRE(c.packages.size() == 2);
  REQUIRE(c.instances.size() == 3);
  CHECK(c.instances[0].name == "down");
  CHECK(c.instances[0].index == 0);
  CHECK(c.instances[1].name == "swiglu");
  CHECK(c.instances[1].index == 0);
  CHECK(c.instances[2].name == "up");
  CHECK(c.instances[2].index == 1);
  CHECK(c.contract(2).component == "gemm");
}

TEST_CASE("one package under two paths is one package") {
  CompositionFile file;
  file.arch = "sm_90a";
  file.components = {{"x/gemm.plk", "a", {}}, {"gemm.plk", "b", {}}};
  const Contract gemm = Component("gemm").contract();
  const Outcome<Composition> c =
      assemble(file, {{"x/gemm.plk", "gemm.plk", "12", gemm}, {"gemm.plk", "gemm.plk", "12", gemm}});
  REQUIRE(c);
  REQUIRE(c->packages.size() == 1);
  CHECK(c->packages[0].path == "gemm.plk");
}

TEST_CASE("L-NAME: a component twice needs a name for each use") {
  CHECK(faults({{Component("gemm"), ""}, {Component("gemm"), "gemm0"}, {Component("gemm"), ""}}) ==
        R"(error[L-NAME]: the component `gemm` is used 3 times and not every use has a name
  composition: `gemm` without `as` (fused.json:3)
  composition: `gemm` without `as` (fused.json:3)
  composition: `gemm` as `gemm0` (fused.json:3)
  = reason: ports, facts and the link map are addressed as instance.name
  = help: name each use: "as": "gemm1", "as": "gemm2"
)");
}

TEST_CASE("L-NAME: two instances of one name") {
  CHECK(faults({{Component("gemm"), "swiglu"}, {Component("swiglu"), ""}}) ==
        R"(error[L-NAME]: two instances have the name `swiglu`
  composition: `gemm` as `swiglu` (fused.json:3)
  composition: `swiglu` (fused.json:3)
  = reason: ports, facts and the link map are addressed as instance.name
  = help: give 1 of them another `as`
)");
}

TEST_CASE("L-NAME: two packages of one component") {
  CompositionFile file;
  file.arch = "sm_90a";
  file.components = {{"a.plk", "", {}}, {"b.plk", "", {}}};
  const Contract gemm = Component("gemm").contract();
  const Outcome<Composition> c =
      assemble(file, {{"a.plk", "a.plk", "1", gemm}, {"b.plk", "b.plk", "2", gemm}});
  CHECK(render_text(c.diagnostics) ==
        R"(error[L-NAME]: two packages hold the component `gemm`
  gemm: a.plk holds version 1.0 (gemm.cu:1)
  gemm: b.plk holds version 1.0 (gemm.cu:1)
  = reason: 2 packages define the symbols pl__gemm__*, which are one name each in the linked kernel
  = help: name one of these packages for all instances of `gemm`
)");
}

TEST_CASE("L-ARCH names what is there") {
  CHECK(faults({{for_arch("gemm", "sm_100a"), ""}, {Component("swiglu"), ""}}) ==
        R"(error[L-ARCH]: a package is for another architecture than the composition
  composition: `arch` is sm_90a (fused.json)
  gemm: gemm.plk is for sm_100a (gemm.cu:1)
  = reason: of 2 packages, 1 for sm_90a
  = help: name the packages for sm_90a of `gemm`
)");
  CHECK(faults({{for_arch("gemm", "sm_100a"), ""}, {for_arch("swiglu", "sm_100a"), ""}}) ==
        R"(error[L-ARCH]: a package is for another architecture than the composition
  composition: `arch` is sm_90a (fused.json)
  gemm: gemm.plk is for sm_100a (gemm.cu:1)
  swiglu: swiglu.plk is for sm_100a (swiglu.cu:1)
  = reason: of 2 packages, 0 for sm_90a
  = help: state "arch": "sm_100a", for which all packages are, or name the packages for sm_90a
)");
}

TEST_CASE("L-TOOLKIT") {
  CHECK(try_compose({{Component("gemm"), ""}, {for_arch("swiglu", "sm_90a", "13.1"), ""}}));
  CHECK(faults({{Component("gemm"), ""}, {for_arch("swiglu", "sm_90a", "12.9"), ""}}) ==
        R"(error[L-TOOLKIT]: the packages are from toolkits of different major versions
  gemm: gemm.plk is from CUDA 13.0 (gemm.cu:1)
  swiglu: swiglu.plk is from CUDA 12.9 (swiglu.cu:1)
  = reason: 1 from CUDA 12, 1 from CUDA 13; link-time code is readable within one major version only
  = help: pack all with one major version
)");
}

TEST_CASE("P-STATE: static data that can be written, twice") {
  const Component counter =
      Component("counter").change([](Contract& c) { c.mutable_data = {"pl__counter__total"}; });
  CHECK(try_compose({{counter, ""}}));
  CHECK(
      faults({{counter, "a"}, {counter, "b"}}) ==
      R"(error[P-STATE]: the component `counter` keeps static data that can be written and has several instances
  counter: counter.plk has `pl__counter__total` (counter.cu:1)
  composition: instance `a` (fused.json:3)
  composition: instance `b` (fused.json:3)
  = reason: 2 instances would share 1 variable that each takes for its own
  = help: use one instance, or keep the state in a buffer or the parameter region of `counter`
)");
}

TEST_CASE("L-SET: a ring preference without its ring") {
  CompositionFile file;
  file.arch = "sm_90a";
  file.file = "fused.json";
  file.components = {{"gemm.plk", "", {}}};
  file.rings = {{"gemm.operand", {1, 1}}};
  file.lines = {{"RING gemm.operand", 7}};
  const Contract gemm = Component("gemm").ring(kOut, "operands", kConsumer).contract();
  CHECK(render_text(assemble(file, {{"gemm.plk", "gemm.plk", "", gemm}}).diagnostics) ==
        R"(error[L-SET]: a preference is stated for `gemm.operand`, which is no ring of its owner
  composition: RING gemm.operand (fused.json:7)
  = reason: the rings are `gemm.operands`
  = help: name one of these rings by its owner, or remove it
)");
}

}  // namespace pipelink::test
