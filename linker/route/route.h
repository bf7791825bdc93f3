// How each tile gets from its producer to its consumer: planned from what both sides say of it, before
// placement, as a route may need shared memory and barriers of its own.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "linker/bind/bindings.h"
#include "linker/route/plan_transfer.h"

namespace pipelink {

struct Route {
  Binding tensor;               ///< into Bindings::tensors' ports
  Binding callable;             ///< the call that carries the tile; of two roles, who takes and who gives
  int parameter = 0;            ///< of the callable, not counting Self
  std::optional<PortRef> role;  ///< whose threads hold the tile: (instance, index into its roles); always
                                ///< there if the transfer depends on the thread
  std::optional<PortRef> consumer_role;  ///< of two roles
  transfer::Request request;
  transfer::Transfer transfer;
  std::vector<transfer::Rejected> rejected;  ///< what was tried before it
};

/// "producer.tile->consumer.tile": how the route is called, and what it claims.
std::string route_name(const Composition& composition, const Route& route);

/// One route for each bound tensor, in the order of Bindings::tensors; L-ROUTE for a pair that no route
/// serves, with what was tried.
Outcome<std::vector<Route>> route(const Composition& composition, const Bindings& bindings);

}  // namespace pipelink
