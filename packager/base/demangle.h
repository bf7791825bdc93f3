// Names of C++ functions for people.
#pragma once

#include <string>

namespace pipelink {

/// `helper(int)` for `_Z6helperi`; any other text unchanged.
std::string demangled(const std::string& symbol);

}  // namespace pipelink
