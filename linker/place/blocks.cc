#include "linker/place/blocks.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

#include "linker/place/filling.h"
#include "linker/place/random.h"

namespace pipelink::place {
namespace {

constexpr std::uint64_t kFillingUnits = 250'000;  // for the holes of one alignment

// The levels of alignment above 1 of some items.
std::set<std::int64_t> levels(const Items& items, const std::vector<int>& members) {
  std::set<std::int64_t> result;
  for (int i : members)
    if (items.align[i] > 1) result.insert(items.align[i]);
  return result;
}

// The blocks in an order that can be changed, placed by it. `target` is where they should end.
class BlockLine {
 public:
  BlockLine(const Items& items, const std::vector<Block>& blocks, std::int64_t target, Meter& meter)
      : items_(items), blocks_(blocks), target_(target), meter_(meter), n_(items.count()) {
    conflict_.assign(n_ * n_, 0);
    neighbours_.resize(n_);
    std::vector<std::int64_t> load = items.size;
    for (std::size_t i = 0; i < n_; ++i)
      items.conflict[i].for_each([&](std::size_t j) {
        conflict_[i * n_ + j] = 1;
        neighbours_[i].push_back(static_cast<int>(j));
        load[i] += items.size[j];
      });
    block_of_.resize(n_);
    for (std::size_t b = 0; b < blocks.size(); ++b)
      for (auto [item, distance] : blocks[b].parts) block_of_[item] = static_cast<int>(b);
    order_.resize(blocks.size());
    std::iota(order_.begin(), order_.end(), 0);
    const auto key = [&](int b) {
      return std::tuple(-blocks[b].align, -load[blocks[b].parts.front().first], -blocks[b].size, b);
    };
    std::sort(order_.begin(), order_.end(), [&](int a, int b) { return key(a) < key(b); });
    position_.resize(blocks.size());
    for (std::size_t k = 0; k < order_.size(); ++k) position_[order_[k]] = k;
    offset_.assign(n_, 0);
    excess_ = evaluate(0, INT64_MAX);
  }

  std::size_t size() const { return order_.size(); }
  std::int64_t excess() const { return excess_; }  ///< sum over the items that end above the target
  const Offsets& offsets() const { return offset_; }

  /// Moves the block at `from` to `to`, or swaps the two, unless the excess becomes larger than `limit`.
  bool change(std::size_t from, std::size_t to, bool swap, std::int64_t limit) {
    const auto before = order_;
    if (swap)
      std::swap(order_[from], order_[to]);
    else if (from < to)
      std::rotate(order_.begin() + at(from), order_.begin() + at(from) + 1, order_.begin() + at(to) + 1);
    else
      std::rotate(order_.begin() + at(to), order_.begin() + at(from), order_.begin() + at(from) + 1);
    const std::size_t first = std::min(from, to), last = std::max(from, to);
    for (std::size_t k = first; k <= last; ++k) position_[order_[k]] = k;
    old_offset_ = offset_;
    old_placed_ = placed_;
    last_changed_ = last;
    const std::int64_t next = evaluate(first, limit);
    if (next <= limit) {
      excess_ = next;
      return true;
    }
    order_ = before;
    for (std::size_t k = first; k <= last; ++k) position_[order_[k]] = k;
    offset_.swap(old_offset_);
    placed_.swap(old_placed_);
    return false;
  }

  /// Positions of the blocks above the target.
  std::vector<std::size_t> over() const {
    std::vector<std::size_t> result;
    for (std::size_t i = 0; i < n_; ++i)
      if (offset_[i] + items_.size[i] > target_) result.push_back(i);
    return result;
  }
  std::size_t position_of(std::size_t item) const { return position_[block_of_[item]]; }

  /// From an item down, each time to the one that ends last below: what keeps it where it is.
  std::vector<std::size_t> chain(std::size_t item) const {
    std::vector<std::size_t> result{item};
    while (offset_[item] > 0) {
      std::int64_t highest = -1;
      std::size_t below = item;
      for (int j : neighbours_[item])
        if (const std::int64_t end = offset_[j] + items_.size[j]; end <= offset_[item] && end > highest) {
          highest = end;
          below = static_cast<std::size_t>(j);
        }
      if (highest < 0) break;
      result.push_back(item = below);
    }
    return result;
  }

