#include "linker/report/glue_index.h"

#include <doctest/doctest.h>

using pipelink::GlueIndex;
using Lines = std::vector<int>;

TEST_CASE("whole identifiers, line by line") {
  const GlueIndex index("a pl__c__buffer__x(1) pl__c__buffer__x\npl__c__buffer__xy\n\npl__c__buffer__x(2)");
  CHECK(index.lines().size() == 4);
  CHECK(index.of("pl__c__buffer__x") == Lines{1, 4});
  CHECK(index.of("pl__c__buffer__x", "(2)") == Lines{4});
  CHECK(index.of("pl__c__buffer").empty());
  CHECK(index.of("").empty());
}

TEST_CASE("a line's comment names its claim") {
  const GlueIndex index(
      "  pl_mbarriers(0, 2, 4);  // left.turns\n// left.turns\n  f();  // left.turns.full\n");
  CHECK(index.commented("left.turns") == Lines{1});
  CHECK(index.commented("left.turns.full") == Lines{3});
}

TEST_CASE("no glue, no lines") {
  CHECK(GlueIndex().empty());
  CHECK(GlueIndex("").empty());
  CHECK(GlueIndex("\n").lines() == std::vector<std::string>{""});
}
