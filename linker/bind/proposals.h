// What a message about a bound callable can offer in place of the binding.
#pragma once

#include <vector>

#include "linker/bind/bindings.h"

namespace pipelink::binding {

/// BINDs of the callable `importer` to exports that fit, in place of `bound`, to which `callables` binds it;
/// exports of its own instance too if `own`. Of several exports the others stay, and first comes to do
/// without this one.
std::vector<Proposal> other_exports(const Composition& composition, const std::vector<Binding>& callables,
                                    PortRef importer, PortRef bound, bool own);

}  // namespace pipelink::binding