 private:
  struct Placed {
    std::int64_t begin, end;
    int item;
  };

  static std::ptrdiff_t at(std::size_t k) { return static_cast<std::ptrdiff_t>(k); }

  std::int64_t lowest(const Block& block) {
    const std::int64_t mask = block.align - 1;
    std::int64_t at = 0;
    if (block.parts.size() == 1) {
      const int item = block.parts.front().first;
      const std::uint8_t* conflict = &conflict_[static_cast<std::size_t>(item) * n_];
      const std::int64_t size = items_.size[item];
      for (const Placed& p : placed_) {
        if (!conflict[p.item]) continue;
        if (at + size <= p.begin) break;
        if (p.end > at) at = (p.end + mask) & ~mask;
      }
      work_ += placed_.size() / 2;
      return at;
    }
    // Each part keeps the block from an interval of offsets.
    barred_.clear();
    for (auto [item, distance] : block.parts) {
      const std::uint8_t* conflict = &conflict_[static_cast<std::size_t>(item) * n_];
      for (const Placed& p : placed_)
        if (conflict[p.item]) barred_.emplace_back(p.begin - distance - items_.size[item], p.end - distance);
    }
    std::sort(barred_.begin(), barred_.end());
    for (auto [above, below] : barred_) {
      if (at <= above) break;
      if (below > at) at = (below + mask) & ~mask;
    }
    work_ += placed_.size() * block.parts.size() + barred_.size() * 4;
    return at;
  }

  // Places from position `first` on. Returns the excess, or something above `limit` as soon as it is.
  std::int64_t evaluate(std::size_t first, std::int64_t limit) {
    std::erase_if(placed_, [&](const Placed& p) {
      return position_of(static_cast<std::size_t>(p.item)) < first ? false : true;
    });
    std::int64_t sum = 0;
    for (const Placed& p : placed_) sum += std::max<std::int64_t>(0, p.end - target_);
    work_ = placed_.size();
    bool same = !old_offset_.empty();
    for (std::size_t k = first; k < order_.size() && sum <= limit; ++k) {
      const Block& block = blocks_[order_[k]];
      const std::int64_t start = lowest(block);
      for (auto [item, distance] : block.parts) {
        const Placed p{start + distance, start + distance + items_.size[item], item};
        same = same && old_offset_[item] == p.begin;
        offset_[item] = p.begin;
        sum += std::max<std::int64_t>(0, p.end - target_);
        placed_.insert(std::upper_bound(placed_.begin(), placed_.end(), p.begin,
                                        [](std::int64_t value, const Placed& q) { return value < q.begin; }),
                       p);
      }
      if (same && k == last_changed_) {  // so is the rest
        placed_ = old_placed_;
        sum = excess_;
        break;
      }
    }
    meter_.steps(work_ / 2 + n_);
    return sum;
  }

  const Items& items_;
  const std::vector<Block>& blocks_;
  const std::int64_t target_;
  Meter& meter_;
  const std::size_t n_;
  std::vector<std::uint8_t> conflict_;
  std::vector<std::vector<int>> neighbours_;
  std::vector<int> block_of_;
  std::vector<int> order_;
  std::vector<std::size_t> position_;
  Offsets offset_, old_offset_;
  std::vector<Placed> placed_, old_placed_;  // by offset
  std::vector<std::pair<std::int64_t, std::int64_t>> barred_;
  std::size_t last_changed_ = 0;
  std::int64_t excess_ = 0;
  std::uint64_t work_ = 0;
};

}  // namespace

std::vector<Block> single_blocks(const Items& items) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < items.count(); ++i)
    blocks.push_back({{{static_cast<int>(i), 0}}, items.align[i], items.size[i]});
  return blocks;
}

std::int64_t clique_bound(const Items& items, const std::vector<int>& clique, Allowance allowance) {
  std::int64_t sum = 0, waste = 0;
  for (int i : clique) sum += items.size[i];
  for (std::int64_t level : levels(items, clique)) {
    std::vector<std::int64_t> heads, fillers;
    for (int i : clique) (items.align[i] >= level ? heads : fillers).push_back(items.size[i]);
    waste =
        std::max(waste, least_waste(heads, fillers, level,
                                    Allowance(allowance.meter(), std::min(kFillingUnits, allowance.left())))
                            .waste);
  }
  return sum + waste;
}

