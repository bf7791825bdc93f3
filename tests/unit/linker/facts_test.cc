// Facts: owners, values that are set, expressions.
#include <doctest/doctest.h>

#include "builders.h"
#include "packager/base/render.h"

namespace pipelink::test {
namespace {

Component gemm() {
  return Component("gemm").role("mma", 4).settable("tile_m", 64, {64, 128, 256});
}
Component reader() {
  return Component("reader").role("r", 4).reads("tile_m");
}

std::string said(const std::vector<Use>& uses, const std::map<std::string, std::string>& set) {
  return messages(compose(uses, {{}, set}));
}

}  // namespace

TEST_CASE("a fact has one owner, or a default") {
  CHECK(picture(compose({{gemm(), ""}, {reader(), ""}}, {{}, {{"gemm.tile_m", "128"}}})) ==
        R"(gemm.tile_m = 128
reader.tile_m = 128
)");
  CHECK(picture(compose({{Component("alone").role("r", 4).reads("tile_m", number(32)), ""}})) ==
        R"(alone.tile_m = 32
)");
}

TEST_CASE("a text is one that its reader has code for") {
  const Component fixed = Component("gemm").role("mma", 4).text("element", "bf16");
  const Component free = Component("gemm").role("mma", 4).texts("element", {"bf16", "f16", "f32"});
  const Component narrow = Component("store").role("r", 4).reads_text("element", {"f32", "f16"});
  const Component wide = Component("store").role("r", 4).reads_text("element", {"f32", "bf16"});
  CHECK(picture(compose({{fixed, ""}, {wide, ""}})) == "gemm.element = bf16\nstore.element = bf16\n");
  CHECK(picture(compose({{free, ""}, {narrow, ""}}, {{}, {{"gemm.element", "f16"}}})) ==
        "gemm.element = f16\nstore.element = f16\n");
  CHECK(said({{fixed, ""}, {narrow, ""}}, {}) ==
        R"(error[L-FACT-DOMAIN]: the fact `gemm.element` is a text that its reader does not take
  gemm: states `element` as `bf16` (gemm.cu:2)
  store: has code for f32, f16 (store.cu:2)
  = reason: `bf16` is none of the 2 that store lists
  = help: use a component that takes it, or another owner of `element`
)");
  CHECK(said({{free, ""}, {narrow, ""}}, {}).find("= help: SET gemm.element=f16\n") != std::string::npos);
  const std::string outside = said({{free, ""}, {wide, ""}}, {{"gemm.element", "f64"}});
  CHECK(outside.find("error[L-FACT-DOMAIN]: the value set for `gemm.element` is outside its domain") == 0);
  CHECK(outside.find("f64 is none of the 3 values of the domain") != std::string::npos);
  CHECK(said({{fixed, ""}, {wide, ""}}, {{"gemm.element", "f32"}}).find("error[L-FACT-FIXED]") == 0);
  CHECK(said({{fixed, ""}, {Component("reader").role("r", 4).reads("element"), ""}}, {})
            .find("error[L-FACT-TYPE]") != std::string::npos);
}

TEST_CASE("the owner to which the reader is bound") {
  const Component owner = Component("gemm").role("mma", 4).fact("tile_m", number(64)).callable(kIn, "f");
  const Component other = Component("other").role("mma", 4).fact("tile_m", number(96)).callable(kIn, "g");
  const Component near = Component("near").reads("tile_m").callable(kOut, "f").callable(kIn, "h");
  const Component far = Component("far").reads("tile_m").callable(kOut, "h");
  const Component else_ = Component("other_side").callable(kOut, "g");
  CHECK(picture(compose({{owner, ""}, {other, ""}, {near, ""}, {far, ""}, {else_, ""}})) ==
        R"(gemm.f -> near.f
near.h -> far.h
other.g -> other_side.g
far.tile_m = 64
gemm.tile_m = 64
near.tile_m = 64
other.tile_m = 96
)");
}

TEST_CASE("L-FACT-OWNERS, and the BIND that settles it") {
  const std::vector<Use> uses = {{gemm(), "g0"}, {gemm(), "g1"}, {reader(), ""}};
  CHECK(messages(compose(uses)) ==
        R"(error[L-FACT-OWNERS]: the fact `reader.tile_m` has 2 owners
  reader: reads fact `tile_m` as `int` (reader.cu:2)
  g0: owns fact `tile_m`, `int`; not bound to the reader (gemm.cu:2)
  g1: owns fact `tile_m`, `int`; not bound to the reader (gemm.cu:2)
  = reason: reader is bound to 0 of the 2 owners, and only 1 would settle which is meant
  = help: BIND reader.tile_m=g0.tile_m or BIND reader.tile_m=g1.tile_m
)");
  CHECK(picture(compose(uses, {{{"reader.tile_m", "g1.tile_m"}}, {{"g1.tile_m", "256"}}})) ==
        R"(g0.tile_m = 64
g1.tile_m = 256
reader.tile_m = 256
)");
  const Component called = reader().callable(kOut, "f");
  const Component caller = gemm().callable(kIn, "f");
  CHECK(messages(compose({{caller, "g0"}, {caller, "g1"}, {called, ""}})) ==
        R"(error[L-FACT-OWNERS]: the fact `reader.tile_m` has 2 owners
  reader: reads fact `tile_m` as `int` (reader.cu:2)
  g0: owns fact `tile_m`, `int`; bound to the reader (gemm.cu:2)
  g1: owns fact `tile_m`, `int`; bound to the reader (gemm.cu:2)
  = reason: reader is bound to 2 of the 2 owners, and only 1 would settle which is meant
  = help: BIND reader.tile_m=g0.tile_m or BIND reader.tile_m=g1.tile_m
)");
}

TEST_CASE("L-FACT-MISSING") {
  CHECK(messages(compose({{reader(), ""}})) ==
        R"(error[L-FACT-MISSING]: the fact `reader.tile_m` has no owner and no default
  reader: reads fact `tile_m` as `int` (reader.cu:2)
  = reason: 0 components of the composition own a fact of this name
  = help: add the component that owns it, or state a default where reader reads it
)");
  CHECK(
      messages(compose({{reader(), ""}, {Component("gemm").role("mma", 4).fact("tile_n", number(8)), ""}})) ==
      R"(error[L-FACT-MISSING]: the fact `reader.tile_m` has no owner and no default
  reader: reads fact `tile_m` as `int` (reader.cu:2)
  gemm: owns fact `tile_n`, `int` (gemm.cu:2)
  = reason: 0 components of the composition own a fact of this name
  = help: BIND reader.tile_m=gemm.tile_n
)");
  const std::vector<Use> uses = {{reader(), ""},
                                 {Component("gemm").role("mma", 4).fact("tile_n", number(8)), ""}};
  CHECK(messages(compose(uses, {{{"reader.tile_m", "gemm.tile_n"}}, {}})).empty());
}

TEST_CASE("L-SET: unknown, or set at a reader") {
  CHECK(said({{gemm(), ""}, {reader(), ""}}, {{"gemm.tile_n", "1"}}) ==
        R"(error[L-SET]: a value is set for `gemm.tile_n`, which no instance has
  composition: SET gemm.tile_n=1 (fused.json:9)
  = reason: the settable facts are gemm.tile_m
  = help: SET gemm.tile_m=64
)");
  CHECK(said({{gemm(), ""}, {reader(), ""}}, {{"reader.tile_m", "128"}}) ==
        R"(error[L-SET]: a value is set for `reader.tile_m`, which is only read there
  composition: SET reader.tile_m=128 (fused.json:9)
  reader: reads fact `tile_m` (reader.cu:2)
  gemm: owns fact `tile_m` (gemm.cu:2)
  = reason: a fact is set at its owner, which is `gemm`
  = help: SET gemm.tile_m=128
)");
  CHECK(said({{reader().change([](Contract& c) { c.facts[0].value = number(1); }), ""}},
             {{"reader.tile_m", "128"}}) ==
        R"(error[L-SET]: a value is set for `reader.tile_m`, which is only read there
  composition: SET reader.tile_m=128 (fused.json:9)
  reader: reads fact `tile_m` (reader.cu:2)
  = reason: a fact is set at its owner, and here it has none
  = help: remove SET reader.tile_m
)");
}

TEST_CASE("L-FACT-FIXED, L-FACT-TYPE, L-FACT-DOMAIN for values that are set, all at once") {
  const Component fixed = Component("fixed").role("r", 4).fact("tile", number(3)).reads("tile_m");
  CHECK(said({{gemm(), ""}, {fixed, ""}}, {{"fixed.tile", "4"}, {"gemm.tile_m", "100"}}) ==
        R"(error[L-FACT-FIXED]: the fact `fixed.tile` is fixed
  composition: SET fixed.tile=4 (fused.json:9)
  fixed: states it as `3` (fixed.cu:2)
  = reason: the value is compiled into `fixed`
  = help: remove SET fixed.tile

error[L-FACT-DOMAIN]: the value set for `gemm.tile_m` is outside its domain
  composition: SET gemm.tile_m=100 (fused.json:9)
  gemm: lets it be one of 64, 128, 256 (gemm.cu:2)
  = reason: 100 is none of the 3 values of the domain
  = help: SET gemm.tile_m=128
)");
  CHECK(said({{gemm(), ""}, {fixed, ""}}, {{"gemm.tile_m", "wide"}}) ==
        R"(error[L-FACT-TYPE]: the value set for `gemm.tile_m` is of another type
  composition: SET gemm.tile_m=wide (fused.json:9)
  gemm: states it as `int` (gemm.cu:2)
  = reason: `wide` is not an integer
  = help: SET gemm.tile_m to one of 64, 128, 256
)");
  CHECK(said({{gemm(), ""}, {fixed, ""}}, {{"gemm.tile_m", "9223372036854775808"}})
            .find("  = reason: `9223372036854775808` does not fit 64 bits\n") != std::string::npos);
}

TEST_CASE("a real is set by an integer of any size, and rounded as every number") {
  for (const char* type : {"float", "double"}) {
    const Component owner = gemm().change([](Contract& c) {
      Fact& cap = c.facts.emplace_back();
      cap.name = "cap";
      cap.type = contract::FactType::kReal;
      cap.settable = true;
      cap.text_value = cap.least = "1";
      cap.most = "1e+21";
    });
    const Component typed =
        type == std::string("float")
            ? Component(owner).change([](Contract& c) { c.facts.back().cpp_type = "float"; })
            : Component(owner).change([](Contract& c) { c.facts.back().cpp_type = "double"; });
    for (const auto& [text, value] : {std::pair{"9223372036854775809", "9223372036854775808"},
                                      {"9223372036854775807", "9223372036854775808"},
                                      {"18446744073709551615", "18446744073709551616"}})
      CHECK(picture(compose({{typed, ""}}, {{}, {{"gemm.cap", text}}})) ==
            picture(compose({{typed, ""}}, {{}, {{"gemm.cap", value}}})));
  }
}

TEST_CASE("a real is judged as IEEE 754 rounds it") {
  const Component owner = gemm().change([](Contract& c) {
    Fact& cap = c.facts.emplace_back();
    cap.name = "cap";
    cap.type = contract::FactType::kReal;
    cap.cpp_type = "double";
    cap.settable = true;
    cap.text_value = "1";
    cap.least = "-1";
    cap.most = "1e+21";
    cap.where = {"gemm.cu", 9};
  });
  const Component narrow = Component(owner).change([](Contract& c) { c.facts.back().cpp_type = "float"; });
  const Component above = Component(owner).change([](Contract& c) { c.facts.back().least = "1"; });
  const auto set = [](const Component& component, const std::string& text) {
    return compose({{component, ""}}, {{}, {{"gemm.cap", text}}});
  };
  CHECK(messages(set(owner, "1e400")) ==
        R"(error[L-FACT-DOMAIN]: the value set for `gemm.cap` is outside its domain
  composition: SET gemm.cap=1e400 (fused.json:9)
  gemm: lets it be a number from -1 to 1e+21 (gemm.cu:9)
  = reason: 1e400 is no such number
  = help: SET gemm.cap=1e+21
)");
  CHECK(messages(set(owner, "-1e400")).find("  = help: SET gemm.cap=-1\n") != std::string::npos);
  const std::string digits = "1" + std::string(310, '0');
  CHECK(messages(set(owner, digits))
            .find("reason: 1" + std::string(159, '0') + "... (311 bytes) is no such number") !=
        std::string::npos);
  CHECK(messages(set(narrow, "1e39")).starts_with("error[L-FACT-DOMAIN]"));

  CHECK(picture(set(owner, "1e-400")) == picture(set(owner, "0")));
  CHECK(picture(set(owner, "-0")) == picture(set(owner, "-1e-400")));
  CHECK(picture(set(owner, "-0")) != picture(set(owner, "0")));
  CHECK(picture(set(narrow, "-0")) != picture(set(narrow, "0")));
  CHECK(messages(set(above, "1e-400")).find("reason: 0 is no such number") != std::string::npos);
  for (const char* none : {"inf", "-inf", "nan", "1e", "", "1e400x", "0x1p3", " 1"})
    CHECK(messages(set(owner, none))
              .starts_with("error[L-FACT-TYPE]: the value set for `gemm.cap` is of another type"));
}

TEST_CASE("L-FACT-TYPE: a reader of another type, and a value that does not fit") {
  const Component real = reader().change([](Contract& c) {
    c.facts[0].type = contract::FactType::kBoolean;
    c.facts[0].cpp_type = "bool";
  });
  CHECK(messages(compose({{gemm(), ""}, {real, ""}})) ==
        R"(error[L-FACT-TYPE]: the fact `gemm.tile_m` is read as another type
  gemm: owns fact `tile_m`, `int` (gemm.cu:2)
  reader: reads fact `tile_m` as `bool` (reader.cu:2)
  = reason: gemm states an integer and reader reads a boolean
  = help: read it as `int` in reader
)");
  const Component narrow = reader().change([](Contract& c) { c.facts[0].cpp_type = "unsigned char"; });
  CHECK(messages(compose({{gemm(), ""}, {narrow, ""}})).empty());
  CHECK(said({{gemm(), ""}, {narrow, ""}}, {{"gemm.tile_m", "256"}}) ==
        R"(error[L-FACT-TYPE]: the value of `gemm.tile_m` does not fit the type that reads it
  gemm: states `tile_m` as 256 (gemm.cu:2)
  reader: reads it as `unsigned char` (reader.cu:2)
  = reason: 256 is outside 0 to 255
  = help: read it as a wider type in reader
)");
}

TEST_CASE("booleans and texts") {
  const Component flag = Component("flag")
                             .role("r", 4)
                             .settable("fast", 0, {0, 1})
                             .text("name", "plain")
                             .change([](Contract& c) {
                               c.facts[0].type = contract::FactType::kBoolean;
                               c.facts[0].cpp_type = "bool";
                             });
  CHECK(picture(compose({{flag, ""}}, {{}, {{"flag.fast", "true"}}})) ==
        R"(flag.fast = true
flag.name = plain
)");
  CHECK(said({{flag, ""}}, {{"flag.fast", "2"}}) ==
        R"(error[L-FACT-TYPE]: the value set for `flag.fast` is of another type
  composition: SET flag.fast=2 (fused.json:9)
  flag: states it as `bool` (flag.cu:2)
  = reason: `2` is not a boolean
  = help: SET flag.fast to one of false, true
)");
}

TEST_CASE("facts over facts, through two components") {
  const Component a =
      Component("a").role("r", 4).fact("x", number(3)).reads("y").fact("z", expression("x * y"));
  const Component b =
      Component("b").reads("x").fact("y", expression("x + 1")).reads("w", expression("y * 10"));
  CHECK(picture(compose({{a, ""}, {b, ""}})) ==
        R"(a.x = 3
a.y = 4
a.z = 12
b.x = 3
b.y = 4
b.w = 40
)");
}

TEST_CASE("L-FACT-CYCLE prints the cycle") {
  const Component a = Component("a").role("r", 4).reads("y").fact("x", expression("y + 1"));
  const Component b = Component("b").reads("x").fact("y", expression("x + 1")).fact("after", expression("y"));
  CHECK(messages(compose({{a, ""}, {b, ""}})) ==
        R"(error[L-FACT-CYCLE]: the fact `a.x` depends on itself
  a: states `x` as `y + 1` (a.cu:3)
  b: states `y` as `x + 1` (b.cu:2)
  = reason: a.x -> b.y -> a.x
  = help: state one of them as a number
)");
  const Component self = Component("self").role("r", 4).fact("x", expression("x"));
  CHECK(messages(compose({{self, ""}})) ==
        R"(error[L-FACT-CYCLE]: the fact `self.x` depends on itself
  self: states `x` as `x` (self.cu:2)
  = reason: self.x -> self.x
  = help: state one of them as a number
)");
}

TEST_CASE("P-EXPRESSION: a value that cannot be computed") {
  const Component a = Component("a").role("r", 4).fact("x", number(0)).fact("y", expression("4 / x"));
  CHECK(messages(compose({{a, ""}})) ==
        R"(error[P-EXPRESSION]: the fact `a.y` cannot be evaluated
  a: states `y` as `4 / x` (a.cu:3)
  = reason: division by zero with x = 0
  = help: correct the expression in a
)");
  const Component over = Component("a").role("r", 4).fact("x", expression("9223372036854775807 + 1"));
  CHECK(messages(compose({{over, ""}})) ==
        R"(error[P-EXPRESSION]: the fact `a.x` cannot be evaluated
  a: states `x` as `9223372036854775807 + 1` (a.cu:2)
  = reason: the value does not fit 64 bits
  = help: correct the expression in a
)");
}

TEST_CASE("a fact that reads the placement has its value after it") {
  const Component owner = Component("gemm")
                              .role("mma", 4)
                              .ring(kOut, "operands", kConsumer)
                              .fact("ahead", expression("operands.stages - 1"));
  const Component loader =
      Component("loader").role("load", 1).ring(kIn, "operands", kProducer).reads("ahead");
  const Composition c = compose({{owner, ""}, {loader, ""}});
  const Outcome<Bindings> b = bind(c);
  REQUIRE(b);
  CHECK(picture(c, *b) == "loader.operands -> gemm.operands\ngemm.ahead = ?\nloader.ahead = ?\n");
  CHECK(expression_scope(c, *b, 1, {}).empty());
  const RingStages stages = {{PortRef{0, 0}, 5}};
  CHECK(expression_scope(c, *b, 1, stages) ==
        std::map<std::string, std::int64_t>{{"ahead", 4}, {"operands.stages", 5}});
  const Outcome<Bindings> placed = with_placement(c, *b, stages);
  REQUIRE(placed);
  CHECK(placed->facts[0].integer == 4);
}

}  // namespace pipelink::test
