// Answers to `--why NAME`.
#pragma once

#include <string>

#include "linker/link.h"

namespace pipelink {

/// Why a ring is not deeper, why a role has no more registers, or how a tensor is routed and why not
/// otherwise. A ring and a tensor are named by either end, a tensor also as "producer.tile->consumer.tile".
/// U-USAGE, with the names there are.
Outcome<std::string> why(const Checked& checked, const std::string& name, bool steps);

}  // namespace pipelink
