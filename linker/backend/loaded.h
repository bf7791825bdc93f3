// Which files make up the tool that runs: for those who must run or cache it as a whole.
#pragma once

#include <string>
#include <vector>

#include "packager/base/outcome.h"

namespace pipelink {

/// The executable and every shared library that it loads, sorted; with `vendor`, NVRTC's and nvJitLink's too,
/// as a link loads them. Found by loading them in a child process. T-TOOLKIT, T-CHILD.
Outcome<std::vector<std::string>> loaded_files(bool vendor);

}  // namespace pipelink
