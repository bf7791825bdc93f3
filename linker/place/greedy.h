// Placements by order: each item at its lowest free offset, one after the other.
#pragma once

#include <cstdint>
#include <vector>

#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

using Order = std::vector<int>;

/// One placement by lowest fit.
Offsets lowest_fit(const Items& items, const Order& order, Meter& meter);

/// Orders worth trying first, best guesses first.
std::vector<Order> greedy_orders(const Items& items, const std::vector<int>& heavy_clique);

/// Items by offset, then index: lowest_fit of it never ends higher than `offset` does.
Order address_order(const Items& items, const Offsets& offset);

/// Lowest fit in address order until nothing moves.
void settle(const Items& items, Offsets& offset, Meter& meter);

/// Places by `order`, then again and again with the items that end above `target` moved forward, up to
/// `rounds` times. Returns the best placement.
Offsets push_forward(const Items& items, Order order, std::int64_t target, int rounds, Meter& meter);

/// Late-acceptance search over orders, seeded, for a footprint of at most `target`. Leaves the best placement
/// that it saw in `best` and returns whether it is within the target.
bool search_orders(const Items& items, std::int64_t target, std::uint64_t rounds, Offsets& best,
                   Allowance allowance);

}  // namespace pipelink::place
