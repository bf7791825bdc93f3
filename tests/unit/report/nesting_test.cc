// Phases of callables lie in their callers' phases, whatever the components are called.
#include <doctest/doctest.h>

#include <algorithm>

#include "linker/place/canonical.h"
#include "linker/place/relation.h"
#include "sample.h"

using namespace pipelink;
using namespace pipelink::test;

namespace {

/// A caller with two phases, one after the other, and a callee in each. Names decide in what order the linker
/// comes to them.
Composition two_callees(const std::string& early, const std::string& late) {
  const auto callee = [](const std::string& name, const std::string& function, void (*edit)(Contract&)) {
    return Component(name).callable(kOut, function).change(edit);
  };
  const auto body = [](Contract& c) {
    c.phases = {{"body", {}, {}, {}}};
    c.callables[0].phases = {"body"};
  };
  return compose({{Component("main")
                       .role("run", 4)
                       .callable(kIn, "first")
                       .callable(kIn, "second")
                       .change([](Contract& c) {
                         c.phases = {{"one", {}, {}, {"two"}}, {"two", {}, {"one"}, {}}};
                         c.callables[0].phases = {"one"};
                         c.callables[1].phases = {"two"};
                       }),
                   ""},
                  {callee(early, "first", body), ""},
                  {callee(late, "second", body), ""}});
}

bool may_share(const place::Problem& problem, const std::string& a, const std::string& b) {
  const place::Lifetimes lifetimes(place::canonical(problem));
  place::Claim x, y;
  x.live = {a};
  y.live = {b};
  return lifetimes.may_share(lifetimes.phases(x), lifetimes.phases(y));
}

}  // namespace

TEST_CASE("callees in two ordered phases are ordered, in both orders of their names") {
  CHECK(may_share(problem_of(two_callees("a", "b")), "a.body", "b.body"));
  CHECK(may_share(problem_of(two_callees("b", "a")), "b.body", "a.body"));
}

TEST_CASE("a callee's phase does not share with the phase that it is called in") {
  const place::Problem problem = problem_of(two_callees("a", "b"));
  CHECK_FALSE(may_share(problem, "a.body", "main.one"));
  CHECK(may_share(problem, "a.body", "main.two"));
}
