// The glue of compositions made in code: what it defines, for one instance and for several, in any order.
#include "linker/codegen/glue.h"

#include <doctest/doctest.h>

#include "builders.h"

namespace pipelink::test {
namespace {

Component caller() {
  return Component("caller")
      .role("run", 1)
      .callable(kIn, "f", {"int"}, "int")
      .buffer("room", expression("size * 2"))
      .settable("size", 64, {64, 128})
      .change([](Contract& c) { c.roles[0].align_warps = 1; });
}

Component callee(const std::string& name) {
  return Component(name).callable(kOut, "f", {"int"}, "int");
}

std::string glue_of(const Composition& composition) {
  Outcome<Bindings> bindings = bind(composition);
  REQUIRE(bindings);
  Outcome<Plan> planned = plan(composition, *bindings, {});
  REQUIRE(planned);
  Outcome<std::vector<Route>> routes = route(composition, *bindings);
  REQUIRE(routes);
  Outcome<std::string> text = glue(composition, *bindings, *planned, *routes);
  REQUIRE(text);
  return *text;
}

bool holds(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("one instance: handles are constants and calls are direct") {
  const std::string text = glue_of(compose({{caller(), ""}, {callee("callee"), ""}}));
  CHECK(holds(text, "unsigned pl__caller__role__run__warp(unsigned) { return 0u; }"));
  CHECK(holds(text, "unsigned char* pl__caller__buffer__room(unsigned) { return pl_shared + 0; }"));
  CHECK(holds(text, "int pl__caller__fact__size(unsigned) { return static_cast<int>(64ll); }"));
  CHECK(holds(text, "return pl__callee__export__f(pipelink::Self{0, self.parameters}, "));
  CHECK(holds(text, "unsigned char pl_shared[128];"));
  CHECK(holds(text, "__launch_bounds__(128, 1)"));
  CHECK_FALSE(holds(text, "switch"));
}

TEST_CASE("two instances: handles and calls depend on the instance alone") {
  const std::vector<Use> uses = {{caller(), "a"}, {caller(), "b"}, {callee("one"), ""}, {callee("two"), ""}};
  const Links links = {{{"a.f", "one.f"}, {"b.f", "two.f"}}, {{"b.size", "128"}}};
  const std::string text = glue_of(compose(uses, links));
  CHECK(holds(text,
              "pl__caller__fact__size(unsigned instance) { switch (instance) { case 0: return "
              "static_cast<int>(64ll); "
              "default: return static_cast<int>(128ll); } }"));
  CHECK(holds(text, "case 0: {\n      return pl__one__export__f("));
  CHECK(holds(text, "default: {\n      return pl__two__export__f("));
  CHECK(holds(text, "if (warp == 0) pl__caller__role__run(pipelink::Self{0, parameters.bytes});"));
  CHECK(holds(text, "else if (warp == 1) pl__caller__role__run(pipelink::Self{1, parameters.bytes});"));
  std::vector<Use> turned(uses.rbegin(), uses.rend());
  CHECK(glue_of(compose(turned, links)) == text);
}

TEST_CASE("tensor memory is allocated once for all claims, and freed after all roles") {
  const auto edit = [](Contract& c) {
    c.tensor_memory.push_back({"cells", {"caller.cu", 9}, expression("size"), {}});
  };
  Composition composition =
      compose({{caller().change(edit), "a"}, {caller().change(edit), "b"}, {callee("callee"), ""}},
              {{}, {{"b.size", "128"}}});
  CHECK_FALSE(holds(glue_of(compose({{caller(), ""}, {callee("callee"), ""}})), "tcgen05"));
  composition.arch = "sm_100a";
  const std::string text = glue_of(composition);
  // Columns 0 to 127 and 128 to 191, or 64 to 191 and 0 to 63; the allocation is a power of two.
  const bool wide_first = holds(text, "+ 128u; default:");
  CHECK(holds(text, wide_first ? "+ 0u; }" : "+ 0u; default:"));
  CHECK(holds(text, "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [%0], 256;"));
  const std::size_t roles = text.find("pl__caller__role__run(pipelink::Self{0, parameters.bytes})"),
                    sync = text.find("__syncthreads();", roles), free = text.find("tcgen05.dealloc", sync);
  CHECK(text.find("tcgen05.alloc") < text.find("__syncthreads();"));
  REQUIRE(roles != std::string::npos);
  REQUIRE(sync != std::string::npos);
  CHECK(free != std::string::npos);
  composition.launch.blocks_per_sm = 4;  // 128 columns each
  Outcome<Bindings> bindings = bind(composition);
  REQUIRE(bindings);
  const Outcome<Plan> refused = plan(composition, *bindings, {});
  REQUIRE_FALSE(refused);
  CHECK(refused.diagnostics[0].clause == "L-COLUMNS");
}

TEST_CASE("a cluster is synchronised at both ends") {
  Composition composition = compose({{caller(), ""}, {callee("callee"), ""}});
  composition.launch.cluster[0] = 2;
  const std::string text = glue_of(composition);
  CHECK(holds(text, "__cluster_dims__(2, 1, 1)"));
  CHECK_FALSE(holds(text, "__syncthreads"));
  const std::size_t first = text.find("barrier.cluster.arrive");
  REQUIRE(first != std::string::npos);
  CHECK(text.find("barrier.cluster.arrive", first + 1) != std::string::npos);
}

}  // namespace pipelink::test
