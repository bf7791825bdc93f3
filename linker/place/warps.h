// Roles into warpgroups, and a register budget for each warpgroup.
//
// Roles that are aligned to a warpgroup or larger than one come first, by name, each at a warpgroup of its
// own; the others share warpgroups. A warpgroup's budget is at least the largest minimum and at most the
// largest maximum of its roles. A role in several warpgroups has one budget in all of them. With g warpgroups
// the kernel starts with e = floor8(registers / (128·g) / blocks) registers per thread, and the budgets may
// sum to g·e.
#pragma once

#include <vector>

#include "linker/place/meter.h"
#include "linker/place/problem.h"
#include "linker/place/solution.h"

namespace pipelink::place {

enum class WarpAnswer { kPlaced, kTooManyWarps, kTooManyRegisters, kUnknown };

struct WarpPlan {
  WarpAnswer answer = WarpAnswer::kPlaced;
  std::vector<RolePlacement> roles;  ///< in the order of the canonical problem
  std::vector<int> budgets;          ///< per warpgroup
  std::vector<int> minima;           ///< per warpgroup, of the partition with the least sum
  int entry = 0;
  bool proven = true;  ///< no better budgets exist with that number of warpgroups
};

/// Registers per thread at the entry of a kernel of that many warpgroups.
int entry_registers(const Target& target, int groups);

WarpPlan place_roles(const Problem& canonical, Meter& meter);

}  // namespace pipelink::place
