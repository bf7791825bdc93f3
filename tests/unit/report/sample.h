// A composition that has something of everything that the map speaks of.
#pragma once

#include <string>

#include "builders.h"
#include "linker/plan/plan.h"

namespace pipelink::test {

/// `turned`: the same, with its components in the opposite order.
Composition sample_composition(bool turned = false);

/// Its map.json, as a link would write it but for the cubin.
std::string sample_map(bool turned = false);

place::Problem problem_of(const Composition& composition);

}  // namespace pipelink::test
