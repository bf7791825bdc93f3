// What each role needs in registers, measured: the least bound at which its code does not spill.
#pragma once

#include <string>
#include <vector>

#include "linker/link.h"

namespace pipelink {

/// Of one role: registers per thread, a multiple of 8. 0 if it spills with all that a thread can have.
struct MeasuredNeed {
  PortRef role;      ///< instance, and index of its contract's role
  std::string name;  ///< "instance.role"
  int registers = 0;
};

/// Each role is linked alone, in place, with fewer and fewer registers: about five links a role. `request`
/// has the inputs. Errors: those of glue() and Toolchain::lower().
Outcome<std::vector<MeasuredNeed>> measure_registers(Toolchain& toolchain, const Checked& checked,
                                                     LowerRequest request);

/// L-REGS: roles, needs and pool. `tried` says what was done with them; `spilled` are the compiler's words.
Diagnostic registers_do_not_fit(const Checked& checked, const std::vector<MeasuredNeed>& needs,
                                const std::string& tried, const Diagnostics& spilled);

}  // namespace pipelink
