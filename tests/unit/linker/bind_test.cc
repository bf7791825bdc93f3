// Which port meets which, without a BIND.
#include <doctest/doctest.h>

#include "builders.h"

namespace pipelink::test {
namespace {

Component gemm() {
  return Component("gemm").callable(kIn, "epilogue", {"int", "float (&)[4]"});
}
Component swiglu(const std::string& name = "epilogue") {
  return Component("swiglu").callable(kOut, name, {"int", "float (&)[4]"});
}

}  // namespace

TEST_CASE("an import meets its namesake") {
  const Component other = Component("other").callable(kOut, "apply", {"int", "float (&)[4]"});
  CHECK(picture(compose({{gemm(), ""}, {swiglu(), ""}, {other, ""}})) ==
        R"(gemm.epilogue -> swiglu.epilogue
dropped other.apply
)");
}

TEST_CASE("else the only export that fits") {
  const Component other = Component("other").callable(kOut, "apply", {"int"});
  CHECK(picture(compose({{gemm(), ""}, {swiglu("apply"), ""}, {other, ""}})) ==
        R"(gemm.epilogue -> swiglu.apply
dropped other.apply
)");
}

TEST_CASE("two importers may share an export") {
  CHECK(picture(compose({{gemm(), "g0"}, {gemm(), "g1"}, {swiglu(), ""}})) ==
        R"(g0.epilogue -> swiglu.epilogue
g1.epilogue -> swiglu.epilogue
)");
}

TEST_CASE("L-UNBOUND: every candidate and why it was rejected") {
  CHECK(messages(compose({{gemm(), ""}})) ==
        R"(error[L-UNBOUND]: nobody exports what the callable `gemm.epilogue` needs
  gemm: imports callable `epilogue` as `void(int, float (&)[4])` (gemm.cu:1)
  = reason: 0 exports of this kind in the composition
  = help: add a component that exports callable `epilogue`
)");
  const Component other = Component("other")
                              .callable(kOut, "f", {"int"})
                              .callable(kOut, "g", {"double", "const float (&)[4]"}, "int");
  const Component own = gemm().callable(kOut, "identity", {"int", "float (&)[4]"});
  CHECK(messages(compose({{own, ""}, {other, ""}})) ==
        R"(error[L-UNBOUND]: nobody exports what the callable `gemm.epilogue` needs
  gemm: imports callable `epilogue` as `void(int, float (&)[4])` (gemm.cu:1)
  gemm: exports callable `identity` as `void(int, float (&)[4])`; rejected: it is the importer's own, which only a BIND gives it (gemm.cu:2)
  other: exports callable `f` as `void(int)`; rejected: gemm has 2 parameters and other has 1 (other.cu:1)
  other: exports callable `g` as `int(double, const float (&)[4])`; rejected: the result is `void` in gemm and `int` in other; parameter 0 is `int` in gemm and `double` in other; parameter 1 is `float (&)[4]` in gemm and `const float (&)[4]` in other, which differ in const, volatile or reference only (other.cu:2)
  = reason: 3 exports of this kind in the composition, none fits
  = help: add a component that exports callable `epilogue`, or BIND gemm.epilogue=gemm.identity
)");
}

TEST_CASE("L-UNBOUND: a ring of one's own, which no BIND gives either") {
  const Component both =
      Component("both").role("run", 1).ring(kOut, "out", kProducer).ring(kIn, "in", kConsumer);
  CHECK(messages(compose({{both, ""}}))
            .find("rejected: it is the importer's own, and a ring is shared by two instances (") !=
        std::string::npos);
}

TEST_CASE("L-UNBOUND: of many differences the first, and how many more") {
  const Component other = Component("other").callable(kOut, "h", {"double", "float *", "int"}, "int");
  CHECK(messages(compose({{gemm(), ""}, {other, ""}})) ==
        R"(error[L-UNBOUND]: nobody exports what the callable `gemm.epilogue` needs
  gemm: imports callable `epilogue` as `void(int, float (&)[4])` (gemm.cu:1)
  other: exports callable `h` as `int(double, float *, int)`; rejected: the result is `void` in gemm and `int` in other; 3 more differences (other.cu:1)
  = reason: 1 export of this kind in the composition, none fits
  = help: add a component that exports callable `epilogue`
)");
}

TEST_CASE("L-AMBIGUOUS: two that fit") {
  const Component other = Component("other").callable(kOut, "other", {"int", "float (&)[4]"});
  CHECK(messages(compose({{gemm(), ""}, {swiglu("apply"), ""}, {other, ""}})) ==
        R"(error[L-AMBIGUOUS]: the callable `gemm.epilogue` could be bound to 2 exports
  gemm: imports callable `epilogue` as `void(int, float (&)[4])` (gemm.cu:1)
  other: exports callable `other` as `void(int, float (&)[4])`; fits (other.cu:1)
  swiglu: exports callable `apply` as `void(int, float (&)[4])`; fits (swiglu.cu:1)
  = reason: no export of another instance has this name, and 2 fit
  = help: BIND gemm.epilogue=other.other or BIND gemm.epilogue=swiglu.apply or leave `other` out or leave `swiglu` out
)");
  // Not what has roles.
  const Component busy = Component(other).role("run", 4);
  const std::string help =
      "  = help: BIND gemm.epilogue=other.other or BIND gemm.epilogue=swiglu.apply or leave `swiglu` out\n";
  CHECK(messages(compose({{gemm(), ""}, {swiglu("apply"), ""}, {busy, ""}})).find(help) != std::string::npos);
}

TEST_CASE("L-AMBIGUOUS: two namesakes, of which one fits") {
  const Component other = Component("other").callable(kOut, "epilogue", {"int"});
  CHECK(messages(compose({{gemm(), ""}, {swiglu(), ""}, {other, ""}})) ==
        R"(error[L-AMBIGUOUS]: the callable `gemm.epilogue` could be bound to 2 exports
  gemm: imports callable `epilogue` as `void(int, float (&)[4])` (gemm.cu:1)
  other: exports callable `epilogue` as `void(int)`; does not fit: gemm has 2 parameters and other has 1 (other.cu:1)
  swiglu: exports callable `epilogue` as `void(int, float (&)[4])`; fits (swiglu.cu:1)
  = reason: 2 exports of other instances have this name
  = help: BIND gemm.epilogue=swiglu.epilogue or leave `other` out
)");
  // Not what the composition speaks of.
  const Component set = Component(other).settable("x", 1, {1, 2});
  CHECK(messages(compose({{gemm(), ""}, {swiglu(), ""}, {set, ""}}, {{}, {{"other.x", "2"}}}))
            .find("help: BIND gemm.epilogue=swiglu.epilogue\n") != std::string::npos);
}

TEST_CASE("a namesake that does not fit is not passed over") {
  const Component wrong = Component("wrong").callable(kOut, "epilogue", {"float", "float (&)[4]"});
  const Composition c = compose({{gemm(), ""}, {swiglu("apply"), ""}, {wrong, ""}});
  CHECK(picture(c) ==
        R"(gemm.epilogue -> wrong.epilogue
dropped swiglu.apply
)");
  CHECK(messages(c) ==
        R"(warning[L-ISOLATED]: `swiglu` is bound to no other component
  swiglu: has 0 roles, 1 callable, 0 rings (swiglu.cu:1)
  = reason: 0 callables, rings and facts join it to others, and without a role nothing runs its code
  = help: remove it from the composition

error[L-SIGNATURE]: the callable `gemm.epilogue` has another signature than `wrong.epilogue`, to which it is bound
  gemm: imports `epilogue` as `void(int, float (&)[4])` (gemm.cu:1)
  wrong: exports `epilogue` as `void(float, float (&)[4])` (wrong.cu:1)
  = reason: parameter 0 is `int` in gemm and `float` in wrong
  = help: compile gemm and wrong against one declaration of `epilogue`; another export fits: BIND gemm.epilogue=swiglu.apply

error[L-WARPS]: no component has a role
  gemm: has 0 roles (gemm.cu:1)
  swiglu: has 0 roles (swiglu.cu:1)
  wrong: has 0 roles (wrong.cu:1)
  = reason: 0 warps: the kernel would have nothing to run
  = help: add a component with a role that calls these
)");
}

TEST_CASE("rings: one owner, one other side") {
  const Component owner = Component("gemm").role("mma", 4).ring(kOut, "operands", kConsumer);
  const Component loader = Component("loader").role("load", 1).ring(kIn, "operands", kProducer);
  CHECK(picture(compose({{owner, ""}, {loader, ""}})) ==
        R"(loader.operands -> gemm.operands
)");
  CHECK(messages(compose({{owner, ""}})) ==
        R"(error[L-UNBOUND]: the ring `gemm.operands` has no other side
  gemm: exports ring `operands` as consumer, stage_bytes 1024 (gemm.cu:2)
  = reason: 1 side of 2: the ring's barriers never complete, and its owner hangs
  = help: add a component that imports ring `operands` as its other side
)");
  CHECK(messages(compose({{loader, ""}})) ==
        R"(error[L-UNBOUND]: nobody exports what the ring `loader.operands` needs
  loader: imports ring `operands` as producer, stage_bytes 1024 (loader.cu:2)
  = reason: 0 exports of this kind in the composition
  = help: add a component that exports ring `operands`
)");
  CHECK(messages(compose({{owner, ""}, {loader, "l0"}, {loader, "l1"}})) ==
        R"(error[L-RING]: the ring `gemm.operands` has 2 other sides
  gemm: exports ring `operands` as consumer, stage_bytes 1024 (gemm.cu:2)
  l0: imports ring `operands` as producer, stage_bytes 1024 (loader.cu:2)
  l1: imports ring `operands` as producer, stage_bytes 1024 (loader.cu:2)
  = reason: 2 instances would arrive on barriers that count one; a ring has one producer and one consumer
  = help: keep one of these importers, and give each other one a ring of its own
)");
  CHECK(messages(compose({{owner, "g0"}, {owner, "g1"}, {loader, ""}})) ==
        R"(error[L-AMBIGUOUS]: the ring `loader.operands` could be bound to 2 exports
  loader: imports ring `operands` as producer, stage_bytes 1024 (loader.cu:2)
  g0: exports ring `operands` as consumer, stage_bytes 1024; fits (gemm.cu:2)
  g1: exports ring `operands` as consumer, stage_bytes 1024; fits (gemm.cu:2)
  = reason: 2 exports of other instances have this name
  = help: leave `g0` out or leave `g1` out
)");
}

TEST_CASE("a ring that is taken is no candidate") {
  const Component owner =
      Component("gemm").role("mma", 4).ring(kOut, "operands", kConsumer).ring(kOut, "scales", kConsumer);
  const Component loader =
      Component("loader").role("load", 1).ring(kIn, "operands", kProducer).ring(kIn, "factors", kProducer);
  CHECK(picture(compose({{owner, ""}, {loader, ""}})) ==
        R"(loader.operands -> gemm.operands
loader.factors -> gemm.scales
)");
  const Component spare = Component("spare").role("load", 1).ring(kIn, "spare", kProducer);
  CHECK(messages(compose({{owner, ""}, {loader, ""}, {spare, ""}})) ==
        R"(error[L-RING]: the ring `gemm.scales` has 2 other sides
  gemm: exports ring `scales` as consumer, stage_bytes 1024 (gemm.cu:3)
  loader: imports ring `factors` as producer, stage_bytes 1024 (loader.cu:3)
  spare: imports ring `spare` as producer, stage_bytes 1024 (spare.cu:2)
  = reason: 2 instances would arrive on barriers that count one; a ring has one producer and one consumer
  = help: keep one of these importers, and give each other one a ring of its own
)");
}

TEST_CASE("a ring without its other side lists who is bound elsewhere") {
  const Component owner =
      Component("gemm").role("mma", 4).ring(kOut, "a", kConsumer).ring(kOut, "b", kConsumer);
  const Component loader = Component("loader").role("load", 1).ring(kIn, "a", kProducer);
  CHECK(messages(compose({{owner, ""}, {loader, ""}})) ==
        R"(error[L-UNBOUND]: the ring `gemm.b` has no other side
  gemm: exports ring `b` as consumer, stage_bytes 1024 (gemm.cu:3)
  loader: imports ring `a` as producer, stage_bytes 1024; rejected: it is bound to gemm.a (loader.cu:2)
  = reason: 1 side of 2: the ring's barriers never complete, and its owner hangs
  = help: add a component that imports ring `b` as its other side
)");
}

TEST_CASE("tensors follow the callable, both ways") {
  const Component producer =
      gemm().tensor(kOut, "acc", "epilogue", 1).tensor(kIn, "activated", "epilogue", 1);
  const Component consumer = swiglu("apply").tensor(kIn, "in", "apply", 1).tensor(kOut, "out", "apply", 1);
  CHECK(picture(compose({{producer, ""}, {consumer, ""}})) ==
        R"(gemm.epilogue -> swiglu.apply
gemm.activated -> swiglu.out
swiglu.in -> gemm.acc
)");
  CHECK(picture(compose({{producer, "g0"}, {producer, "g1"}, {consumer, ""}})) ==
        R"(g0.epilogue -> swiglu.apply
g1.epilogue -> swiglu.apply
g0.activated -> swiglu.out
g1.activated -> swiglu.out
swiglu.in -> g0.acc
swiglu.in -> g1.acc
)");
}

TEST_CASE("L-UNBOUND: a tensor that nobody gives") {
  const Component producer = gemm().tensor(kOut, "acc", "epilogue", 0);
  const Component consumer = swiglu().tensor(kIn, "in", "epilogue", 1);
  CHECK(messages(compose({{producer, ""}, {consumer, ""}})) ==
        R"(error[L-UNBOUND]: nobody exports what the tensor `swiglu.in` needs
  swiglu: imports tensor `in`, f32 64x2 in registers of a warpgroup, on parameter 1 of `epilogue` (swiglu.cu:2)
  gemm: imports callable `epilogue`, to which `swiglu.epilogue` is bound (gemm.cu:1)
  gemm: exports tensor `acc`, f32 64x2 in registers of a warpgroup, on parameter 0 of `epilogue`; rejected: it is on another parameter (gemm.cu:2)
  = reason: 0 tensors that gemm exports on parameter 1 of `epilogue`
  = help: declare in gemm the tensor that it gives on this parameter, with its layout
)");
  const Component loose = swiglu().tensor(kIn, "in", "");
  CHECK(messages(compose({{gemm(), ""}, {loose, ""}})) ==
        R"(error[L-UNBOUND]: no callable carries the tensor `swiglu.in`
  swiglu: imports tensor `in`, f32 64x2 in registers of a warpgroup (swiglu.cu:2)
  = reason: a tensor is bound along the callable that carries it, and this one names none
  = help: name the callable and its parameter where `in` is declared
)");
}

TEST_CASE("L-AMBIGUOUS: two tensors on one parameter") {
  const Component producer = gemm().tensor(kOut, "x", "epilogue", 1).tensor(kOut, "y", "epilogue", 1);
  CHECK(messages(compose({{producer, ""}, {swiglu().tensor(kIn, "in", "epilogue", 1), ""}})) ==
        R"(error[L-AMBIGUOUS]: the tensor `swiglu.in` could be bound to 2 exports
  swiglu: imports tensor `in`, f32 64x2 in registers of a warpgroup, on parameter 1 of `epilogue` (swiglu.cu:2)
  gemm: exports tensor `x`, f32 64x2 in registers of a warpgroup, on parameter 1 of `epilogue` (gemm.cu:2)
  gemm: exports tensor `y`, f32 64x2 in registers of a warpgroup, on parameter 1 of `epilogue` (gemm.cu:3)
  = reason: 2 tensors travel on one parameter, and not just one of them has the import's name
  = help: give the tensor that is meant the name `in`
)");
  CHECK(picture(compose({{producer, ""}, {swiglu().tensor(kIn, "y", "epilogue", 1), ""}})) ==
        R"(gemm.epilogue -> swiglu.epilogue
swiglu.y -> gemm.y
)");
}

TEST_CASE("a tensor tells candidates apart") {
  const Component producer = gemm().tensor(kOut, "acc", "epilogue", 1, "f32");
  const Component other = Component("other")
                              .callable(kOut, "apply", {"int", "float (&)[4]"})
                              .tensor(kIn, "in", "apply", 1, "bf16");
  CHECK(picture(compose({{producer, ""}, {swiglu("run").tensor(kIn, "in", "run", 1), ""}, {other, ""}})) ==
        R"(gemm.epilogue -> swiglu.run
swiglu.in -> gemm.acc
dropped other.apply
)");
  CHECK(messages(compose({{producer, ""}, {other, ""}})) ==
        R"(error[L-UNBOUND]: nobody exports what the callable `gemm.epilogue` needs
  gemm: imports callable `epilogue` as `void(int, float (&)[4])` (gemm.cu:1)
  other: exports callable `apply` as `void(int, float (&)[4])`; rejected: of tensor `in` the element is bf16 in other and f32 in gemm (other.cu:1)
  = reason: 1 export of this kind in the composition, none fits
  = help: add a component that exports callable `epilogue`
)");
}

TEST_CASE("L-ISOLATED: a note beside roles, a warning without") {
  const Component a = Component("a").role("main", 4);
  const Component b = Component("b").callable(kOut, "f");
  CHECK(std::string(messages(compose({{a, ""}}))).empty());
  CHECK(messages(compose({{a, ""}, {b, ""}})) ==
        R"(note[L-ISOLATED]: `a` is bound to no other component
  a: has 1 role, 0 callables, 0 rings (a.cu:1)
  = reason: 0 callables, rings and facts join it to others; its roles run beside theirs

warning[L-ISOLATED]: `b` is bound to no other component
  b: has 0 roles, 1 callable, 0 rings (b.cu:1)
  = reason: 0 callables, rings and facts join it to others, and without a role nothing runs its code
  = help: remove it from the composition
)");
}

}  // namespace pipelink::test
