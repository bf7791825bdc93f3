// Heaviest antichains of transitive orders, by maximum flow. The one place here that sees Boost.Graph.
#pragma once

#include <cstdint>
#include <vector>

#include "linker/place/bits.h"
#include "linker/place/clique.h"
#include "linker/place/meter.h"

namespace pipelink::place {

/// Vertices no two of which are ordered, of greatest total weight; always proven. `order[a]` has every b that
/// comes after a; it must be transitive and without cycles. By Dilworth's theorem the weight is that of the
/// cheapest cover by chains, a flow problem: polynomial where a search for cliques is not.
Clique heaviest_antichain(const std::vector<Bits>& order, const std::vector<std::int64_t>& weight,
                          Meter& meter);

}  // namespace pipelink::place
