#include "linker/place/greedy.h"

#include <algorithm>
#include <numeric>

#include "linker/place/block_line.h"
#include "linker/place/random.h"

namespace pipelink::place {

Offsets lowest_fit(const Items& items, const Order& order, Meter& meter) {
  struct Placed {
    std::int64_t begin, end;
    int item;
  };
  std::vector<Placed> placed;  // by offset
  placed.reserve(order.size());
  Offsets offset(items.count());
  std::uint64_t work = 0;
  for (const int item : order) {
    const std::int64_t size = items.size[item], align = items.align[item];
    const Bits& conflict = items.conflict[item];
    std::int64_t at = 0;
    for (const Placed& other : placed) {
      ++work;
      if (!conflict.test(static_cast<std::size_t>(other.item))) continue;
      if (at + size <= other.begin) break;
      if (other.end > at) at = align_up(other.end, align);
    }
    offset[item] = at;
    placed.insert(std::upper_bound(placed.begin(), placed.end(), at,
                                   [](std::int64_t value, const Placed& p) { return value < p.begin; }),
                  {at, at + size, item});
  }
  meter.steps(3 * work + 16 * order.size());
  return offset;
}

std::vector<Order> greedy_orders(const Items& items, const std::vector<int>& heavy_clique) {
  const std::size_t n = items.count();
  std::vector<std::int64_t> load(n), heavy(n);
  for (std::size_t i = 0; i < n; ++i) {
    load[i] = items.size[i];
    items.conflict[i].for_each([&](std::size_t j) { load[i] += items.size[j]; });
  }
  for (int i : heavy_clique) heavy[i] = 1;
  // A chain of keys, each ascending or descending; the index decides what is left.
  using Key = std::vector<std::int64_t>;
  auto sorted = [n](auto&& key) {
    std::vector<Key> keys;
    for (std::size_t i = 0; i < n; ++i) keys.push_back(key(i));
    Order order(n);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return keys[a] < keys[b]; });
    return order;
  };
  const auto& s = items.size;
  const auto& a = items.align;
  return {
      sorted([&](std::size_t i) {
        return Key{-heavy[i], -a[i], -s[i]};
      }),
      sorted([&](std::size_t i) {
        return Key{-a[i], -s[i]};
      }),
      sorted([&](std::size_t i) {
        return Key{-s[i], -a[i]};
      }),
      sorted([&](std::size_t i) {
        return Key{-heavy[i], -s[i]};
      }),
      sorted([&](std::size_t i) {
        return Key{-load[i], -s[i]};
      }),
      sorted([&](std::size_t i) {
        return Key{-a[i], -load[i], -s[i]};
      }),
      sorted([&](std::size_t i) {
        return Key{-heavy[i], -a[i], -load[i]};
      }),
      sorted([&](std::size_t i) {
        return Key{-heavy[i], load[i]};
      }),
      sorted([&](std::size_t i) {
        return Key{items.group[i], -a[i], -s[i]};
      }),
      sorted([&](std::size_t i) {
        return Key{-items.group[i], -a[i], -s[i]};
      }),
      sorted([&](std::size_t i) {
        return Key{-a[i], items.group[i], -s[i]};
      }),
  };
}

Order address_order(const Items& items, const Offsets& offset) {
  Order order(items.count());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return offset[a] < offset[b]; });
  return order;
}

void settle(const Items& items, Offsets& offset, Meter& meter) {
  for (;;) {
    Offsets next = lowest_fit(items, address_order(items, offset), meter);
    if (next == offset) return;
    offset = std::move(next);
  }
}

Offsets push_forward(const Items& items, Order order, std::int64_t target, int rounds, Meter& meter) {
  Offsets best;
  std::int64_t lowest = INT64_MAX;
  std::vector<std::int64_t> rank(items.count());
  for (int round = 0; round < rounds; ++round) {
    const Offsets offset = lowest_fit(items, order, meter);
    if (const std::int64_t f = footprint_of(items, offset); f < lowest) {
      lowest = f;
      best = offset;
    }
    if (lowest <= target) break;
    // Halfway to the front, or a quarter of the way, before what stands there.
    for (std::size_t k = 0; k < order.size(); ++k) {
      const int i = order[k];
      const bool over = offset[i] + items.size[i] > target;
      rank[i] = static_cast<std::int64_t>(!over ? 2 * k + 1 : round % 2 ? 3 * k / 2 : k);
    }
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return rank[a] < rank[b]; });
  }
  return best;
}

bool search_orders(const Items& items, std::int64_t target, std::uint64_t rounds, Offsets& best,
                   Allowance allowance) {
  const std::size_t n = items.count();
  if (n < 2) return footprint_of(items, best) <= target;
  const std::vector<Block> blocks = single_blocks(items);
  BlockLine line(items, blocks, address_order(items, best), target, allowance.meter());
  std::int64_t lowest = footprint_of(items, best);
  std::vector<std::int64_t> history(std::min<std::size_t>(200, 10 + 2 * n), line.excess());
  std::vector<int> over;
  Random random(1);
  for (std::uint64_t round = 0; round < rounds && line.excess() > 0 && !allowance.exhausted(); ++round) {
    std::size_t from, to;
    if (random.below(2)) {
      line.over(over);
      from = line.position_of(over[random.below(over.size())]);
      to = random.below(from + 1);
    } else {
      from = random.below(n);
      to = random.below(n);
    }
    if (from == to) continue;
    std::int64_t& earlier = history[round % history.size()];
    if (line.change(from, to, false, std::max(line.excess(), earlier)))
      if (const std::int64_t f = line.footprint(); f < lowest) {
        lowest = f;
        best = line.offsets();
      }
    earlier = line.excess();
  }
  return lowest <= target;
}

}  // namespace pipelink::place
