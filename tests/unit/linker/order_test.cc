// The same components, BIND and SET in any order give the same composition, bindings and messages.
#include <doctest/doctest.h>

#include <algorithm>
#include <random>

#include "builders.h"
#include "packager/base/render.h"

namespace pipelink::test {
namespace {

std::vector<Use> fused(const std::string& last_parameter) {
  const Component gemm = Component("gemm")
                             .role("mma", 4)
                             .settable("tile_m", 64, {64, 128})
                             .ring(kOut, "operands", kConsumer)
                             .callable(kIn, "epilogue", {"int", last_parameter})
                             .tensor(kOut, "acc", "epilogue", 1);
  const Component loader =
      Component("loader").role("load", 1).ring(kIn, "operands", kProducer).reads("tile_m");
  const Component swiglu = Component("swiglu")
                               .callable(kOut, "epilogue", {"int", "float (&)[4]"})
                               .tensor(kIn, "in", "epilogue", 1)
                               .reads("tile_m")
                               .requires_that("wide", "tile_m >= 128");
  return {{gemm, "g0"}, {gemm, "g1"}, {loader, "l0"}, {loader, "l1"}, {swiglu, "s0"}, {swiglu, "s1"}};
}

std::vector<std::pair<std::string, std::string>> entries() {
  return {{"l0.operands", "g0.operands"},
          {"l1.operands", "g1.operands"},
          {"g0.epilogue", "s0.epilogue"},
          {"g1.epilogue", "s1.epilogue"},
          {"l0.operands", "g0.operands"}};
}

template <class Show>
void same_in_any_order(std::vector<Use> uses, Links links, Show show) {
  const std::string expected = show(uses, links);
  CHECK_FALSE(expected.empty());
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    std::shuffle(uses.begin(), uses.end(), random);
    std::shuffle(links.bind.begin(), links.bind.end(), random);
    REQUIRE(show(uses, links) == expected);
  }
}

}  // namespace

TEST_CASE("bindings do not depend on order") {
  same_in_any_order(fused("float (&)[4]"), {entries(), {{"g1.tile_m", "128"}}},
                    [](const auto& uses, const Links& links) { return picture(compose(uses, links)); });
}

TEST_CASE("messages do not depend on order") {
  const auto show = [](const auto& uses, const Links& links) { return messages(compose(uses, links)); };
  same_in_any_order(fused("double"), {entries(), {}}, show);                              // check
  same_in_any_order(fused("float (&)[4]"), {{{"g0.x", "s0.y"}}, {{"g0.y", "1"}}}, show);  // bind
}

TEST_CASE("nor do those of assembling") {
  std::vector<Use> uses = fused("int");
  uses.push_back({Component("gemm"), ""});
  uses.push_back({Component("swiglu"), "l0"});
  same_in_any_order(uses, {}, [](const auto& u, const Links& links) {
    return render_text(try_compose(u, links).diagnostics);
  });
}

}  // namespace pipelink::test
