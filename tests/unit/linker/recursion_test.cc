// Calls that lead back to where they began.
#include <doctest/doctest.h>

#include "builders.h"

namespace pipelink::test {
namespace {

Component caller() {
  return Component("caller").role("run", 4).callable(kIn, "take", {"int"});
}
/// Its export `take` calls its import `put`; `leaf` calls nothing.
Component forward() {
  return Component("fwd")
      .callable(kOut, "take", {"int"})
      .callable(kIn, "put", {"int"})
      .change([](Contract& c) { c.callables[0].calls = {"put"}; });
}
Component forward_and_leaf() {
  return forward().callable(kOut, "leaf", {"int"});
}

}  // namespace

TEST_CASE("L-RECURSION: two instances call each other") {
  const Links links{{{"caller.take", "f1.take"}, {"f1.put", "f2.take"}, {"f2.put", "f1.take"}}, {}};
  CHECK(messages(compose({{caller(), ""}, {forward(), "f1"}, {forward(), "f2"}}, links)) ==
        R"(error[L-RECURSION]: the calls of `f1.take` lead back to it
  f1: exports callable `take`, which calls `put` (fwd.cu:1)
  f1: imports callable `put`; bound to `f2.take` (fwd.cu:2)
  f2: exports callable `take`, which calls `put` (fwd.cu:1)
  f2: imports callable `put`; bound to `f1.take` (fwd.cu:2)
  = reason: f1.take -> f1.put -> f2.take -> f2.put -> f1.take: 2 calls in a circle; none returns, and the toolchain would drop them and what comes after
  = help: bind one of these imports to an export that does not lead back
)");
}

TEST_CASE("L-RECURSION: an export calls itself; the way out was tried") {
  const Links links{{{"caller.take", "fwd.take"}, {"fwd.put", "fwd.take"}}, {}};
  CHECK(messages(compose({{caller(), ""}, {forward_and_leaf(), ""}}, links)) ==
        R"(error[L-RECURSION]: the calls of `fwd.take` lead back to it
  fwd: exports callable `take`, which calls `put` (fwd.cu:1)
  fwd: imports callable `put`; bound to `fwd.take` (fwd.cu:2)
  = reason: fwd.take -> fwd.put -> fwd.take: 1 call in a circle; none returns, and the toolchain would drop it and what comes after
  = help: BIND fwd.put=fwd.leaf
)");
}

TEST_CASE("L-RECURSION: one of several exports leads back") {
  const Component leaf = Component("leaf").callable(kOut, "leaf", {"int"});
  const Links links{{{"caller.take", "fwd.take"}, {"fwd.put", "leaf.leaf"}, {"fwd.put", "fwd.take"}}, {}};
  const std::string found = messages(compose({{caller(), ""}, {forward(), ""}, {leaf, ""}}, links));
  CHECK(found.find("  = help: remove BIND fwd.put=fwd.take\n") != std::string::npos);
}

TEST_CASE("L-UNBOUND: no help that leads into a circle") {
  const std::string found =
      messages(compose({{caller(), ""}, {forward(), ""}}, {{{"caller.take", "fwd.take"}}, {}}));
  CHECK(found.find("error[L-UNBOUND]: nobody exports what the callable `fwd.put` needs") !=
        std::string::npos);
  CHECK(found.find("  = help: add a component that exports callable `put`\n") != std::string::npos);
  // Also beside another error, which the help leaves.
  const Component lost = Component("lost").role("run", 4).callable(kIn, "nothing", {"double"});
  CHECK(messages(compose({{caller(), ""}, {forward(), ""}, {lost, ""}}, {{{"caller.take", "fwd.take"}}, {}}))
            .find("BIND fwd.put") == std::string::npos);
}

TEST_CASE("calls between two components both ways are no circle by themselves") {
  const Links links{{{"caller.take", "f1.take"}, {"f1.put", "f2.take"}, {"f2.put", "f1.leaf"}}, {}};
  CHECK(messages(compose({{caller(), ""}, {forward_and_leaf(), "f1"}, {forward_and_leaf(), "f2"}}, links)) ==
        "");
  // A package that was packed before contracts told calls.
  const Component old = forward().change([](Contract& c) { c.callables[0].calls.clear(); });
  const Links circle{{{"caller.take", "fwd.take"}, {"fwd.put", "fwd.take"}}, {}};
  CHECK(messages(compose({{caller(), ""}, {old, ""}}, circle)) == "");
}

}  // namespace pipelink::test
