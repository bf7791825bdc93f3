// The contract against the object: what the code of a package does with what it claims.
#pragma once

#include <string>
#include <vector>

#include "packager/base/outcome.h"
#include "packager/capture/code_rules.h"
#include "packager/package/package.h"

namespace pipelink {

/// A claim or an import, and whether any instruction of the component uses it.
struct ClaimUse {
  std::string claim;  ///< "ring operands"
  SourceSpan where;
  bool used = false;
};

struct Audit {
  std::string component, version, arch, file;
  std::vector<CodeSubject> subjects;
  std::vector<ClaimUse> claims;    ///< in the contract's order
  std::vector<std::string> calls;  ///< own functions that are not inlined, sorted
  Diagnostics findings;            ///< those of check_code, and P-UNUSED as warnings
};

/// Optimizes the package's code by itself, with every handle left open, and follows in the PTX of it where
/// the operands of each instruction come from. Errors are those of the toolchain; findings are no errors
/// here.
Outcome<Audit> audit(const Package& package);

/// A table for people; a JSON object for programs. Neither holds a path.
std::string audit_text(const Audit& audit);
std::string audit_json(const std::vector<Audit>& audits);

}  // namespace pipelink
