// How a tile gets from its producer to its consumer. Here: in registers, in the same threads, through the
// callable that carries it; the values of a thread may be renamed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linker/bind/bindings.h"

namespace pipelink {

struct Route {
  Binding tensor;     ///< into Bindings::tensors' ports
  Binding callable;   ///< the call that carries the tile
  int parameter = 0;  ///< of the callable, not counting Self
  std::string kind;   ///< "registers" or "registers, renamed"
  std::vector<std::int64_t>
      permutation;  ///< value v of the producer is value permutation[v] of the consumer; empty: the same
};

/// One route for each bound tensor, in the order of Bindings::tensors; L-ROUTE for a pair that no route
/// serves.
Outcome<std::vector<Route>> route(const Composition& composition, const Bindings& bindings);

}  // namespace pipelink
