// Imports of two roles: one gives a tile, the other takes it.
#include <doctest/doctest.h>

#include "builders.h"
#include "linker/protocol/order.h"

namespace pipelink::test {
namespace {

Component giver(const std::string& name = "give", const std::string& tensor = "tile") {
  return Component(name)
      .role("hold", 4)
      .callable(kIn, "put", {"const float (&)[4]"})
      .tensor(kOut, tensor, "put");
}
Component taker(const std::string& name = "take", const std::string& tensor = "tile") {
  return Component(name).role("use", 4).callable(kIn, "get", {"float (&)[4]"}).tensor(kIn, tensor, "get");
}

std::string said(const std::vector<Use>& uses,
                 const std::vector<std::pair<std::string, std::string>>& entries = {}) {
  return messages(compose(uses, {entries, {}}));
}

bool says(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a tile between roles is bound by the tensors' name, by fit, or by BIND of callables or tensors") {
  const std::string expected = "take.get -> give.put\ntake.tile -> give.tile\n";
  CHECK(picture(compose({{giver(), ""}, {taker(), ""}})) == expected);
  CHECK(said({{giver(), ""}, {taker(), ""}}).empty());
  CHECK(picture(compose({{giver(), ""}, {taker("take", "rows"), ""}})) ==
        "take.get -> give.put\ntake.rows -> give.tile\n");
  for (const auto& entry : {std::pair<std::string, std::string>{"give.put", "take.get"},
                            {"take.get", "give.put"},
                            {"give.tile", "take.tile"},
                            {"take.get", "give.tile"}}) {
    CHECK(picture(compose({{giver(), ""}, {taker(), ""}}, {{entry}, {}})) == expected);
  }
  // Of two of one kind each gets its own.
  CHECK(picture(compose(
            {{giver("a", "x"), ""}, {giver("b", "y"), ""}, {taker("c", "y"), ""}, {taker("d", "x"), ""}})) ==
        "c.get -> b.put\nd.get -> a.put\nc.y -> b.y\nd.x -> a.x\n");
}

TEST_CASE(
    "an export of the callable's name comes before another role, one that fits after tensors of one name") {
  const auto exports = [](const std::string& name) {
    return Component("called").callable(kOut, name, {"const float (&)[4]"}).tensor(kIn, "tile", name);
  };
  CHECK(says(said({{giver(), ""}, {taker(), ""}, {exports("put"), ""}}),
             "error[L-UNBOUND]: nobody exports what the callable `take.get` needs"));
  const std::string handed = "take.get -> give.put\ntake.tile -> give.tile\n";
  CHECK(picture(compose({{giver(), ""}, {taker(), ""}, {exports("put"), ""}},
                        {{{"give.put", "take.get"}}, {}})) == handed + "dropped called.put\n");
  CHECK(picture(compose({{giver(), ""}, {taker(), ""}, {exports("show"), ""}})) ==
        handed + "dropped called.show\n");
  CHECK(says(said({{giver(), ""}, {taker("take", "rows"), ""}, {exports("show"), ""}}),
             "error[L-UNBOUND]: nobody exports what the callable `take.get` needs"));
}

TEST_CASE("L-UNBOUND: no other side, with those that were near") {
  CHECK(said({{giver(), ""}, {Component("other").role("r", 4), ""}}) ==
        R"(error[L-UNBOUND]: nobody exports what the callable `give.put` needs
  give: imports callable `put` as `void(const float (&)[4])` (give.cu:2)
  = reason: 0 exports of this kind in the composition
  = help: add a component that exports callable `put`
)");
  const Component halves = taker().change([](Contract& c) { c.tensors[0].element = "f16"; });
  CHECK(said({{giver("give", "other"), ""}, {halves, ""}}) ==
        R"(error[L-UNBOUND]: nobody exports what the callable `give.put` needs
  give: imports callable `put` as `void(const float (&)[4])` (give.cu:2)
  take: imports callable `get` as `void(float (&)[4])`, which takes the tile `tile`; rejected: the element is f16 in take and f32 in give (take.cu:2)
  = reason: 0 exports of this kind in the composition; 1 import of other roles that takes a tile, and it does not fit
  = help: add a component that exports callable `put`

error[L-UNBOUND]: nobody exports what the callable `take.get` needs
  take: imports callable `get` as `void(float (&)[4])` (take.cu:2)
  give: imports callable `put` as `void(const float (&)[4])`, which gives the tile `other`; rejected: the element is f16 in take and f32 in give (give.cu:2)
  = reason: 0 exports of this kind in the composition; 1 import of other roles that gives a tile, and it does not fit
  = help: add a component that exports callable `get`
)");
  CHECK(says(said({{giver("a", "x"), ""}, {taker("b", "x"), ""}, {giver("c", "y"), ""}}),
             "which takes the tile `x`; rejected: its other side is a.put"));
}

TEST_CASE("L-UNBOUND: a giver that an export serves is named") {
  const Component called =
      Component("called").callable(kOut, "put", {"const float (&)[4]"}).tensor(kIn, "tile", "put");
  CHECK(said({{giver(), ""}, {taker(), ""}, {called, ""}}) ==
        R"(error[L-UNBOUND]: nobody exports what the callable `take.get` needs
  take: imports callable `get` as `void(float (&)[4])` (take.cu:2)
  called: exports callable `put` as `void(const float (&)[4])`; rejected: parameter 0 is `float (&)[4]` in take and `const float (&)[4]` in called, which differ in const, volatile or reference only (called.cu:1)
  give: imports callable `put` as `void(const float (&)[4])`, which gives the tile `tile`; rejected: it is bound to called.put (give.cu:2)
  = reason: 1 export of this kind in the composition, none fits; 1 import of other roles that gives a tile, and it has another side
  = help: add a component that exports callable `get`
)");
}

TEST_CASE("L-BIND alone: what a wrong BIND leaves without another side is not told again") {
  const auto count = [](const std::string& text) {
    INFO(text);
    CHECK(text.find("L-UNBOUND") == std::string::npos);
    CHECK(text.find("L-AMBIGUOUS") == std::string::npos);
    std::size_t n = 0;
    for (std::size_t at = text.find("error["); at != std::string::npos; at = text.find("error[", at + 1)) ++n;
    return n;
  };
  const std::vector<Use> pair{{giver(), ""}, {taker(), ""}};
  CHECK(count(said(pair, {{"take.get", "take.get"}})) == 1);
  CHECK(count(said(pair, {{"take.get", "take.tile"}})) == 1);
  CHECK(count(said(pair, {{"give.put", "give.tile"}})) == 1);
  CHECK(count(said(pair, {{"give.put", "wrong.get"}})) == 1);
  CHECK(count(said(pair, {{"nothing.like", "these.are"}})) == 2);
  CHECK(count(said(pair, {{"give.nothing", "take.these"}})) == 2);
  CHECK(count(said({{giver(), ""}, {taker("a"), ""}, {taker("b"), ""}}, {{"a.get", "b.get"}})) == 1);
  const Component load = Component("load").role("r", 4).ring(kOut, "ring", kProducer);
  const Component use = Component("use").role("r", 4).ring(kIn, "ring", kConsumer);
  CHECK(count(said({{load, ""}, {use, ""}}, {{"use.ring", "nobody.has"}})) == 1);
  CHECK(count(said({{load, ""}, {use, "a"}, {use, "b"}}, {{"a.ring", "b.ring"}})) == 1);
}

TEST_CASE("L-AMBIGUOUS: two other sides, each of which would do") {
  CHECK(said({{giver(), ""}, {taker("a"), ""}, {taker("b"), ""}}) ==
        R"(error[L-AMBIGUOUS]: the callable `give.put` could hand its tile to 2 imports
  give: imports callable `put` as `void(const float (&)[4])` (give.cu:2)
  a: imports callable `get` as `void(float (&)[4])`, which takes the tile `tile`; fits (a.cu:2)
  b: imports callable `get` as `void(float (&)[4])`, which takes the tile `tile`; fits (b.cu:2)
  = reason: 2 imports of other instances carry a tensor of this name
  = help: leave `a` out or leave `b` out
)");
  CHECK(says(said({{giver("a", "x"), ""}, {giver("b", "y"), ""}, {taker(), ""}}),
             "the callable `take.get` could take its tile from 2 imports"));
}

TEST_CASE("L-BIND: a second other side") {
  CHECK(said({{giver(), ""}, {taker("a"), ""}, {taker("b"), ""}},
             {{"give.put", "a.get"}, {"b.get", "give.put"}}) ==
        R"(error[L-BIND]: `give.put` is bound twice
  composition: BIND give.put=a.get (fused.json:9)
  composition: BIND b.get=give.put (fused.json:9)
  = reason: a tile goes from one role to one other; here the import is given 2 other sides
  = help: remove all but one of them
)");
  const Component called =
      Component("called").callable(kOut, "show", {"const float (&)[4]"}).tensor(kIn, "tile", "show");
  CHECK(says(said({{giver(), ""}, {taker(), ""}, {called, ""}},
                  {{"give.put", "take.get"}, {"give.put", "called.show"}}),
             "= reason: its tile is handed to another role; no export is called"));
  CHECK(says(said({{giver(), ""}, {giver("more"), ""}}, {{"give.put", "more.put"}}),
             "a BIND joins two imports"));
}

TEST_CASE("L-SIGNATURE, L-LAYOUT: the two sides do not fit") {
  const Component counted = Component("give")
                                .role("hold", 4)
                                .callable(kIn, "put", {"const float (&)[4]", "int"})
                                .tensor(kOut, "tile", "put");
  CHECK(said({{counted, ""}, {taker(), ""}}) ==
        R"(error[L-SIGNATURE]: the callable `take.get` cannot take what `give.put` of another role gives
  give: imports `put` as `void(const float (&)[4], int)` (give.cu:2)
  take: imports `get` as `void(float (&)[4])` (take.cu:2)
  = reason: `put` of give has 2 parameters; between roles only the tile travels
  = help: give by void(const T (&)[N]) and take by void(T (&)[M]), the tile alone
)");
  const Component reads = Component("take")
                              .role("use", 4)
                              .callable(kIn, "get", {"const float (&)[4]"})
                              .tensor(kIn, "tile", "get");
  CHECK(says(said({{giver(), ""}, {reads, ""}}),
             "takes the tile as `const float (&)[4]`, which cannot be filled"));
  const Component of_int =
      Component("take").role("use", 4).callable(kIn, "get", {"int (&)[4]"}).tensor(kIn, "tile", "get");
  CHECK(says(said({{giver(), ""}, {of_int, ""}}), "elements are `float` in give and `int` in take"));
  const Component halves = taker().change([](Contract& c) { c.tensors[0].element = "f16"; });
  CHECK(says(said({{giver(), ""}, {halves, ""}}),
             "error[L-LAYOUT]: the tensor `take.tile` is not what `give.tile`"));
}

TEST_CASE("L-RATE, L-DEADLOCK: put and get are not called equally often") {
  const auto text = [](const std::string& gives, const std::string& takes, const std::string& once = {}) {
    return said({{giver().steps("hold", gives, once), ""}, {taker().steps("use", takes), ""}});
  };
  CHECK(text("call put", "call get").empty());
  CHECK(text("call put x 2", "call get").empty());  // two iterations of the one for each of the other
  CHECK(text("call put", "") ==
        R"(error[L-DEADLOCK]: nobody arrives at the empty staging of `take.get`, where `give.hold` waits
  give: `call put` of give.hold waits (give.cu:4)
  take: declares `get` (take.cu:2)
  = reason: the steps of 0 roles and exports arrive there
  = help: add the step that arrives to the role that does it, or drop the wait
)");
  CHECK(says(
      text("", "call get", "call put"),
      "error[L-DEADLOCK]: `take.use` waits at the full staging of `take.get` more often than `give.hold`"));
  // Another protocol says how often they are done.
  const auto paired = [](const std::string& gives, const std::string& takes) {
    return said({{giver().ring(kOut, "go", kProducer).steps("hold", gives), ""},
                 {taker().ring(kIn, "go", kConsumer).steps("use", takes), ""}});
  };
  CHECK(paired("acquire go; arrive go; call put", "wait go; release go; call get").empty());
  const std::string uneven = paired("acquire go; arrive go; call put x 2", "wait go; release go; call get");
  CHECK(says(uneven, "error[L-RATE]: "));
  CHECK(says(uneven, "`call put` of give.hold: 2 times in an iteration"));
  // Each waits for the other's: two tiles are given before the ring's stage, and the first is taken after it.
  CHECK(
      says(paired("call put x 2; acquire go; arrive go", "wait go; call get x 2; release go"),
           "error[L-DEADLOCK]: `give.hold` and `take.use` wait for each other at `take.get` and `give.go`"));
}

TEST_CASE("who states no steps is not checked") {
  const Composition c = compose({{giver().steps("hold", "call put"), ""}, {taker(), ""}});
  const Outcome<Bindings> b = bind(c);
  REQUIRE(b);
  const ProtocolOrder order = protocol_order(c, *b, {});
  REQUIRE(order.unchecked.size() == 1);
  CHECK(order.unchecked[0].name + ": " + order.unchecked[0].why == "take.get: take states no steps");
}

}  // namespace pipelink::test
