// The manual page, from the command line's definition.
#pragma once

#include <string>

#include "linker/cli/tool_model.h"

namespace pipelink::cli {

/// pipelink.1, for man(1).
std::string manual_page(const ToolModel& tool);

}  // namespace pipelink::cli
