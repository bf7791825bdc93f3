#include "linker/place/block_line.h"

#include <algorithm>

namespace pipelink::place {
namespace {

constexpr std::uint64_t kStepsPerLook = 3;  // at a placed item: so many of the other searches' take as long

}  // namespace

std::vector<Block> single_blocks(const Items& items) {
  std::vector<Block> blocks;
  for (std::size_t i = 0; i < items.count(); ++i)
    blocks.push_back({{{static_cast<int>(i), 0}}, items.align[i], items.size[i]});
  return blocks;
}

BlockLine::BlockLine(const Items& items, const std::vector<Block>& blocks, std::vector<int> order,
                     std::int64_t target, Meter& meter)
    : items_(items),
      blocks_(blocks),
      target_(target),
      meter_(meter),
      n_(items.count()),
      order_(std::move(order)) {
  conflict_.assign(n_ * n_, 0);
  neighbours_.resize(n_);
  for (std::size_t i = 0; i < n_; ++i)
    items.conflict[i].for_each([&](std::size_t j) {
      conflict_[i * n_ + j] = 1;
      neighbours_[i].push_back(static_cast<int>(j));
    });
  position_.resize(n_);
  touched_ = Bits(n_);
  low_.resize(n_);
  extent_.resize(blocks.size());
  for (std::size_t b = 0; b < blocks.size(); ++b) {
    block_conflict_.emplace_back(n_);
    for (auto [item, distance] : blocks[b].parts) {
      block_conflict_[b] |= items.conflict[item];
      extent_[b] = std::max(extent_[b], distance + items.size[item]);
    }
  }
  for (std::size_t k = 0; k < order_.size(); ++k)
    for (auto [item, distance] : blocks_[order_[k]].parts) position_[item] = k;
  now_.begin.assign(n_, 0);
  now_.excess.assign(blocks.size(), 0);
  for (std::size_t k = 0; k < order_.size(); ++k) {
    place(order_[k], lowest(blocks_[order_[k]], k));
    excess_ += now_.excess[order_[k]];
  }
  meter_.steps(4 * n_ * n_ + kStepsPerLook * work_);
}

std::int64_t BlockLine::footprint() const {
  std::int64_t end = 0;
  for (const Placed& p : now_.by_offset) end = std::max(end, p.end);
  return end;
}

void BlockLine::over(std::vector<int>& items) const {
  items.clear();
  for (std::size_t i = 0; i < n_; ++i)
    if (now_.begin[i] + items_.size[i] > target_) items.push_back(static_cast<int>(i));
}

void BlockLine::chain(int item, std::vector<int>& items) const {
  const Offsets& begin = now_.begin;
  items.assign(1, item);
  while (begin[item] > 0) {
    std::int64_t highest = -1;
    int below = item;
    for (int j : neighbours_[item])
      if (const std::int64_t end = begin[j] + items_.size[j]; end <= begin[item] && end > highest) {
        highest = end;
        below = j;
      }
    if (highest < 0) break;
    items.push_back(item = below);
  }
}

// Among the items of earlier positions. Each part looks at the others by ascending offset, and never back:
// what lay below it stays below it when the block moves up.
std::int64_t BlockLine::lowest(const Block& block, std::size_t position) {
  const std::size_t parts = block.parts.size();
  obstacles_.resize(parts * (n_ + 1));
  next_.resize(parts);
  for (std::size_t p = 0; p < parts; ++p) {
    // Without branches, since these could not be predicted.
    const auto [item, distance] = block.parts[p];
    const std::uint8_t* conflict = &conflict_[static_cast<std::size_t>(item) * n_];
    Interval* out = &obstacles_[p * (n_ + 1)];
    next_[p] = out;
    for (const Placed& q : now_.by_offset) {
      *out = {q.begin - distance - items_.size[item], q.end - distance};
      out += conflict[q.item] & static_cast<std::uint8_t>(position_[q.item] < position);
    }
    *out = {INT64_MAX, INT64_MAX};
  }
  work_ += parts * (now_.by_offset.size() + 2);
  // The block cannot start within (above, below) of any of them.
  const std::int64_t mask = block.align - 1;
  std::int64_t at = 0;
  for (bool moved = true; moved;) {
    moved = false;
    for (std::size_t p = 0; p < parts; ++p)
      for (; next_[p]->above < at; ++next_[p])
        if (next_[p]->below > at) {
          at = (next_[p]->below + mask) & ~mask;
          moved = moved || p > 0;
        }
  }
  return at;
}

void BlockLine::place(int block, std::int64_t start) {
  std::vector<Placed>& placed = now_.by_offset;
  now_.excess[block] = 0;
  for (const auto& part : blocks_[block].parts) {
    const int item = part.first;
    const std::int64_t distance = part.second;
    const std::int64_t begin = start + distance, end = begin + items_.size[item];
    now_.begin[item] = begin;
    now_.excess[block] += std::max<std::int64_t>(0, end - target_);
    const auto to = std::lower_bound(placed.begin(), placed.end(), begin,
                                     [](const Placed& q, std::int64_t value) { return q.begin < value; });
    const auto from =
        std::find_if(placed.begin(), placed.end(), [&](const Placed& q) { return q.item == item; });
    if (from == placed.end()) {
      placed.insert(to, {begin, end, item});
      continue;
    }
    from->begin = begin;
    from->end = end;
    if (from < to)
      std::rotate(from, from + 1, to);
    else
      std::rotate(to, from, from + 1);
  }
  work_ += placed.size() / 2;
}

void BlockLine::arrange(std::size_t from, std::size_t to, bool swap) {
  const auto at = [&](std::size_t k) { return order_.begin() + static_cast<std::ptrdiff_t>(k); };
  if (swap)
    std::swap(order_[from], order_[to]);
  else if (from < to)
    std::rotate(at(from), at(from) + 1, at(to) + 1);
  else
    std::rotate(at(to), at(from), at(from) + 1);
  for (std::size_t k = std::min(from, to); k <= std::max(from, to); ++k)
    for (auto [item, distance] : blocks_[order_[k]].parts) position_[item] = k;
}

bool BlockLine::change(std::size_t from, std::size_t to, bool swap, std::int64_t limit) {
  switched_.assign(1, order_[from]);
  if (swap) switched_.push_back(order_[to]);
  arrange(from, to, swap);
  before_ = now_;
  work_ = n_ / 2;
  const std::int64_t next = evaluate(std::min(from, to), std::max(from, to), limit);
  meter_.steps(kStepsPerLook * work_);
  if (next <= limit) {
    excess_ = next;
    return true;
  }
  arrange(swap ? from : to, swap ? to : from, swap);
  std::swap(now_, before_);
  return false;
}

void BlockLine::touch(int block) {
  for (auto [item, distance] : blocks_[block].parts) {
    touched_.set(static_cast<std::size_t>(item));
    low_[item] = std::min(before_.begin[item], now_.begin[item]);
  }
}

// Whether something that moved lies, or lay, where it matters: it conflicts, and does not begin above the
// block.
bool BlockLine::touched(int block) {
  const std::int64_t end = now_.begin[blocks_[block].parts.front().first] + extent_[block];
  return touched_.any_of_both(block_conflict_[block], [&](std::size_t item) {
    ++work_;
    return low_[item] < end;
  });
}

// Places from position `first` on; between that and `last` the switched blocks have passed others. Only what
// conflicts with something that moved can move. Returns the excess, or something above `limit` as soon as it
// is.
std::int64_t BlockLine::evaluate(std::size_t first, std::size_t last, std::int64_t limit) {
  touched_ = Bits(n_);
  for (int block : switched_) touch(block);
  std::int64_t sum = 0;
  for (std::size_t k = 0; k < first; ++k) sum += now_.excess[order_[k]];
  for (std::size_t k = first; k < order_.size() && sum <= limit; ++k) {
    const int block = order_[k];
    const bool passed = std::find(switched_.begin(), switched_.end(), block) != switched_.end();
    if (passed || touched(block)) {
      const std::int64_t start = lowest(blocks_[block], k);
      if (start != now_.begin[blocks_[block].parts.front().first]) {
        place(block, start);
        touch(block);
      }
    }
    sum += now_.excess[block];
    if (k != last) continue;
    // Everything lies where it is placed again, so only what moved matters from here on.
    touched_ = Bits(n_);
    bool same = true;
    for (std::size_t j = first; j <= last; ++j)
      if (const int item = blocks_[order_[j]].parts.front().first; now_.begin[item] != before_.begin[item]) {
        touch(order_[j]);
        same = false;
      }
    if (same) return excess_;
  }
  work_ += order_.size() / 2;
  return sum;
}

}  // namespace pipelink::place
