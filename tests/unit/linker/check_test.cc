// Clauses between contracts that are bound.
#include "linker/check/check.h"

#include <doctest/doctest.h>

#include "builders.h"
#include "packager/base/render.h"

namespace pipelink::test {
namespace {

Component gemm() {
  return Component("gemm").role("mma", 4);
}
Component owner() {
  return gemm().ring(kOut, "operands", kConsumer, number(16384));
}
Component loader(Amount bytes = number(16384), RingSide side = kProducer) {
  return Component("loader").role("load", 1).ring(kIn, "operands", side, std::move(bytes));
}

std::string placed(const Composition& c, std::int64_t stages) {
  const Outcome<Bindings> b = bind(c);
  REQUIRE(b);
  INFO(render_text(check(c, *b)));
  REQUIRE(check(c, *b).empty());
  return render_text(check_placed(c, *b, {{PortRef{0, 0}, stages}}));
}

}  // namespace

TEST_CASE("L-SIGNATURE: parameter by parameter") {
  const Component a = gemm().callable(kIn, "f", {"int", "float (&)[4]", "Tile"}, "float");
  const Component b =
      Component("b").callable(kOut, "f", {"float", "const float (&)[4]", "Tile"}).change([](Contract& c) {
        c.callables[0].parameters[2].size = 32;
      });
  CHECK(messages(compose({{a, ""}, {b, ""}})) ==
        R"(error[L-SIGNATURE]: the callable `gemm.f` has another signature than `b.f`, to which it is bound
  gemm: imports `f` as `float(int, float (&)[4], Tile)` (gemm.cu:2)
  b: exports `f` as `void(float, const float (&)[4], Tile)` (b.cu:1)
  = reason: the result is `float` in gemm and `void` in b
            parameter 0 is `int` in gemm and `float` in b
            parameter 1 is `float (&)[4]` in gemm and `const float (&)[4]` in b, which differ in const, volatile or reference only
            parameter 2, `Tile`, has 16 bytes aligned to 16 in gemm and 32 bytes aligned to 16 in b
  = help: compile gemm and b against one declaration of `f`
)");
  const Component shorter = Component("b").callable(kOut, "f", {"int"}, "float");
  CHECK(messages(compose({{a, ""}, {shorter, ""}})) ==
        R"(error[L-SIGNATURE]: the callable `gemm.f` has another signature than `b.f`, to which it is bound
  gemm: imports `f` as `float(int, float (&)[4], Tile)` (gemm.cu:2)
  b: exports `f` as `float(int)` (b.cu:1)
  = reason: gemm has 3 parameters and b has 1
  = help: compile gemm and b against one declaration of `f`
)");
}

TEST_CASE("L-SIGNATURE: another export that fits is tried before it is offered") {
  const Component a = gemm().callable(kIn, "f", {"int"});
  const Component b = Component("b").callable(kOut, "f", {"float"}).callable(kOut, "g", {"int"});
  const std::vector<Use> uses = {{a, ""}, {b, ""}};
  CHECK(messages(compose(uses)) ==
        R"(error[L-SIGNATURE]: the callable `gemm.f` has another signature than `b.f`, to which it is bound
  gemm: imports `f` as `void(int)` (gemm.cu:2)
  b: exports `f` as `void(float)` (b.cu:1)
  = reason: parameter 0 is `int` in gemm and `float` in b
  = help: compile gemm and b against one declaration of `f`; another export fits: BIND gemm.f=b.g
)");
  CHECK(messages(compose(uses, {{{"gemm.f", "b.g"}}, {}})).empty());
}

TEST_CASE("L-LAYOUT: element, tile and scope") {
  const Component a = gemm().callable(kIn, "f", {"float (&)[4]"}).tensor(kOut, "acc", "f");
  const Component b = Component("b")
                          .callable(kOut, "f", {"float (&)[4]"})
                          .tensor(kIn, "in", "f", 0, "bf16")
                          .change([](Contract& c) {
                            c.tensors[0].tile = {number(64), number(4)};
                            c.tensors[0].space = "shared";
                            c.tensors[0].scope = "block";
                          });
  CHECK(messages(compose({{a, ""}, {b, ""}})) ==
        R"(error[L-LAYOUT]: the tensor `b.in` is not what `gemm.acc` gives
  b: imports `in`, bf16 64x4 in shared of a block (b.cu:2)
  gemm: exports `acc`, f32 64x2 in registers of a warpgroup (gemm.cu:3)
  = reason: the element is bf16 in b and f32 in gemm
            the tile is 64x4 in b and 64x2 in gemm
            the scope is block in b and warpgroup in gemm
  = help: use one element, tile and scope in b and gemm; generated code converts nothing
)");
}

template <std::int64_t kCalls>  // 0: as many as the fact `buffers` says
void generations(Contract& c) {
  c.tensors[0].space = "tensor_memory";
  c.tensors[0].layout = "(64,2):(2,1)";
  c.tensors[0].generations = kCalls == 0 ? expression("buffers") : number(kCalls);
}

template <std::int64_t kCalls>
Component reads_for() {
  Component c("b");
  c.callable(kOut, "f", {"unsigned"}).tensor(kIn, "in", "f").change(generations<kCalls>);
  return c;
}

TEST_CASE("L-LAYOUT: generations") {
  const Component a = gemm()
                          .settable("buffers", 2, {1, 2, 4})
                          .callable(kIn, "f", {"unsigned"})
                          .tensor(kOut, "acc", "f")
                          .change(generations<0>);
  const Component two = reads_for<2>(), four = reads_for<4>(), three = reads_for<3>();
  CHECK(messages(compose({{a, ""}, {two, ""}})).empty());
  CHECK(messages(compose({{a, ""}, {four, ""}}, {{}, {{"gemm.buffers", "4"}}})).empty());
  CHECK(messages(compose({{a, ""}, {three, ""}})) ==
        R"(error[L-LAYOUT]: the tensor `b.in` is not what `gemm.acc` gives
  b: imports `in`, f32 64x2 in tensor_memory of a warpgroup, generations 3 (b.cu:2)
  gemm: exports `acc`, f32 64x2 in tensor_memory of a warpgroup, generations buffers (gemm.cu:4)
  gemm: `buffers` is 2 (gemm.cu:2)
  = reason: a tile is read for 3 calls in b and keeps its place for 2 in gemm
  = help: SET gemm.buffers=4
)");
}

TEST_CASE("tensors by facts: of others, and set by the composition") {
  const Component a = gemm()
                          .settable("tile_m", 64, {64, 128, 256})
                          .callable(kIn, "f", {"float (&)[4]"})
                          .tensor(kOut, "acc", "f")
                          .change([](Contract& c) {
                            c.tensors[0].tile = {expression("tile_m"), number(2)};
                            c.tensors[0].layout = "(128,tile_m / 64):(1,128)";
                          });
  const Component b = Component("b")
                          .callable(kOut, "f", {"float (&)[4]"})
                          .reads("tile_m")
                          .tensor(kIn, "in", "f")
                          .change([](Contract& c) {
                            c.tensors[0].tile = {expression("tile_m"), number(2)};
                            c.tensors[0].layout = "(128,tile_m/64):(1,128)";
                          });
  const std::vector<Use> uses = {{a, ""}, {b, ""}};
  CHECK(messages(compose(uses)).empty());
  CHECK(messages(compose(uses, {{}, {{"gemm.tile_m", "256"}}})).empty());

  const Component wrong = Component("b")
                              .callable(kOut, "f", {"float (&)[4]"})
                              .reads("tile_m")
                              .tensor(kIn, "in", "f")
                              .change([](Contract& c) {
                                c.tensors[0].tile = {expression("tile_m"), number(2)};
                                c.tensors[0].layout = "(128,tile_m/64):(1,64)";
                              });
  CHECK(messages(compose({{a, ""}, {wrong, ""}}, {{}, {{"gemm.tile_m", "128"}}})) ==
        R"(error[P-LAYOUT]: layout of the tensor `b.in` does not cover its tile exactly once
  b: states `in` as tile_mx2 with the layout `(128,tile_m/64):(1,64)` (b.cu:3)
  gemm: `tile_m` is 128, set by the composition (gemm.cu:2)
  = reason: tile element 64 is held twice, by thread 0 value 1 and thread 64 value 0 with tile_m = 128
  = help: SET gemm.tile_m=64
)");

  const Component fixed = Component("b").callable(kOut, "f", {"float (&)[4]"}).tensor(kIn, "in", "f");
  CHECK(messages(compose({{a, ""}, {fixed, ""}})).empty());
  CHECK(messages(compose({{a, ""}, {fixed, ""}}, {{}, {{"gemm.tile_m", "128"}}})) ==
        R"(error[L-LAYOUT]: the tensor `b.in` is not what `gemm.acc` gives
  b: imports `in`, f32 64x2 in registers of a warpgroup (b.cu:2)
  gemm: exports `acc`, f32 tile_mx2 in registers of a warpgroup (gemm.cu:4)
  gemm: `tile_m` is 128, set by the composition (gemm.cu:2)
  = reason: the tile is 64x2 in b and 128x2 in gemm
  = help: SET gemm.tile_m=64
)");

  const Component late = gemm()
                             .ring(kOut, "operands", kConsumer)
                             .fact("depth", expression("operands.stages"))
                             .callable(kIn, "f", {"float (&)[4]"})
                             .tensor(kOut, "acc", "f")
                             .change([](Contract& c) { c.tensors[0].replicas = expression("depth"); });
  const std::string said = messages(compose({{late, ""}, {fixed, ""}, {loader(number(1024)), ""}}));
  CAPTURE(said);
  CHECK(said.find("layout of the tensor `gemm.acc` reads the placement") != std::string::npos);
}

TEST_CASE("L-RING: two consumers") {
  CHECK(messages(compose({{owner(), ""}, {loader(number(16384), kConsumer), ""}})) ==
        R"(error[L-RING]: the ring `gemm.operands` has two consumers
  gemm: owns ring `operands` as consumer (gemm.cu:2)
  loader: uses it as `operands` as consumer (loader.cu:2)
  = reason: 0 producers and 2 consumers: the full barriers never complete
  = help: bind `gemm.operands` to a producer
)");
}

TEST_CASE("L-RING: what both state is equal") {
  CHECK(messages(compose({{owner(), ""}, {loader(), ""}})).empty());
  const Component wrong = loader(number(8192)).change([](Contract& c) {
    c.rings[0].full_arrivals = number(1);
    c.rings[0].transaction_bytes = number(8192);
    c.rings[0].empty_arrivals = number(2);
  });
  const Component stated = owner().change([](Contract& c) {
    c.rings[0].full_arrivals = number(2);
    c.rings[0].empty_arrivals = number(1);
  });
  CHECK(messages(compose({{stated, ""}, {wrong, ""}})) ==
        R"(error[L-RING]: the two sides of the ring `gemm.operands` disagree on stage_bytes
  gemm: owns ring `operands`, stage_bytes 16384 (gemm.cu:2)
  loader: uses it as `operands`, stage_bytes 8192 (loader.cu:2)
  = reason: 16384 in gemm and 8192 in loader, which differ by 8192: one side would reach beyond its stage, or leave a part of it unused
  = help: state stage_bytes 16384 in loader, by the facts of gemm if it has them

error[L-RING]: the two sides of the ring `gemm.operands` disagree on full_arrivals
  gemm: owns ring `operands`, full_arrivals 2 (gemm.cu:2)
  loader: uses it as `operands`, full_arrivals 1 (loader.cu:2)
  = reason: 2 in gemm and 1 in loader, which differ by 1: the full barrier would complete too early or never
  = help: state full_arrivals 2 in loader, by the facts of gemm if it has them

error[L-RING]: the two sides of the ring `gemm.operands` disagree on empty_arrivals
  gemm: owns ring `operands`, empty_arrivals 1 (gemm.cu:2)
  loader: uses it as `operands`, empty_arrivals 2 (loader.cu:2)
  = reason: 1 in gemm and 2 in loader, which differ by 1: the empty barrier would complete too early or never
  = help: state empty_arrivals 1 in loader, by the facts of gemm if it has them
)");
}

TEST_CASE("L-RING: amounts in each side's own facts, and a SET that was tried") {
  const Component a =
      gemm().settable("tile_m", 64, {64, 128}).ring(kOut, "operands", kConsumer, expression("tile_m * 128"));
  const Component b = loader(expression("tile * 256")).fact("tile", number(64));
  CHECK(messages(compose({{a, ""}, {b, ""}})) ==
        R"(error[L-RING]: the two sides of the ring `gemm.operands` disagree on stage_bytes
  gemm: owns ring `operands`, stage_bytes `tile_m * 128` = 8192 (gemm.cu:3)
  loader: uses it as `operands`, stage_bytes `tile * 256` = 16384 (loader.cu:2)
  gemm: `tile_m` is 64 (gemm.cu:2)
  loader: `tile` is 64 (loader.cu:3)
  = reason: 8192 in gemm and 16384 in loader, which differ by 8192: one side would reach beyond its stage, or leave a part of it unused
  = help: SET gemm.tile_m=128
)");
  CHECK(messages(compose({{a, ""}, {b, ""}}, {{}, {{"gemm.tile_m", "128"}}})).empty());
}

TEST_CASE("L-RING: a fact that both sides read is named once") {
  const Component a =
      gemm().fact("tile_m", number(64)).ring(kOut, "operands", kConsumer, expression("tile_m * 128"));
  const Component b = loader(expression("tile_m * 256")).reads("tile_m");
  const std::string text = messages(compose({{a, ""}, {b, ""}}));
  const std::size_t first = text.find("gemm: `tile_m` is 64");
  REQUIRE(first != std::string::npos);
  CHECK(text.find("gemm: `tile_m` is 64", first + 1) == std::string::npos);
}

TEST_CASE("L-REQUIRE: values of all names, and a SET that was tried") {
  const Component a = gemm().settable("tile_n", 96, {64, 96, 128, 256});
  const Component b = Component("b")
                          .role("r", 4)
                          .reads("tile_n")
                          .fact("step", number(64))
                          .requires_that("aligned", "tile_n % step == 0 && tile_n >= 128");
  CHECK(messages(compose({{a, ""}, {b, ""}})) ==
        R"(error[L-REQUIRE]: the requirement `b.aligned` does not hold
  b: requires `tile_n % step == 0 && tile_n >= 128` (b.cu:4)
  b: `step` is 64 (b.cu:3)
  gemm: `tile_n` is 96 (gemm.cu:2)
  = reason: `tile_n % step == 0 && tile_n >= 128` is false with step = 64, tile_n = 96
  = help: SET gemm.tile_n=128
)");
  CHECK(messages(compose({{a, ""}, {b, ""}}, {{}, {{"gemm.tile_n", "128"}}})).empty());
}

TEST_CASE("L-REQUIRE: no SET is offered that breaks something else") {
  const Component a = gemm().settable("tile_n", 96, {96, 128}).requires_that("narrow", "tile_n < 100");
  const Component b =
      Component("b").role("r", 4).reads("tile_n").requires_that("aligned", "tile_n % 64 == 0");
  CHECK(messages(compose({{a, ""}, {b, ""}}, {{}, {{"gemm.tile_n", "96"}}})) ==
        R"(error[L-REQUIRE]: the requirement `b.aligned` does not hold
  b: requires `tile_n % 64 == 0` (b.cu:3)
  gemm: `tile_n` is 96, set by the composition (gemm.cu:2)
  = reason: `tile_n % 64 == 0` is false with tile_n = 96
  = help: use a component whose facts meet `tile_n % 64 == 0`
)");
}

TEST_CASE("L-REQUIRE: without names, and one that cannot be evaluated") {
  CHECK(messages(compose(
            {{gemm().fact("x", number(0)).requires_that("never", "0").requires_that("odd", "1 / x"), ""}})) ==
        R"(error[L-REQUIRE]: the requirement `gemm.never` does not hold
  gemm: requires `0` (gemm.cu:3)
  = reason: `0` is false
  = help: use a component whose facts meet `0`

error[P-EXPRESSION]: the requirement `gemm.odd` cannot be evaluated
  gemm: requires `1 / x` (gemm.cu:4)
  gemm: `x` is 0 (gemm.cu:2)
  = reason: division by zero with x = 0
  = help: correct the expression in gemm
)");
}

TEST_CASE("L-WARPS") {
  CHECK(messages(compose({{Component("a"), ""}})) ==
        R"(error[L-WARPS]: no component has a role
  a: has 0 roles (a.cu:1)
  = reason: 0 warps: the kernel would have nothing to run
  = help: add a component with a role that calls these
)");
  CHECK(messages(compose({{gemm().role("load", 1), "g0"},
                          {gemm().role("load", 1), "g1"},
                          {Component("big").role("r", 24), ""}})) ==
        R"(note[L-ISOLATED]: `big` is bound to no other component
  big: has 1 role, 0 callables, 0 rings (big.cu:1)
  = reason: 0 callables, rings and facts join it to others; its roles run beside theirs

note[L-ISOLATED]: `g0` is bound to no other component
  g0: has 2 roles, 0 callables, 0 rings (gemm.cu:1)
  = reason: 0 callables, rings and facts join it to others; its roles run beside theirs

note[L-ISOLATED]: `g1` is bound to no other component
  g1: has 2 roles, 0 callables, 0 rings (gemm.cu:1)
  = reason: 0 callables, rings and facts join it to others; its roles run beside theirs

error[L-WARPS]: the roles need more threads than a block has
  big: role `r` has 24 warps (big.cu:1)
  g0: role `mma` has 4 warps (gemm.cu:1)
  g0: role `load` has 1 warp (gemm.cu:2)
  g1: role `mma` has 4 warps (gemm.cu:1)
  g1: role `load` has 1 warp (gemm.cu:2)
  = reason: 24 + 4 + 1 + 4 + 1 = 34 warps, 1088 threads; a block has 1024
  = help: leave out roles of 2 warps or more
)");
}

TEST_CASE("L-THREADS: the threads of all roles that can reach a barrier") {
  const auto barrier = [](Contract& c) {
    c.named_barriers.push_back({"meet", {"b.cu", 9}, number(256), {}});
  };
  CHECK(messages(compose({{gemm().change(barrier), ""}})) ==
        R"(error[L-THREADS]: the named barrier `gemm.meet` waits for more threads than can come
  gemm: named barrier `meet` is for 256 threads (b.cu:9)
  gemm: role `mma` has 128 threads (gemm.cu:1)
  = reason: 128 threads can reach it, 128 less than it waits for: it never opens
  = help: state the number of threads that meet, or use roles that have as many
)");
  CHECK(messages(compose({{gemm().role("more", 4).change(barrier), ""}})).empty());
  // An export's barrier is reached by the roles of all its callers, through others too.
  const Component leaf = Component("leaf").callable(kOut, "f").change(barrier);
  const Component middle = Component("middle").callable(kIn, "f").callable(kOut, "g");
  CHECK(messages(compose({{leaf, ""}, {middle, ""}, {gemm().callable(kIn, "g"), ""}})).find("L-THREADS") !=
        std::string::npos);
  CHECK(
      messages(compose({{leaf, ""}, {middle, ""}, {gemm().role("more", 4).callable(kIn, "g"), ""}})).empty());
  // A callee's roles do not run its caller's code.
  CHECK(messages(compose({{gemm().callable(kIn, "f").change(barrier), ""},
                          {Component("b").role("r", 4).callable(kOut, "f"), ""}}))
            .find("128 less") != std::string::npos);
}

TEST_CASE("amounts: columns of tensor memory are a power of two") {
  const auto edit = [](Contract& c) {
    c.tensor_memory.push_back({"cells", {"gemm.cu", 20}, expression("n * 32"), {}});
  };
  CHECK(messages(compose({{gemm().settable("n", 3, {2, 3}).change(edit), ""}})) ==
        R"(error[P-VALUE]: columns of the tensor memory `gemm.cells` is out of range
  gemm: states columns as `n * 32` = 96 (gemm.cu:20)
  gemm: `n` is 3 (gemm.cu:2)
  = reason: 96 with n = 3, must be a power of two from 32 to 512
  = help: SET gemm.n=2
)");
}

TEST_CASE("amounts: zero, negative, too large, not computable") {
  const Component a =
      gemm()
          .settable("n", 0, {0, 1, 2})
          .buffer("tile", expression("n * 64"))
          .buffer("huge", expression("4611686018427387904 * (n + 2)"))
          .buffer("split", expression("64 / n"))
          .change([](Contract& c) {
            c.named_barriers.push_back({"sync", {"gemm.cu", 20}, expression("n + 33"), {}});
            c.mbarriers.push_back({"done", {"gemm.cu", 21}, number(1), expression("n - 1"), 0, {}});
          });
  CHECK(messages(compose({{a, ""}})) ==
        R"(error[P-VALUE]: bytes of the buffer `gemm.tile` is out of range
  gemm: states bytes as `n * 64` = 0 (gemm.cu:3)
  gemm: `n` is 0 (gemm.cu:2)
  = reason: 0 with n = 0, must be 1 to 1073741824
  = help: SET gemm.n=1

error[P-EXPRESSION]: bytes of the buffer `gemm.huge` cannot be evaluated
  gemm: states bytes as `4611686018427387904 * (n + 2)` (gemm.cu:4)
  gemm: `n` is 0 (gemm.cu:2)
  = reason: the value does not fit 64 bits with n = 0
  = help: correct the expression in gemm

error[P-EXPRESSION]: bytes of the buffer `gemm.split` cannot be evaluated
  gemm: states bytes as `64 / n` (gemm.cu:5)
  gemm: `n` is 0 (gemm.cu:2)
  = reason: division by zero with n = 0
  = help: SET gemm.n=1

error[P-VALUE]: arrivals of the mbarriers `gemm.done` is out of range
  gemm: states arrivals as `n - 1` = -1 (gemm.cu:21)
  gemm: `n` is 0 (gemm.cu:2)
  = reason: -1 with n = 0, must be 1 to 1048575
  = help: SET gemm.n=2

error[P-VALUE]: threads of the named barrier `gemm.sync` is out of range
  gemm: states threads as `n + 33` = 33 (gemm.cu:20)
  gemm: `n` is 0 (gemm.cu:2)
  = reason: 33 with n = 0, must be a multiple of 32 from 32 to 1024
  = help: correct the amount in gemm
)");
}

TEST_CASE("ring depths: order, and no reading of the placement") {
  const Component a =
      owner().fact("most", number(1)).change([](Contract& c) { c.rings[0].stages_max = expression("most"); });
  CHECK(messages(compose({{a, ""}, {loader(), ""}})) ==
        R"(error[P-VALUE]: stages_min of the ring `gemm.operands` is more than stages_max
  gemm: states stages_min as 2 (gemm.cu:2)
  gemm: states stages_max as `most` = 1 (gemm.cu:2)
  gemm: `most` is 1 (gemm.cu:3)
  = reason: 2 is more than 1
  = help: state a stages_max of 2 or more
)");
  const Component b =
      owner().change([](Contract& c) { c.rings[0].stages_min = expression("operands.stages"); });
  CHECK(
      messages(compose({{b, ""}, {loader(), ""}})) ==
      R"(error[L-FACT-CYCLE]: stages_min of the ring `gemm.operands` depends on the placement that it decides
  gemm: states stages_min as `operands.stages` (gemm.cu:2)
  = reason: the depth of a ring is chosen between stages_min and stages_max, so neither can read it
  = help: state stages_min by numbers and facts
)");
}

TEST_CASE("L-ODR: one name, two bodies") {
  const Component a = gemm().change([](Contract& c) { c.weak = {"_Z4swapRiS_ 1111111111111111", "same 7"}; });
  const Component b = Component("b").role("r", 4).change([](Contract& c) {
    c.weak = {"_Z4swapRiS_ 2222222222222222", "same 7"};
  });
  CHECK(messages(compose({{a, ""}, {b, ""}})) ==
        R"(note[L-ISOLATED]: `b` is bound to no other component
  b: has 1 role, 0 callables, 0 rings (b.cu:1)
  = reason: 0 callables, rings and facts join it to others; its roles run beside theirs

note[L-ISOLATED]: `gemm` is bound to no other component
  gemm: has 1 role, 0 callables, 0 rings (gemm.cu:1)
  = reason: 0 callables, rings and facts join it to others; its roles run beside theirs

error[L-ODR]: the packages of b and gemm hold different functions of one name
  b: `swap(int&, int&)` has the body 222222222222 (b.cu:1)
  gemm: `swap(int&, int&)` has the body 111111111111 (gemm.cu:1)
  = reason: 1 function of one name with different bodies in 2 packages, of which the vendor linker keeps one
  = help: keep the functions of gemm in a namespace of its own, or compile both against one version
)");
}

TEST_CASE("L-LAYOUT, L-SIGNATURE of one of several exports: to do without it, or another in its place") {
  const Component give = Component("give")
                             .role("r", 4)
                             .callable(kIn, "take", {"const float (&)[4]"})
                             .tensor(kOut, "tile", "take");
  const auto taker = [](const char* name, const char* element) {
    return Component(name)
        .callable(kOut, "take", {"const float (&)[4]"})
        .tensor(kIn, "tile", "take", 0, element);
  };
  const Links both{{{"give.take", "a.take"}, {"give.take", "b.take"}}, {}};
  CHECK(messages(compose({{give, ""}, {taker("a", "f32"), ""}, {taker("b", "f16"), ""}}, both)) ==
        R"(error[L-LAYOUT]: the tensor `b.tile` is not what `give.tile` gives
  b: imports `tile`, f16 64x2 in registers of a warpgroup (b.cu:2)
  give: exports `tile`, f32 64x2 in registers of a warpgroup (give.cu:3)
  = reason: the element is f16 in b and f32 in give
  = help: remove BIND give.take=b.take
)");
  const Component plain =
      Component("b").callable(kOut, "take", {"int"}).callable(kOut, "show", {"const float (&)[4]"});
  CHECK(messages(compose({{give, ""}, {taker("a", "f32"), ""}, {plain, ""}}, both))
            .find("= help: compile give and b against one declaration of `take`, or remove "
                  "BIND give.take=b.take") != std::string::npos);
}

TEST_CASE("after placement: requirements and amounts that read it") {
  const Component a = owner()
                          .fact("ahead", expression("operands.stages - 3"))
                          .requires_that("deep", "operands.stages >= 4")
                          .requires_that("shallow", "ahead < 9");
  const Component b = loader().change([](Contract& c) {
    c.mbarriers.push_back({"slots", {"loader.cu", 20}, number(1), expression("operands.stages - 3"), 0, {}});
  });
  CHECK(placed(compose({{a, ""}, {b, ""}}), 5).empty());
  CHECK(placed(compose({{a, ""}, {b, ""}}), 3) ==
        R"(error[P-VALUE]: arrivals of the mbarriers `loader.slots` is out of range
  loader: states arrivals as `operands.stages - 3` = 0 (loader.cu:20)
  placement: operands.stages is 3
  = reason: 0 with operands.stages = 3, must be 1 to 1048575
  = help: correct the amount in loader

error[L-REQUIRE]: the requirement `gemm.deep` does not hold
  gemm: requires `operands.stages >= 4` (gemm.cu:4)
  placement: operands.stages is 3
  = reason: `operands.stages >= 4` is false with operands.stages = 3
  = help: a requirement does not steer placement: state the least depth in stages_min of the ring
)");
}

TEST_CASE("after placement: a fact that does not fit its type") {
  const Component a = owner().fact("ahead", expression("operands.stages - 3")).change([](Contract& c) {
    c.facts[0].cpp_type = "unsigned";
  });
  CHECK(placed(compose({{a, ""}, {loader(), ""}}), 2) ==
        R"(error[L-FACT-TYPE]: the value of `gemm.ahead` does not fit the type that reads it
  gemm: states `ahead` as -1 (gemm.cu:3)
  gemm: reads it as `unsigned` (gemm.cu:3)
  = reason: -1 is outside 0 to 4294967295
  = help: read it as a wider type in gemm
)");
}

}  // namespace pipelink::test
