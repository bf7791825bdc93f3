// Every clause that a diagnostic may name, from catalog.def.
#pragma once

#include <span>
#include <string_view>

#include "packager/base/diagnostic.h"

namespace pipelink {

struct Clause {
  std::string_view id;      ///< "L-REGS"
  std::string_view title;   ///< lower case, no final period
  std::string_view rule;    ///< what must hold
  std::string_view reason;  ///< what of the hardware or the toolchain makes it so
  std::string_view help;    ///< what usually mends it
};

enum class ClauseKind { kContract, kLinking, kInput, kToolchain, kUsage };

/// All clauses, sorted by id.
std::span<const Clause> clauses();

/// The clause with this id, or nullptr.
const Clause* find_clause(std::string_view id);

/// By the first letter: P, L, I, T, U. Any other id counts as kInput.
ClauseKind kind_of(std::string_view id);
std::string_view kind_name(ClauseKind kind);  ///< "contract", "linking", "input", "toolchain", "usage"

/// The exit status that the diagnostics ask for: 0 without an error; 2 if any error is of kind I, T or U;
/// else 1.
int exit_status(const Diagnostics& diagnostics);

}  // namespace pipelink
