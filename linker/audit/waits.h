// Waits of a component that no guard sees.
#pragma once

#include <string>
#include <vector>

#include "packager/base/outcome.h"
#include "packager/capture/ptx_code.h"
#include "packager/package/package.h"

namespace pipelink {

struct UnguardedWait {
  std::string where;  ///< "role load", "callable epilogue", or the name of a function
  std::string what;   ///< "mbarrier.try_wait of its own"
  int count = 0;      ///< instructions
  bool operator==(const UnguardedWait&) const = default;
};

/// Of all instructions in `code`, those that wait, or read what others write, and are not the SDK's: in order
/// of `where`, then `what`.
std::vector<UnguardedWait> unguarded_waits(const contract::Contract& contract,
                                           const std::vector<PtxInstruction>& code);

/// The same of a package's optimized code; errors are those of the toolchain.
Outcome<std::vector<UnguardedWait>> unguarded_waits(const Package& package);

}  // namespace pipelink
