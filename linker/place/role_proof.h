// Roles into warpgroups by Z3, for more small roles than enumeration can decide.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "linker/place/items.h"
#include "linker/place/meter.h"
#include "linker/place/problem.h"

namespace pipelink::place {

/// Warpgroups with one budget. Registers per thread; 0 as least and most where only small roles will be.
struct RoleBin {
  int groups = 1;
  int mask = 0;  ///< warps of the last group that are taken
  int least = 0, most = 0;
};

struct RoleQuestion {
  std::vector<Role> roles;  ///< small: at most a warpgroup, not aligned to one
  std::vector<RoleBin> bins;
  int pool = 0;      ///< the budgets, over warpgroups, sum to no more than this…
  int sum = 0;       ///< …and to no less than this
  int smallest = 0;  ///< no budget is below
};

struct RoleAnswer {
  Answer answer = Answer::kUnknown;
  std::vector<std::pair<int, int>> at;  ///< with kYes, for each role: bin, first warp in its last group
  std::vector<int> budget;              ///< with kYes, for each bin
};

/// Always a fresh context, no time-outs, no threads.
RoleAnswer roles_by_z3(const RoleQuestion& question, Allowance allowance);

}  // namespace pipelink::place
