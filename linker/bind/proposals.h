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

/// An instance that has a port that could be meant, and whether that port fits.
struct Meant {
  std::size_t instance;
  bool fits;
};

/// The composition without one of the instances, for each where another one fits; of those with roles, which
/// are wanted for these, only if `busy_too`. No way out where an entry of the composition names it.
std::vector<Proposal> without_one(const Composition& composition, const std::vector<Meant>& meant,
                                  bool busy_too);

}  // namespace pipelink::binding
