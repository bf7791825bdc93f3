// The gate: each row, passing and failing.
#include "linker/backend/gate.h"

#include <doctest/doctest.h>

#include "packager/base/render.h"
#include "sample_cubin.h"

namespace pipelink::test {
namespace {

GatePlan planned() {
  GatePlan plan;
  plan.kernel = "fused";
  plan.threads = 384;
  plan.registers = 168;
  plan.sets_registers = true;
  plan.barriers = 3;
  plan.shared_bytes = 4096;
  plan.shared_align = 1024;
  return plan;
}

std::string judge(const GatePlan& plan, const SampleCubin& sample, const std::string& log = "") {
  const Outcome<CubinFacts> facts = read_cubin(cubin_bytes(sample), "fused");
  REQUIRE(facts);
  const Outcome<GateReport> report = gate(plan, *facts, log);
  std::string out;
  for (const Diagnostic& d : report.diagnostics) {
    out += d.clause + ": " + d.title;
    for (const LabelledFact& f : d.facts) out += "; " + f.owner + ": " + f.text;
    out += "\n";
    CHECK_FALSE(d.help.empty());
  }
  return out;
}

std::string judge(SampleCubin sample) {
  return judge(planned(), sample);
}

}  // namespace

TEST_CASE("what is as planned passes") {
  CHECK(judge({}) == "");
  const Outcome<GateReport> report = gate(planned(), *read_cubin(cubin_bytes(), "fused"), "");
  REQUIRE(report);
  for (const GateRow& row : report->rows) CHECK(row.ok);
  CHECK(report->rows.size() == 10);
}

TEST_CASE("the kernel of a cluster has no barrier of its block") {
  SampleCubin none;
  none.barriers = 0;
  GatePlan plan = planned();
  plan.uses_block_barrier = false;
  CHECK(judge(plan, none) == "");
  CHECK(judge(plan, {}) == "");
  none.barriers = 16;
  CHECK(judge(plan, none) != "");
}

TEST_CASE("each difference is one error with both sides") {
  SampleCubin s;
  s.threads = 256;
  CHECK(judge(s) ==
        "L-GATE: the linked kernel is not as planned: threads; planned: 384; found in the cubin: 256\n");
  s = {};
  s.barriers = 16;
  CHECK(judge(s) ==
        "L-GATE: the linked kernel is not as planned: barriers; planned: 3; found in the cubin: 16\n");
  s = {};
  s.sets_registers = false;
  CHECK(judge(s) ==
        "L-GATE: the linked kernel is not as planned: setmaxnreg; planned: honoured; found in the cubin: not "
        "used\n");
  s = {};
  s.shared_bytes = 8192;
  CHECK(
      judge(s) ==
      "L-GATE: the linked kernel is not as planned: shared bytes; planned: 4096; found in the cubin: 8192\n");
  s = {};
  s.shared_align = 128;
  CHECK(judge(s) ==
        "L-GATE: the linked kernel is not as planned: shared alignment; planned: 1024; found in the cubin: "
        "128\n");
  s = {};
  s.other_function = "$fused$helper";
  CHECK(judge(s) ==
        "L-GATE: the linked kernel is not as planned: other functions; planned: none; found in the cubin: "
        "$fused$helper\n");
  s = {};
  s.registers = 128;
  CHECK(judge(s) ==
        "L-GATE: the linked kernel is not as planned: registers at entry; planned: 168; found in the cubin: "
        "128\n");
}

TEST_CASE("the toolkit's own functions may stay") {
  SampleCubin s;
  s.other_function = "$__internal_0_$__cuda_sm3x_div_rn_noftz_f32_slowpath";
  CHECK(judge(s) == "");
}

TEST_CASE("a kernel without a use of its shared array has none") {
  SampleCubin s;
  s.shared_bytes = 0;
  CHECK(judge(s) == "");
}

TEST_CASE("registers of a kernel that does not set them are what it needs, up to the pool") {
  GatePlan plan = planned();
  plan.sets_registers = false;
  SampleCubin s;
  s.sets_registers = false;
  for (const int registers : {1, 40, 168}) {
    s.registers = registers;
    CHECK(judge(plan, s) == "");
  }
  s.registers = 176;
  CHECK(judge(plan, s) ==
        "L-GATE: the linked kernel is not as planned: registers at entry; planned: at most 168; found in the "
        "cubin: 176\n");
}

TEST_CASE("where a thread may have more registers than an instruction can name, the compiler says 255") {
  GatePlan plan = planned();
  plan.registers = 248;
  SampleCubin s;
  for (const int registers : {248, 255}) {
    s.registers = registers;
    CHECK(judge(plan, s) == "");
  }
  s.registers = 168;
  CHECK(judge(plan, s) ==
        "L-GATE: the linked kernel is not as planned: registers at entry; planned: 248 or 255; found in the "
        "cubin: 168\n");
}

TEST_CASE("lines of the log") {
  const auto with = [](const std::string& log) { return judge(planned(), {}, log); };
  CHECK(with("ptxas info : Used 168 registers, used 3 barriers") == "");
  CHECK(with("ptxas info : (C7506) Potential Performance Loss: 'setmaxnreg' ignored") ==
        "L-GATE: the compiler gave up what the kernel relies on; ptxas: ptxas info : (C7506) Potential "
        "Performance Loss: 'setmaxnreg' "
        "ignored\n");
  CHECK(with("a\nptxas info : (C7510) wgmma serialised\nb\nptxas info : (C7514) too\n").find("C7514") !=
        std::string::npos);
  CHECK(with("ptxas warning : Registers are spilled to local memory in function 'fused'") ==
        "L-REGS: registers do not suffice: the compiler spilled; ptxas: ptxas warning : Registers are "
        "spilled to local memory in function "
        "'fused'\n");
  for (const char* log : {"C75", "C7", "xC75", "C75a0", "\n\n\n", "C7512"})
    gate(planned(), CubinFacts{}, log);
}

TEST_CASE("a cubin without the kernel") {
  const Outcome<GateReport> report = gate(planned(), CubinFacts{}, "");
  REQUIRE_FALSE(report);
  CHECK(report.diagnostics[0].title == "the linked kernel is not as planned: kernel");
}

TEST_CASE("a guarded kernel may serialise wgmma, and no more than that") {
  const std::string slow =
      "ptxas info    : (C7518) Potential Performance Loss: wgmma.mma_async instructions are serialized due "
      "to "
      "program dependence on compiler-inserted WG.DP in divergent path in the function 'fused'\n";
  CHECK(judge(planned(), {}, slow).starts_with("L-GATE: the compiler gave up what the kernel relies on"));
  GatePlan guarded = planned();
  guarded.may_serialise = true;
  CHECK(judge(guarded, {}, slow) == "");
  CHECK(judge(guarded, {}, slow + "ptxas info : (C7504) setmaxnreg ignored\n").starts_with("L-GATE: "));
  const Outcome<GateReport> report = gate(guarded, *read_cubin(cubin_bytes(), "fused"), slow);
  REQUIRE(report);
  CHECK(report->rows[8].found == "wgmma serialised, as a guarded kernel may be");
}

}  // namespace pipelink::test
