// Completion scripts for shells, from the command line's definition.
#pragma once

#include <string>

#include "linker/cli/tool_model.h"

namespace pipelink::cli {

/// For "bash", "zsh" or "fish"; empty for another shell.
std::string completion_script(const ToolModel& tool, const std::string& shell);

}  // namespace pipelink::cli
