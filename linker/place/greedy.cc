#include "linker/place/greedy.h"

#include <algorithm>
#include <numeric>

#include "linker/place/random.h"

namespace pipelink::place {
namespace {

// A placement by order that can be re-evaluated from a position on.
class Line {
 public:
  Line(const Items& items, Order order, Meter& meter)
      : items_(items), meter_(meter), order_(std::move(order)) {
    offset_.resize(items_.count());
    position_.resize(items_.count());
    evaluate(0);
  }

  const Offsets& offsets() const { return offset_; }
  std::size_t size() const { return order_.size(); }
  std::size_t position(int item) const { return position_[item]; }

  void move(std::size_t from, std::size_t to) {
    if (from < to)
      std::rotate(order_.begin() + from, order_.begin() + from + 1, order_.begin() + to + 1);
    else
      std::rotate(order_.begin() + to, order_.begin() + from, order_.begin() + from + 1);
    evaluate(std::min(from, to));
  }

 private:
  void evaluate(std::size_t first) {
    for (std::size_t k = first; k < order_.size(); ++k) position_[order_[k]] = k;
    std::erase_if(placed_, [&](int i) { return position_[i] >= first; });
    std::uint64_t work = placed_.size();
    for (std::size_t k = first; k < order_.size(); ++k) {
      const int item = order_[k];
      const std::int64_t size = items_.size[item], align = items_.align[item];
      const Bits& conflict = items_.conflict[item];
      std::int64_t at = 0;
      for (int other : placed_) {
        ++work;
        if (!conflict.test(other)) continue;
        if (at + size <= offset_[other]) break;
        const std::int64_t end = offset_[other] + items_.size[other];
        if (end > at) at = align_up(end, align);
      }
      offset_[item] = at;
      placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), at,
                                      [&](std::int64_t value, int i) { return value < offset_[i]; }),
                     item);
    }
    meter_.steps(work / 4 + 1);
  }

  const Items& items_;
  Meter& meter_;
  Order order_;
  Offsets offset_;
  std::vector<std::size_t> position_;
  std::vector<int> placed_;  // by offset
};

}  // namespace

Offsets lowest_fit(const Items& items, const Order& order, Meter& meter) {
  return Line(items, order, meter).offsets();
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
  std::vector<int> over;
  auto cost = [&](const Offsets& offset) {
    std::int64_t sum = 0;
    over.clear();
    for (std::size_t i = 0; i < n; ++i)
      if (const std::int64_t excess = offset[i] + items.size[i] - target; excess > 0) {
        sum += excess;
        over.push_back(static_cast<int>(i));
      }
    return sum;
  };
  Line line(items, address_order(items, best), allowance.meter());
  std::int64_t now = cost(line.offsets()), lowest = footprint_of(items, best);
  std::vector<std::int64_t> history(std::min<std::size_t>(200, 10 + 2 * n), now);
  Random random(1);
  for (std::uint64_t round = 0; round < rounds && now > 0 && !allowance.exhausted(); ++round) {
    std::size_t from, to;
    if (!over.empty() && random.below(2)) {
      from = line.position(over[random.below(over.size())]);
      to = random.below(from + 1);
    } else {
      from = random.below(n);
      to = random.below(n);
    }
    if (from == to) continue;
    const std::vector<int> over_before = over;
    line.move(from, to);
    const std::int64_t next = cost(line.offsets());
    if (next <= now || next <= history[round % history.size()]) {
      now = next;
      if (const std::int64_t f = footprint_of(items, line.offsets()); f < lowest) {
        lowest = f;
        best = line.offsets();
      }
    } else {
      line.move(to, from);
      over = over_before;
    }
    history[round % history.size()] = now;
  }
  return lowest <= target;
}

}  // namespace pipelink::place
