#include "packager/capture/code_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "packager/base/demangle.h"

namespace pipelink {
namespace {

using contract::Contract;

bool has(std::string_view opcode, std::string_view part) {
  return opcode.find(part) != std::string_view::npos;
}
bool is_address(const PtxOperand& operand) {
  return operand.text.starts_with('[');
}

/// A number that the contract states; an expression is settled by the composition.
const std::int64_t* stated(const contract::Amount& amount) {
  return amount.expression.empty() ? &amount.number : nullptr;
}

constexpr std::size_t kShown = 4;  // instructions of one finding

class Rules {
 public:
  Rules(const Contract& contract, const std::string& file)
      : contract_(contract), file_(file), prefix_(fmt::format("pl__{}__", contract.component)) {}

  CodeReport run(const std::vector<PtxInstruction>& code) {
    for (const PtxInstruction& i : code) {
      const std::string_view op = i.opcode;
      if (op.starts_with("barrier.cluster."))
        cluster_barrier(i);
      else if ((op.starts_with("bar.") || op.starts_with("barrier.")) && !has(op, ".warp."))
        barrier(i);
      else if (op.starts_with("setmaxnreg"))
        set_registers(i);
      else if (op.starts_with("tcgen05.alloc") || op.starts_with("tcgen05.dealloc"))
        columns(i);
      else if (op.starts_with("setp.") || op.starts_with("add.") || op.starts_with("mad."))
        threads(i);
      else if (op.starts_with("wgmma.mma"))
        warpgroup(i);
      if (op.starts_with("mbarrier.") && !op.starts_with("mbarrier.fence")) mbarrier(i);
      addresses(i);
      if (op.starts_with("mapa") || has(op, ".multicast::cluster") || has(op, ".cta_group::2"))
        ++across_blocks_.seen;
      const bool shared = has(op, ".shared");
      if (op.starts_with("nanosleep") || op.starts_with("griddep") || op.starts_with("multimem.") ||
          (!shared && (op.starts_with("ld.") || op.starts_with("atom.") || op.starts_with("red."))))
        ++global_.seen;
    }
    return {report(),
            {barriers_, addresses_, mbarriers_, registers_, columns_, clusters_, across_blocks_, global_}};
  }

 private:
  struct Found {
    int count = 0;
    SourceSpan where;  ///< of the first
  };

  struct Kind {
    const char* clause;
    const char* title;  ///< behind the function's name
    const char* reason;
    const char* help;
  };

  void cluster_barrier(const PtxInstruction& i) {
    static constexpr Kind kKind{"P-CLUSTER", "waits for the whole cluster",
                                "every thread of every block of the cluster has to arrive, and a role is "
                                "only some of them: the kernel hangs",
                                "meet through mbarriers that the roles of both blocks arrive at, or drop the "
                                "wait: the kernel itself has one "
                                "before the roles begin and one after they end"};
    ++clusters_.seen;
    found(kKind, i);
  }

  void barrier(const PtxInstruction& i) {
    static constexpr Kind kKind{"P-BARRIER", "uses a hardware barrier by its number",
                                "in the linked kernel the number belongs to the kernel or to another "
                                "component, and other roles never arrive at "
                                "it: the kernel hangs",
                                "claim PIPELINK_NAMED_BARRIER(name, .threads = …) for the role's threads and "
                                "call name.sync(self) in place of "
                                "__syncthreads() or bar.sync"};
    ++barriers_.seen;
    const std::size_t id = has(i.opcode, ".red") ? 1 : 0;  // a reduction's result stands first
    if (id >= i.operands.size()) return;
    const PtxOrigin& origin = i.operands[id].origin;
    if (origin.only_constants()) return found(kKind, i);
    if (origin.unknown) ++barriers_.untraced;
    const auto* claim = claimed(contract_.named_barriers, "barrier__", "", origin);
    static constexpr Kind kAligned{
        "P-BARRIER", "uses a named barrier in its aligned form",
        "each role that the code is linked into gets a copy of the instruction, and an "
        "aligned barrier is met at one and the same",
        "call name.sync(self) or name.arrive(self), which are not aligned"};
    if (claim && (i.opcode.starts_with("bar.") || has(i.opcode, ".aligned"))) found(kAligned, i);
    if (claim && id + 1 < i.operands.size())
      compare(i, i.operands[id + 1], stated(claim->threads), "threads",
              fmt::format("named barrier {}", claim->name), claim->where, false);
  }

  void set_registers(const PtxInstruction& i) {
    static constexpr Kind kKind{
        "P-SETMAXNREG", "sets its own number of registers",
        "the budgets of all roles share one pool, and the kernel sets each role's as it was placed",
        "state the range in PIPELINK_ROLE(…, .registers = {least, most}) and drop setmaxnreg"};
    ++registers_.seen;
    found(kKind, i);
  }

  void columns(const PtxInstruction& i) {
    static constexpr Kind kKind{
        "P-COLUMNS", "allocates tensor memory by itself",
        "the kernel allocates once for all components, and a second allocation may wait for ever",
        "claim PIPELINK_TENSOR_MEMORY(name, .columns = …) and use name.address(self)"};
    ++columns_.seen;
    found(kKind, i);
  }

