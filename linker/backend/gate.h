// The last check: the cubin and the tools' log against the plan. What the vendor's linker does not object to
// is found here, before a GPU sees it.
#pragma once

#include <string>
#include <vector>

#include "linker/backend/cubin.h"

namespace pipelink {

struct GatePlan {
  std::string kernel;
  int threads = 0;
  int registers = 0;  ///< at entry
  bool sets_registers = false;
  int barriers = 1;                ///< ids in use, with id 0
  bool uses_block_barrier = true;  ///< id 0; the blocks of a cluster meet at another barrier
  std::int64_t shared_bytes = 0, shared_align = 0;
  bool may_serialise = false;  ///< wgmma may be serialised: a guarded kernel need not be fast
};

/// One line of the gate: what was planned, what was found.
struct GateRow {
  std::string what, planned, found;
  bool ok = true;
};

struct GateReport {
  std::vector<GateRow> rows;
};

/// Whether the log says that the compiler spilled registers.
bool spills(const std::string& log);

/// L-GATE, one for each row that fails, with what the contracts could have said; L-REGS if registers were
/// spilled.
Outcome<GateReport> gate(const GatePlan& plan, const CubinFacts& found, const std::string& log);

}  // namespace pipelink
