// Problems shaped like real kernels, with their known results.
#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "linker/place/json.h"
#include "linker/place/solve.h"
#include "linker/place/verify.h"
#include "random_problem.h"

using namespace pipelink;
using namespace pipelink::place;
using namespace pipelink::place::test;

namespace {

Solution solved(const Problem& p) {
  const auto s = solve(p);
  REQUIRE(s);
  for (const Diagnostic& d : verify(p, *s)) FAIL_CHECK(d.title);
  return *s;
}

std::string depths(const Solution& s) {
  std::string text;
  for (const RingDepth& r : s.rings)
    text += (text.empty() ? "" : " ") + r.name + "=" + std::to_string(r.depth);
  return text;
}

}  // namespace

TEST_CASE("attn") {
  const Solution s = solved(load("attn"));
  CHECK(s.optimal);
  CHECK(depths(s) == "k=6 v=5");
  CHECK(s.footprint == 229'560);
  CHECK(s.barrier_count == 2);
  CHECK(s.warpgroup_registers == std::vector<int>{40, 240, 160});
}

TEST_CASE("gemm") {
  const Solution s = solved(load("gemm"));
  CHECK(s.optimal);
  CHECK(depths(s) == "ab=4 cst=2 sched=4");
  CHECK(s.footprint == 230'660);
  CHECK(s.tensor_column_count == 512);
  CHECK(s.warps == 8);
}

TEST_CASE("moe42") {
  const Problem p = load("moe42");
  const Solution s = solved(p);
  CHECK(s.optimal);
  CHECK(s.footprint == 231'008);
  CHECK(s.free_bytes() == 1'440);
  CHECK(s.tensor_column_count == 256);  // the two accumulators are never live together
  const FirstFit fit = first_fit(p, s);
  CHECK(fit.contract_order == 290'816);
  CHECK(fit.by_name == 299'136);
  CHECK(fit.by_size == 260'496);
  CHECK(fit.by_align == 247'904);
}

TEST_CASE("moe42v") {
  const Solution s = solved(load("moe42v"));
  CHECK(s.optimal);
  CHECK(depths(s) == "comb=2 disp=2 dn=3 gu=3");
  CHECK(s.footprint == 231'008);
}

TEST_CASE("moe42inf") {
  const auto s = solve(load("moe42inf"));
  REQUIRE_FALSE(s);
  REQUIRE(s.diagnostics.size() == 1);
  CHECK(s.diagnostics[0].clause == "L-SMEM");
  CHECK(s.diagnostics[0].facts.size() == 17);
  CHECK(s.diagnostics[0].reason ==
        "no two of these 17 claims may share bytes, and they sum to 231008 of 231000 bytes, with every ring "
        "at its "
        "least depth");
}

TEST_CASE("an optimum above the clique bound") {
  const Solution s = solved(load("gap12_0"));
  CHECK(s.optimal);
  CHECK(s.footprint == 102'400);
}

TEST_CASE("a packing without waste") {
  const Solution s = solved(load("cut20_0"));
  CHECK(s.optimal);
  CHECK(s.footprint == 232'448);
  CHECK(s.free_bytes() == 0);
}

TEST_CASE("a packing of a hundred claims without waste") {
  const Solution s = solved(load("cut100_1"));
  CHECK(s.optimal);
  CHECK(s.footprint == 232'448);
  CHECK(s.rlimit_used < s.rlimit_limit / 200);
}

TEST_CASE("a clique whose alignment wastes what no claim can fill") {
  const Solution s = solved(load("poset100_0"));
  CHECK(s.optimal);
  CHECK(s.footprint == 164'368);  // 112 bytes above the sum of the clique
}

TEST_CASE("a clique whose holes must be filled by claims that others do not miss there") {
  const Solution s = solved(load("poset100_1"));
  CHECK(s.optimal);
  CHECK(s.footprint == 180'640);  // 104 bytes above the sum of the clique
}

TEST_CASE("a hundred claims") {
  const Solution s = solved(load("real100_0"));
  CHECK(s.optimal);
  CHECK(s.rlimit_used < s.rlimit_limit / 100);
}

TEST_CASE("JSON") {
  const Problem p = load("moe42v");
  const Solution s = solved(p);
  const std::string text = to_json(p, s);
  CHECK(text == to_json(p, s));
  const auto json = nlohmann::json::parse(text);
  CHECK(json["instance"] == "moe42v");
  CHECK(json["claims"] == 42);
  CHECK(json["optimal"] == true);
  CHECK(json["gap_bytes"] == 0);
  CHECK(json["footprint"] == 231'008);
  CHECK(json["free"] == 1'440);
  CHECK(json["depths"]["gu"] == 3);
  CHECK(json["placement"]["buffers"].size() == 31);
  CHECK(json["placement"]["roles"].size() == 5);
  CHECK(json["rlimit_limit"] == kDefaultLimit);
  CHECK(json["rlimit_used"] <= json["rlimit_limit"]);
  CHECK(json["first_fit"]["by_align"] == 247'904);
  CHECK(nlohmann::json::parse(to_json({}, *solve({})))["footprint"] == 0);
}