  void threads(const PtxInstruction& i) {
    static constexpr Kind kKind{"P-THREAD", "takes a thread's number in the block for its own",
                                "the linker places the role's warps in the block, and other roles are there "
                                "too: threadIdx.x counts the threads of "
                                "all roles, and blockDim.x is the number of all",
                                "use role.thread(self), role.warp(self) and the number of threads that "
                                "PIPELINK_ROLE states; threadIdx.x % 32 and "
                                "% 128 tell the threads of a warp and of a warpgroup from each other"};
    std::string of;
    for (const PtxOperand& operand : i.operands) {
      const std::string& thread = operand.origin.thread;
      const char* name = thread == "%tid.x" ? "threadIdx.x" : thread == "%ntid.x" ? "blockDim.x" : "";
      if (*name != '\0')
        of += fmt::format("{}{} is of {}", of.empty() ? ", where " : ", ", operand.text, name);
    }
    found(kKind, i, of);
  }

  void warpgroup(const PtxInstruction& i) {
    const auto role = std::find_if(contract_.roles.begin(), contract_.roles.end(), [&](const auto& r) {
      return i.function == fmt::format("{}role__{}", prefix_, r.name);
    });
    if (role == contract_.roles.end() || (role->warps % 4 == 0 && role->align_warps % 4 == 0)) return;
    if (!warpgroups_.insert(role->name).second) return;
    findings_.push_back(make_error(
        "P-COUNT", fmt::format("role {} uses wgmma in a part of a warpgroup", role->name),
        {{file_, i.opcode, i.where},
         {contract_.component,
          fmt::format("role {} has {} warps, aligned to {}", role->name, role->warps, role->align_warps),
          role->where}},
        "wgmma takes all 4 warps of a warpgroup, which begins at a warp that is a multiple of 4",
        fmt::format("state .warps = {}, .align_warps = 4", (role->warps + 3) / 4 * 4)));
  }

  void mbarrier(const PtxInstruction& i) {
    static constexpr Kind kKind{
        "P-MBARRIER", "initialises or ends an mbarrier",
        "the kernel initialises every mbarrier that is claimed, before any role begins",
        "claim it with PIPELINK_MBARRIERS or PIPELINK_RING, with its arrivals, and drop the instruction"};
    ++mbarriers_.seen;
    if (i.opcode.starts_with("mbarrier.init") || i.opcode.starts_with("mbarrier.inval"))
      return found(kKind, i);
    std::size_t at = 0;
    while (at < i.operands.size() && !is_address(i.operands[at])) ++at;
    if (at + 1 >= i.operands.size()) return;
    const PtxOperand &address = i.operands[at], &count = i.operands[at + 1];
    const bool bytes = has(i.opcode, ".expect_tx");
    if (!bytes && !i.opcode.starts_with("mbarrier.arrive")) return;
    for (const auto& [part, arrivals] : {std::pair("__full", true), std::pair("__empty", false)})
      if (const auto* ring = claimed(contract_.rings, "ring__", part, address.origin)) {
        const auto& amount = bytes      ? ring->transaction_bytes
                             : arrivals ? ring->full_arrivals
                                        : ring->empty_arrivals;
        if (amount && (!bytes || arrivals))
          compare(i, count, stated(*amount), bytes ? "bytes" : "arrivals", fmt::format("ring {}", ring->name),
                  ring->where, true);
      }
    if (const auto* own = claimed(contract_.mbarriers, "mbarriers__", "", address.origin); own && !bytes)
      compare(i, count, stated(own->arrivals), "arrivals", fmt::format("mbarriers {}", own->name), own->where,
              true);
  }

  /// `at_most`: several instructions may share the count.
  void compare(const PtxInstruction& i, const PtxOperand& operand, const std::int64_t* amount,
               const char* what, const std::string& claim, const SourceSpan& where, bool at_most) {
    const auto& value = operand.origin.value;
    if (!value || !amount || *value == *amount || (at_most && *value < *amount)) return;
    findings_.push_back(make_error(
        "P-COUNT", fmt::format("{} counts otherwise than its contract", written_name(contract_, i.function)),
        {{file_, fmt::format("{}: {} {}", i.text(), *value, what), i.where},
         {contract_.component, fmt::format("{} has {} {}", claim, *amount, what), where}},
        "a barrier that waits for other arrivals than come hangs, or opens too early",
        fmt::format("state {} {} in the claim, or arrive with {}", *value, what, *amount)));
  }