std::vector<Block> glue(const Items& items, const std::vector<int>& clique, Allowance allowance) {
  const std::vector<Block> single = single_blocks(items);
  std::vector<Block> blocks;
  for (int i : clique) blocks.push_back(single[i]);
  for (std::int64_t level : levels(items, clique)) {
    std::vector<std::size_t> heads, fillers;
    std::vector<std::int64_t> head_sizes, filler_sizes;
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      (blocks[b].align >= level ? heads : fillers).push_back(b);
      (blocks[b].align >= level ? head_sizes : filler_sizes).push_back(blocks[b].size);
    }
    const Filling filling =
        least_waste(head_sizes, filler_sizes, level,
                    Allowance(allowance.meter(), std::min(kFillingUnits, allowance.left())));
    if (!filling.found) continue;
    std::vector<bool> gone(blocks.size());
    for (std::size_t h = 0; h < heads.size(); ++h) {
      std::vector<std::size_t> behind;
      for (int f : filling.behind[h]) behind.push_back(fillers[f]);
      std::stable_sort(behind.begin(), behind.end(),
                       [&](std::size_t a, std::size_t b) { return blocks[a].align > blocks[b].align; });
      Block& head = blocks[heads[h]];
      for (std::size_t f : behind) {
        const std::int64_t start = align_up(head.size, blocks[f].align);
        for (auto [item, distance] : blocks[f].parts) head.parts.emplace_back(item, start + distance);
        head.size = start + blocks[f].size;
        gone[f] = true;
      }
      if (!behind.empty()) head.size = align_up(head.size, level);
    }
    std::vector<Block> rest;
    for (std::size_t b = 0; b < blocks.size(); ++b)
      if (!gone[b]) rest.push_back(std::move(blocks[b]));
    blocks = std::move(rest);
  }
  for (std::size_t i = 0; i < items.count(); ++i)
    if (!std::binary_search(clique.begin(), clique.end(), static_cast<int>(i))) blocks.push_back(single[i]);
  return blocks;
}

bool search_blocks(const Items& items, const std::vector<Block>& blocks, std::int64_t target,
                   const Annealing& annealing, Offsets& best, Allowance allowance) {
  const std::uint64_t rounds = annealing.rounds;
  std::int64_t lowest = footprint_of(items, best);
  BlockLine line(items, blocks, target, allowance.meter());
  Random random(annealing.seed);
  auto look = [&] {
    if (const std::int64_t f = footprint_of(items, line.offsets()); f < lowest) {
      lowest = f;
      best = line.offsets();
    }
  };
  look();
  const std::size_t n = blocks.size();
  for (std::uint64_t round = 0; round < rounds && lowest > target && !allowance.exhausted() && n > 1;
       ++round) {
    // Half of the changes concern what ends above the target, or what keeps it there.
    const std::size_t kind = random.below(10);
    std::size_t from = random.below(n), to = random.below(n);
    bool swap = random.below(2);
    if (kind < 6) {
      const std::vector<std::size_t> over = line.over();
      const std::size_t item = over[random.below(over.size())];
      if (kind < 2) {
        from = line.position_of(item);
        to = random.below(from + 1);
        swap = false;
      } else {
        const std::vector<std::size_t> chain = line.chain(item);
        from = line.position_of(chain[random.below(chain.size())]);
        to = line.position_of(chain[random.below(chain.size())]);
      }
    }
    if (from == to) continue;
    // Cools down by a factor of 64, each halving evenly.
    const std::uint64_t time = 6 * 1024 * round / rounds;
    const std::int64_t heat =
        (annealing.heat * 1024 >> (time / 1024)) * (2048 - static_cast<std::int64_t>(time % 1024)) / 2048;
    const std::int64_t limit = line.excess() + random.exponential() * heat / (1024 * 1024);
    if (line.change(from, to, swap, limit)) look();
  }
  return lowest <= target;
}

}  // namespace pipelink::place
