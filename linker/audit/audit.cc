#include "linker/audit/audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "linker/audit/optimized.h"
#include "linker/backend/lower.h"
#include "packager/base/demangle.h"
#include "packager/capture/capture.h"

namespace pipelink {
namespace {

using contract::Contract;
using contract::Direction;

constexpr const char* kKernel = "pl_audit";

/// A kernel that lets the component's functions out of sight, so that each stays a function of its own with
/// all that it calls inlined. What it does is never run.
std::string kernel_text(const Contract& contract) {
  std::string declared, kept;
  int n = 0;
  for (const std::string& symbol : defined_symbols(contract)) {
    declared += fmt::format("extern \"C\" __device__ void {}();\n", symbol);
    kept += fmt::format("  out[{}] = reinterpret_cast<void*>({});\n", n++, symbol);
  }
  return fmt::format("{}extern \"C\" __global__ void {}(void** out) {{\n{}}}\n", declared, kKernel, kept);
}

class Uses {
 public:
  Uses(const Contract& contract, const PtxFacts& facts) : prefix_("pl__" + contract.component + "__") {
    for (const PtxFunction& function : facts.functions)
      if (function.external) mentioned_.insert(function.name);
    for (const auto& callable : contract.callables)
      if (callable.direction == Direction::kImport) add("import", callable, {"import__" + callable.name});
    for (const auto& buffer : contract.buffers) add("buffer", buffer, {"buffer__" + buffer.name});
    for (const auto& ring : contract.rings) {
      const std::string handle = "ring__" + ring.name + "__";
      add("ring", ring, {handle + "data", handle + "full", handle + "empty"});
    }
    for (const auto& m : contract.mbarriers) add("mbarriers", m, {"mbarriers__" + m.name});
    for (const auto& b : contract.named_barriers) add("named barrier", b, {"barrier__" + b.name});
    for (const auto& t : contract.tensor_memory) add("tensor memory", t, {"tensor_memory__" + t.name});
  }

  std::vector<ClaimUse> take() { return std::move(uses_); }

 private:
  void add(const char* kind, const auto& claim, const std::vector<std::string>& handles) {
    const bool used = std::any_of(handles.begin(), handles.end(), [&](const std::string& handle) {
      return mentioned_.contains(prefix_ + handle);
    });
    uses_.push_back({fmt::format("{} {}", kind, claim.name), claim.where, used});
  }

  const std::string prefix_;
  std::set<std::string> mentioned_;  ///< handles that the optimized code still calls
  std::vector<ClaimUse> uses_;
};

Diagnostic unused(const Contract& contract, const ClaimUse& claim) {
  Diagnostic d =
      make_error("P-UNUSED", fmt::format("no instruction of {} uses {}", contract.component, claim.claim),
                 {{contract.component, "claims " + claim.claim, claim.where}},
                 "it takes room from other components, or somebody waits for what never comes",
                 "drop the annotation, or use the handle");
  d.severity = Severity::kWarning;
  return d;
}

}  // namespace

Outcome<PtxFacts> optimized_code(const Package& package) {
  const Contract& contract = package.contract;
  LowerRequest request;
  request.arch = contract.arch;
  request.kernel = kKernel;
  request.glue = kernel_text(contract);
  for (std::size_t n = 0; n < package.ltoir.size(); ++n)
    request.inputs.push_back(
        {fmt::format("{}.{}", contract.component, n), package.ltoir[n], contract.toolkit});
  Outcome<std::string> ptx = Toolchain().lower_to_ptx(request);
  if (!ptx) return std::move(ptx.diagnostics);
  return parse_ptx(*ptx, package.file);
}

Outcome<Audit> audit(const Package& package) {
  const Contract& contract = package.contract;
  Outcome<PtxFacts> facts = optimized_code(package);
  if (!facts) return std::move(facts.diagnostics);

  Audit out{contract.component, contract.version, contract.arch, package.file, {}, {}, {}, {}};
  CodeReport code = check_code(contract, package.file, facts->code);
  out.subjects = std::move(code.subjects);
  out.findings = std::move(code.findings);
  out.claims = Uses(contract, *facts).take();
  for (const ClaimUse& claim : out.claims)
    if (!claim.used) out.findings.push_back(unused(contract, claim));
  const std::vector<std::string> entries = defined_symbols(contract);
  for (const PtxFunction& function : facts->functions)
    if (!function.external && !function.entry &&
        !std::binary_search(entries.begin(), entries.end(), function.name))
      out.calls.push_back(demangled(function.name));
  std::sort(out.calls.begin(), out.calls.end());
  return out;
}

}  // namespace pipelink