  void addresses(const PtxInstruction& i) {
    static constexpr Kind kKind{
        "P-OFFSET", "uses a fixed address",
        "the linker places the memory of all components, and what lies at a fixed address belongs to another "
        "claim",
        "claim PIPELINK_BUFFER(name, .bytes = …) and use name.address(self) or name.data<T>(self)"};
    static constexpr Kind kColumns{
        "P-OFFSET", kKind.title, kKind.reason,
        "claim PIPELINK_TENSOR_MEMORY(name, .columns = …) and use name.address(self)"};
    const std::string_view op = i.opcode;
    const bool matrix =
        op.starts_with("wgmma.mma") || op.starts_with("tcgen05.mma") || op.starts_with("tcgen05.cp");
    if (!has(op, ".shared") && !op.starts_with("cp.async") && !op.starts_with("ldmatrix") &&
        !op.starts_with("stmatrix") && !op.starts_with("mbarrier.") && !op.starts_with("tcgen05.") && !matrix)
      return;
    bool fixed = false, untraced = false, any = false;
    for (const PtxOperand& operand : i.operands) {
      if (!is_address(operand) && !(matrix && operand.text.starts_with("%rd"))) continue;  // or a descriptor
      any = true;
      fixed |= operand.origin.only_constants();
      untraced |= operand.origin.unknown && operand.origin.from.empty();
    }
    if (!any) return;
    ++addresses_.seen;
    if (fixed)
      found(op.starts_with("tcgen05.ld") || op.starts_with("tcgen05.st") ? kColumns : kKind, i);
    else if (untraced)
      ++addresses_.untraced;
  }

  /// The claim whose handle `origin` is of, if it is of just one.
  template <class Claim>
  const Claim* claimed(const std::vector<Claim>& claims, std::string_view kind, std::string_view part,
                       const PtxOrigin& origin) const {
    const Claim* only = nullptr;
    for (const Claim& claim : claims)
      if (origin.from.contains(fmt::format("{}{}{}{}", prefix_, kind, claim.name, part))) {
        if (only != nullptr) return nullptr;
        only = &claim;
      }
    return only;
  }

  void found(const Kind& kind, const PtxInstruction& i, const std::string& more = {}) {
    auto& [used, texts] = places_[{kind.clause, i.function}];
    used = &kind;
    Found& use = texts[i.text() + more];
    if (use.count++ == 0) use.where = i.where;
  }

  /// Where the role or the callable of that symbol is annotated; nothing of other functions.
  std::optional<LabelledFact> annotated(const std::string& symbol) const {
    const auto look = [&](const char* kind, const auto& list) -> std::optional<LabelledFact> {
      for (const auto& entry : list)
        if (symbol == fmt::format("{}{}{}", prefix_, kind, entry.name))
          return LabelledFact{contract_.component, written_name(contract_, symbol), entry.where};
      return std::nullopt;
    };
    auto found = look("role__", contract_.roles);
    return found ? found : look("export__", contract_.callables);
  }

  Diagnostics report() {
    Diagnostics out;
    for (const auto& [place, all] : places_) {
      const auto& [clause, function] = place;
      const auto& [kind, texts] = all;
      std::vector<LabelledFact> facts;
      if (auto where = annotated(function)) facts.push_back(std::move(*where));
      const std::size_t most = facts.size() + kShown;
      for (const auto& [text, use] : texts) {
        if (facts.size() == most) {
          facts.push_back({file_, fmt::format("and {} more", texts.size() - kShown), {}});
          break;
        }
        facts.push_back(
            {file_, fmt::format("{}, {} time{}", text, use.count, use.count == 1 ? "" : "s"), use.where});
      }
      out.push_back(make_error(clause, fmt::format("{} {}", written_name(contract_, function), kind->title),
                               std::move(facts), kind->reason, kind->help));
    }
    append(out, std::move(findings_));
    return out;
  }

  const Contract& contract_;
  const std::string& file_;
  const std::string prefix_;
  /// (clause, function) → kind, and the instructions by their text
  std::map<std::pair<std::string, std::string>, std::pair<const Kind*, std::map<std::string, Found>>> places_;
  Diagnostics findings_;
  std::set<std::string> warpgroups_;  ///< roles that were reported
  CodeSubject barriers_{"hardware barriers", 0, 0, {}},
      addresses_{"addresses of shared and tensor memory", 0, 0, {}}, mbarriers_{"mbarriers", 0, 0, {}},
      registers_{"setmaxnreg", 0, 0, {}}, columns_{"allocations of tensor memory", 0, 0, {}},
      clusters_{"cluster barriers", 0, 0, {}};
  CodeSubject across_blocks_{"accesses to other blocks of a cluster", 0, 0,
                             "a contract states no cluster size"};
  CodeSubject global_{"synchronisation through global memory", 0, 0,
                      "a contract states no protocol between blocks"};
};

}  // namespace

std::string written_name(const Contract& contract, const std::string& symbol) {
  for (const auto& [middle, kind] : {std::pair("role__", "role "), std::pair("export__", "callable ")})
    if (const std::string prefix = fmt::format("pl__{}__{}", contract.component, middle);
        symbol.starts_with(prefix))
      return kind + symbol.substr(prefix.size());
  return demangled(symbol);
}

CodeReport check_code(const Contract& contract, const std::string& file,
                      const std::vector<PtxInstruction>& code) {
  return Rules(contract, file).run(code);
}

}  // namespace pipelink
