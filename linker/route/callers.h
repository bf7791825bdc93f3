// The call that carries a tile, and whose threads are in it.
#pragma once

#include <optional>
#include <set>

#include "linker/bind/bindings.h"

namespace pipelink {

struct Carrier {
  Binding call;            ///< a bound callable; between roles, the import that takes and the one that gives
  bool two_roles = false;  ///< no code of the consumer runs in the producer's call
};

/// None: `via` of the two ports of `tensor` names no callables that are bound to each other.
std::optional<Carrier> carrier_of(const Composition& composition, const Bindings& bindings,
                                  const Binding& tensor);

/// The roles whose threads can be in a call of `import`, directly or through exports that call it, as far as
/// steps tell.
std::set<PortRef> roles_calling(const Composition& composition, const Bindings& bindings, PortRef import);

/// "gemm.mma".
std::string role_name(const Composition& composition, PortRef role);

}  // namespace pipelink
