// What a contract demands of the component's instructions.
#pragma once

#include <string>
#include <vector>

#include "packager/base/diagnostic.h"
#include "packager/capture/ptx_code.h"
#include "packager/contract/model.h"

namespace pipelink {

/// One kind of instruction, and how far it could be judged.
struct CodeSubject {
  std::string name;       ///< "hardware barriers"
  int seen = 0;           ///< instructions of this kind
  int untraced = 0;       ///< of these: the operand's origin is not known, so nothing is said about them
  std::string unchecked;  ///< why none of them can be judged; else empty
};

struct CodeReport {
  Diagnostics
      findings;  ///< P-BARRIER, P-OFFSET, P-COUNT, P-MBARRIER, P-SETMAXNREG, P-COLUMNS, P-CLUSTER, P-THREAD
  std::vector<CodeSubject> subjects;  ///< always the same ones, in the same order
};

/// `file` is named in findings as the holder of the code. Reports only what is certain: an operand that may
/// come from a handle on some path is no fault.
CodeReport check_code(const contract::Contract& contract, const std::string& file,
                      const std::vector<PtxInstruction>& code);

/// As its author wrote it: "role run", "callable apply", or the name of a function.
std::string written_name(const contract::Contract& contract, const std::string& symbol);

}  // namespace pipelink
