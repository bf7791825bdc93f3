#include "linker/backend/gate.h"

#include <fmt/format.h>

#include <sstream>

#include "packager/base/demangle.h"

namespace pipelink {
namespace {

struct Row {
  GateRow row;
  const char* help;
};

/// Lines of the log that mean the code is not what was planned: C75xx (setmaxnreg dropped, wgmma serialised)
/// and spills.
std::vector<std::string> suspicious_lines(const std::string& log, bool spills) {
  std::vector<std::string> out;
  std::istringstream in(log);
  for (std::string line; std::getline(in, line);) {
    const std::size_t code = line.find("C75");
    const bool advisory = code != std::string::npos && code + 5 <= line.size() &&
                          std::isdigit(line[code + 3]) && std::isdigit(line[code + 4]);
    const bool spill = line.find("spill") != std::string::npos || line.find("Spill") != std::string::npos;
    if (spills ? spill : advisory) out.push_back(line);
  }
  return out;
}

/// A line that says that wgmma is serialised: the code is slow, and right.
bool is_serialised(const std::string& line) {
  return line.find("(C751") != std::string::npos && line.find("are serialized") != std::string::npos;
}

std::string foreign_functions(const CubinFacts& found, const std::string& kernel) {
  std::string out;
  for (const std::string& f : found.functions)
    if (f != kernel && !f.starts_with("$__internal_") && f.find("$__internal_") == std::string::npos)
      out += (out.empty() ? "" : ", ") + demangled(f);
  return out;
}

/// Of names as foreign_functions() lists them.
bool calls_runtime(std::string_view foreign) {
  for (const char* name : {"vprintf", "malloc", "free", "__assertfail"})
    if (foreign.find(name) != std::string_view::npos) return true;
  return false;
}

/// A kernel that sets registers is launched with all that a thread may have; one that does not, with what it
/// needs. Where the file would give a thread more than an instruction can name, the compiler says 255.
Row registers_at_entry(const GatePlan& plan, int found) {
  constexpr int kNameable = 255;
  const bool capped = plan.registers == kNameable / 8 * 8;
  const int most = capped ? kNameable : plan.registers;
  const bool fits =
      plan.sets_registers ? found == plan.registers || found == most : found > 0 && found <= most;
  const std::string planned = plan.sets_registers && capped
                                  ? fmt::format("{} or {}", plan.registers, most)
                                  : fmt::format("{}{}", plan.sets_registers ? "" : "at most ", most);
  return {{"registers at entry", planned, std::to_string(found), fits},
          "lower a role's registers.min, or give its code less to keep alive"};
}

}  // namespace

bool spills(const std::string& log) {
  return !suspicious_lines(log, true).empty();
}

Outcome<GateReport> gate(const GatePlan& plan, const CubinFacts& found, const std::string& log) {
  const std::string foreign = foreign_functions(found, plan.kernel);
  const auto number = [](const char* what, long long planned, long long is, const char* help) {
    return Row{{what, std::to_string(planned), std::to_string(is), planned == is}, help};
  };
  // An array that no code refers to is left out.
  const auto shared = [&](const char* what, long long planned, long long is, const char* help) {
    return found.shared_bytes == 0 ? Row{{what, std::to_string(planned), "unused", true}, help}
                                   : number(what, planned, is, help);
  };
  std::vector<Row> rows = {
      {{"kernel", plan.kernel, found.has_kernel ? plan.kernel : "none", found.has_kernel},
       "the glue lost its entry; report this"},
      {{"other functions", "none", foreign.empty() ? "none" : foreign, foreign.empty()},
       calls_runtime(foreign)
           ? "printf, assert, new, malloc and free are calls into the device runtime, and a kernel with "
             "calls loses "
             "setmaxnreg and wgmma's pipelining: leave them out (assert with -DNDEBUG)"
           : "a call was not inlined: keep calls direct, and mark large functions __inline_hint__ or "
             "__forceinline__"},
      number("threads", plan.threads, found.max_threads,
             "the roles' warps and the kernel's bounds do not agree; report this"),
      registers_at_entry(plan, found.registers),
      {{"setmaxnreg", plan.sets_registers ? "honoured" : "not used",
        found.sets_registers ? "honoured" : "not used", plan.sets_registers == found.sets_registers},
       "the compiler dropped it: an indirect call, -G or an object without LTO-IR does that"},
      {{"barriers", std::to_string(plan.barriers), std::to_string(found.barriers),
        found.barriers >= (plan.uses_block_barrier ? 1 : 0) && found.barriers <= plan.barriers},
       "a barrier id was computed or written into the code: claim PIPELINK_NAMED_BARRIERs and choose "
       "among them by branching"},
      shared("shared bytes", plan.shared_bytes, found.shared_bytes,
             "a component defines shared memory of its own: claim it with PIPELINK_BUFFER"),
      shared("shared alignment", plan.shared_align, found.shared_align,
             "a component defines shared memory of its own"),
  };
  GateReport report;
  Diagnostics diagnostics;
  for (Row& r : rows) {
    if (!r.row.ok) {
      Diagnostic d;
      d.clause = "L-GATE";
      d.title = fmt::format("the linked kernel is not as planned: {}", r.row.what);
      d.facts.push_back({"planned", r.row.planned, {}});
      d.facts.push_back({"found in the cubin", r.row.found, {}});
      d.help = r.help;
      diagnostics.push_back(std::move(d));
    }
    report.rows.push_back(std::move(r.row));
  }
  const auto log_row = [&](const char* what, bool spilled, const char* clause, const char* title,
                           const char* help) {
    std::vector<std::string> lines = suspicious_lines(log, spilled);
    const std::size_t allowed = plan.may_serialise ? std::erase_if(lines, is_serialised) : 0;
    const char* right = allowed != 0 ? "wgmma serialised, as a guarded kernel may be" : "none";
    report.rows.push_back(
        {what, "none", lines.empty() ? right : fmt::format("{} lines", lines.size()), lines.empty()});
    if (lines.empty()) return;
    Diagnostic d;
    d.clause = clause;
    d.title = title;
    for (const std::string& line : lines) d.facts.push_back({"ptxas", line, {}});
    d.help = help;
    diagnostics.push_back(std::move(d));
  };
  log_row("advisories C75xx", false, "L-GATE", "the compiler gave up what the kernel relies on",
          "C7504 to C7508: setmaxnreg was dropped; C7510 to C7517: wgmma is serialised by a call or a wait "
          "between its parts");
  log_row("spills", true, "L-REGS", "registers do not suffice: the compiler spilled",
          "raise registers.max of the role, or give its code less to keep alive");
  if (!diagnostics.empty()) return diagnostics;
  return report;
}

}  // namespace pipelink
