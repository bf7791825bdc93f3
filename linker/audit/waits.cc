#include "linker/audit/waits.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "linker/audit/optimized.h"
#include "packager/capture/code_rules.h"

namespace pipelink {
namespace {

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// The SDK names the predicate of its own waits (pipelink/device.h).
bool of_sdk(const PtxInstruction& i) {
  return std::any_of(i.operands.begin(), i.operands.end(),
                     [](const PtxOperand& o) { return o.text == "pl_wait"; });
}

/// The SDK's named barriers take their id from a handle.
bool of_handle(const PtxInstruction& i, const std::string& prefix) {
  return std::any_of(i.operands.begin(), i.operands.end(), [&](const PtxOperand& o) {
    return std::any_of(o.origin.from.begin(), o.origin.from.end(),
                       [&](const std::string& symbol) { return symbol.starts_with(prefix); });
  });
}

/// What kind of wait it is; nothing if it is none, or the SDK's.
std::optional<std::string> kind_of(const PtxInstruction& i, const std::string& barriers) {
  const std::string_view op = i.opcode;
  for (const char* wait : {"mbarrier.try_wait", "mbarrier.test_wait"})
    if (op.starts_with(wait))
      return of_sdk(i) ? std::nullopt : std::optional(std::string(wait) + " of its own");
  if (op.starts_with("barrier.cluster.wait")) return "barrier.cluster.wait";
  if (op.starts_with("griddepcontrol.wait")) return "griddepcontrol.wait";
  const bool barrier =
      (op.starts_with("bar.") || op.starts_with("barrier.")) && !has(op, ".warp.") && !has(op, ".cluster.");
  if (barrier && (has(op, ".sync") || has(op, ".red")) && !of_handle(i, barriers))
    return "a hardware barrier by its number";
  if (op.starts_with("nanosleep")) return "nanosleep, as in a loop that waits";
  const bool reads = op.starts_with("ld.") || op.starts_with("atom.");
  if (reads && (has(op, ".acquire") || has(op, ".volatile") || has(op, ".acq_rel")))
    return "reads of what others write (acquire or volatile)";
  return std::nullopt;
}

}  // namespace

std::vector<UnguardedWait> unguarded_waits(const contract::Contract& contract,
                                           const std::vector<PtxInstruction>& code) {
  const std::string barriers = fmt::format("pl__{}__barrier__", contract.component);
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const PtxInstruction& i : code)
    if (const std::optional<std::string> kind = kind_of(i, barriers))
      ++counts[{written_name(contract, i.function), *kind}];
  std::vector<UnguardedWait> out;
  for (const auto& [place, count] : counts) out.push_back({place.first, place.second, count});
  return out;
}

Outcome<std::vector<UnguardedWait>> unguarded_waits(const Package& package) {
  Outcome<PtxFacts> code = optimized_code(package);
  if (!code) return std::move(code.diagnostics);
  return unguarded_waits(package.contract, code->code);
}

}  // namespace pipelink
