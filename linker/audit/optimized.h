// A package's code, optimized by itself with every handle left open.
#pragma once

#include "packager/base/outcome.h"
#include "packager/capture/ptx.h"
#include "packager/package/package.h"

namespace pipelink {

/// Errors are those of the toolchain.
Outcome<PtxFacts> optimized_code(const Package& package);

}  // namespace pipelink
