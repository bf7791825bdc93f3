// BIND: what it settles, and every way in which it can be wrong.
#include <doctest/doctest.h>

#include "builders.h"
#include "linker/check/check.h"

namespace pipelink::test {
namespace {

Component gemm() {
  return Component("gemm").role("mma", 4).callable(kIn, "epilogue", {"int"});
}
Component relu() {
  return Component("relu").callable(kOut, "apply", {"int"}).callable(kOut, "other", {"int"});
}

std::string said(const std::vector<Use>& uses,
                 const std::vector<std::pair<std::string, std::string>>& entries) {
  return messages(compose(uses, {entries, {}}));
}

}  // namespace

TEST_CASE("BIND settles an ambiguity, in either direction") {
  const std::string expected = "gemm.epilogue -> relu.other\ndropped relu.apply\n";
  CHECK(picture(compose({{gemm(), ""}, {relu(), ""}}, {{{"gemm.epilogue", "relu.other"}}, {}})) == expected);
  CHECK(picture(compose({{gemm(), ""}, {relu(), ""}}, {{{"relu.other", "gemm.epilogue"}}, {}})) == expected);
}

TEST_CASE("the lines that L-AMBIGUOUS offers work") {
  CHECK(said({{gemm(), ""}, {relu(), ""}}, {}) ==
        R"(error[L-AMBIGUOUS]: the callable `gemm.epilogue` could be bound to 2 exports
  gemm: imports callable `epilogue` as `void(int)` (gemm.cu:2)
  relu: exports callable `apply` as `void(int)`; fits (relu.cu:1)
  relu: exports callable `other` as `void(int)`; fits (relu.cu:2)
  = reason: no export of another instance has this name, and 2 fit
  = help: BIND gemm.epilogue=relu.apply or BIND gemm.epilogue=relu.other
)");
  CHECK(said({{gemm(), ""}, {relu(), ""}}, {{"gemm.epilogue", "relu.apply"}}).empty());
  CHECK(said({{gemm(), ""}, {relu(), ""}}, {{"gemm.epilogue", "relu.other"}}).empty());
}

TEST_CASE("a component's own export by BIND") {
  const Component own = gemm().callable(kOut, "identity", {"int"});
  CHECK(picture(compose({{own, ""}}, {{{"gemm.epilogue", "gemm.identity"}}, {}})) ==
        "gemm.epilogue -> gemm.identity\n");
}

TEST_CASE("BIND pairs the rings of two instances") {
  const Component owner = Component("gemm").role("mma", 4).ring(kOut, "operands", kConsumer);
  const Component loader = Component("loader").role("load", 1).ring(kIn, "operands", kProducer);
  CHECK(picture(compose({{owner, "g0"}, {owner, "g1"}, {loader, "l0"}, {loader, "l1"}},
                        {{{"l0.operands", "g1.operands"}}, {}})) ==
        R"(l0.operands -> g1.operands
l1.operands -> g0.operands
)");
}

TEST_CASE("L-BIND: names that do not exist, with those near") {
  CHECK(said({{gemm(), ""}, {relu(), ""}}, {{"gem.epilogue", "relu.apply"}}) ==
        R"(error[L-BIND]: a BIND names the instance `gem`, which does not exist
  composition: BIND gem.epilogue=relu.apply (fused.json:9)
  = reason: the instances are gemm, relu
  = help: BIND gemm.epilogue=relu.apply
)");
  CHECK(said({{gemm(), ""}, {relu(), ""}}, {{"gemm.epilog", "relu.apply"}}) ==
        R"(error[L-BIND]: a BIND names `gemm.epilog`, which does not exist
  composition: BIND gemm.epilog=relu.apply (fused.json:9)
  = reason: the ports and facts of gemm are epilogue
  = help: BIND gemm.epilogue=relu.apply
)");
  CHECK(said({{gemm(), ""}, {relu(), ""}}, {{"gemm.epilogue", "relu.x"}}) ==
        R"(error[L-BIND]: a BIND names `relu.x`, which does not exist
  composition: BIND gemm.epilogue=relu.x (fused.json:9)
  = reason: the ports and facts of relu are apply, other
  = help: name one of these, or remove the BIND
)");
}

TEST_CASE("L-BIND: directions and kinds") {
  CHECK(said({{gemm(), ""}, {relu(), ""}}, {{"relu.apply", "relu.other"}}) ==
        R"(error[L-BIND]: a BIND joins two exports
  composition: BIND relu.apply=relu.other (fused.json:9)
  relu: exports callable `apply` (relu.cu:1)
  relu: exports callable `other` (relu.cu:2)
  = reason: 0 imports and 2 exports; an import meets an export
  = help: name an imported callable: gemm.epilogue

error[L-AMBIGUOUS]: the callable `gemm.epilogue` could be bound to 2 exports
  gemm: imports callable `epilogue` as `void(int)` (gemm.cu:2)
  relu: exports callable `apply` as `void(int)`; fits (relu.cu:1)
  relu: exports callable `other` as `void(int)`; fits (relu.cu:2)
  = reason: no export of another instance has this name, and 2 fit
  = help: BIND gemm.epilogue=relu.apply or BIND gemm.epilogue=relu.other
)");
  CHECK(said({{gemm(), "g0"}, {gemm(), "g1"}, {relu(), ""}}, {{"g0.epilogue", "g1.epilogue"}}) ==
        R"(error[L-BIND]: a BIND joins two imports
  composition: BIND g0.epilogue=g1.epilogue (fused.json:9)
  g0: imports callable `epilogue` (gemm.cu:2)
  g1: imports callable `epilogue` (gemm.cu:2)
  = reason: 2 imports and 0 exports; an import meets an export
  = help: name an exported callable: relu.apply, relu.other
)");
  const Component ring = Component("ring").ring(kOut, "r", kConsumer);
  CHECK(said({{gemm(), ""}, {ring, ""}}, {{"gemm.epilogue", "ring.r"}}) ==
        R"(error[L-BIND]: a BIND joins ports of two kinds
  composition: BIND gemm.epilogue=ring.r (fused.json:9)
  gemm: imports callable `epilogue` (gemm.cu:2)
  ring: exports ring `r` (ring.cu:1)
  = reason: a callable meets a callable, a ring a ring, a fact a fact
  = help: name two ports of one kind, or remove the BIND
)");
  const Component carried = relu().tensor(kIn, "acc", "apply", 0);
  CHECK(said({{gemm(), ""}, {carried, ""}}, {{"gemm.epilogue", "relu.acc"}}) ==
        R"(error[L-BIND]: a BIND names a tensor
  composition: BIND gemm.epilogue=relu.acc (fused.json:9)
  gemm: imports callable `epilogue` (gemm.cu:2)
  relu: imports tensor `acc` (relu.cu:3)
  = reason: a tensor follows the callable that carries it
  = help: name the callable in its place
)");
  const Component both = Component("both").fact("a", number(1)).reads("b");
  CHECK(said({{both, ""}}, {{"both.b", "both.a"}}) ==
        R"(error[L-BIND]: a BIND joins two ports of one instance
  composition: BIND both.b=both.a (fused.json:9)
  both: imports fact `b` (both.cu:2)
  both: exports fact `a` (both.cu:1)
  = reason: a fact is shared by two instances
  = help: name a port of another instance
)");
}

TEST_CASE("help that does not end the error is not offered") {
  const auto help = [](const std::vector<Use>& uses, const Links& links) {
    const Diagnostics all = bind(compose(uses, links), holds).diagnostics;
    REQUIRE(!all.empty());
    return all.front().help;
  };
  // The name that is near is of another signature.
  const Component floats = Component("relu").callable(kOut, "apply", {"float"});
  CHECK(help({{gemm(), ""}, {floats, ""}}, {{{"gemm.epilogue", "relu.aply"}}, {}}) ==
        "name one of these, or remove the BIND");
  CHECK(help({{gemm(), ""}, {relu(), ""}}, {{{"gemm.epilogue", "relu.aply"}}, {}}) ==
        "BIND gemm.epilogue=relu.apply");
  // Of two owners one breaks a requirement.
  const Component reader =
      Component("reader").role("r", 4).reads("tile").requires_that("large", "tile >= 128");
  const Component small = Component("small").fact("tile", number(64)),
                  large = Component("large").fact("tile", number(128));
  CHECK(help({{reader, ""}, {small, ""}, {large, ""}}, {}) == "BIND reader.tile=large.tile");
  // The nearest value of the domain breaks it, the next one does not.
  const Component owner = Component("owner").settable("tile", 128, {64, 128, 256});
  CHECK(help({{reader, ""}, {owner, ""}}, {{}, {{"owner.tile", "80"}}}) == "SET owner.tile=128");
  CHECK(help({{reader, ""}, {owner, ""}}, {{}, {{"owner.til", "80"}}}) == "SET owner.tile=128");
  CHECK(help({{reader, ""}, {Component("owner").settable("tile", 32, {32, 64}), ""}},
             {{}, {{"owner.tile", "80"}}}) == "SET owner.tile to one of 32, 64");
}

TEST_CASE("several exports of one import, in the order of their BINDs") {
  const auto bound = [](const std::string& first, const std::string& second) {
    return picture(compose({{gemm(), ""}, {relu(), ""}},
                           {{{"gemm.epilogue", "relu." + first}, {"relu." + second, "gemm.epilogue"}}, {}}));
  };
  CHECK(bound("apply", "other") == "gemm.epilogue -> relu.apply\ngemm.epilogue -> relu.other\n");
  CHECK(bound("other", "apply") == "gemm.epilogue -> relu.other\ngemm.epilogue -> relu.apply\n");
}

TEST_CASE("L-BIND: an import twice") {
  const auto returns = [](const char* name) {
    return Component(name).callable(kIn, "epilogue", {"int"}, "int");
  };
  const Component two =
      Component("relu").callable(kOut, "apply", {"int"}, "int").callable(kOut, "other", {"int"}, "int");
  CHECK(said({{returns("gemm"), ""}, {two, ""}},
             {{"gemm.epilogue", "relu.apply"}, {"gemm.epilogue", "relu.other"}}) ==
        R"(error[L-BIND]: `gemm.epilogue` is bound twice
  composition: BIND gemm.epilogue=relu.apply (fused.json:9)
  composition: BIND gemm.epilogue=relu.other (fused.json:9)
  = reason: it returns `int`, and each of 2 exports would return one
  = help: remove BIND gemm.epilogue=relu.other or remove BIND gemm.epilogue=relu.apply
)");
  const Component takes = gemm().tensor(kIn, "acc", "epilogue"),
                  gives = relu().tensor(kOut, "acc", "apply").tensor(kOut, "more", "other");
  CHECK(said({{takes, ""}, {gives, ""}}, {{"gemm.epilogue", "relu.apply"}, {"gemm.epilogue", "relu.other"}})
            .find("reason: it takes the tile `acc`, and each of 2 exports would give one") !=
        std::string::npos);
  const Component owner = Component("owner").fact("n", number(1)),
                  other = Component("other").fact("n", number(2)), reader = Component("reader").reads("n");
  CHECK(said({{owner, ""}, {other, ""}, {reader, ""}}, {{"reader.n", "owner.n"}, {"reader.n", "other.n"}})
            .find("reason: an import meets one export; here it is given 2") != std::string::npos);
  CHECK(said({{gemm(), ""}, {relu(), ""}}, {{"gemm.epilogue", "relu.apply"}, {"relu.apply", "gemm.epilogue"}})
            .empty());
}

}  // namespace pipelink::test
