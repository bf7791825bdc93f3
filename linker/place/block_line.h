// Blocks in an order that can be changed, placed by it: each at its lowest free offset, one after the other.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "linker/place/items.h"
#include "linker/place/meter.h"

namespace pipelink::place {

/// Items that keep their distances.
struct Block {
  std::vector<std::pair<int, std::int64_t>>
      parts;  ///< item, distance from the block's start; the first is at 0
  std::int64_t align = 1;
  std::int64_t size = 0;  ///< up to what may follow without waste
};

/// Every item as a block.
std::vector<Block> single_blocks(const Items& items);

class BlockLine {
 public:
  /// `order` holds indices of blocks. `target` is where everything should end. The references must outlive
  /// this.
  BlockLine(const Items& items, const std::vector<Block>& blocks, std::vector<int> order, std::int64_t target,
            Meter& meter);

  std::size_t size() const { return order_.size(); }
  std::int64_t excess() const { return excess_; }  ///< sum over the items that end above the target
  std::int64_t footprint() const;
  const Offsets& offsets() const { return now_.begin; }

  /// Moves the block at `from` to `to`, or swaps the two. Takes that back and returns false if the excess
  /// would become larger than `limit`.
  bool change(std::size_t from, std::size_t to, bool swap, std::int64_t limit);

  /// Items that end above the target, ascending. Never empty while excess() is not 0.
  void over(std::vector<int>& items) const;
  std::size_t position_of(int item) const { return position_[item]; }

  /// From an item down, each time to the one that ends last below: what keeps it where it is.
  void chain(int item, std::vector<int>& items) const;

 private:
  struct Placed {
    std::int64_t begin, end;
    int item;
  };
  struct Interval {
    std::int64_t above, below;
  };
  struct State {
    std::vector<Placed> by_offset;     // all items
    Offsets begin;                     // of each item
    std::vector<std::int64_t> excess;  // of each block
  };

  std::int64_t lowest(const Block& block, std::size_t position);
  void place(int block, std::int64_t start);
  void arrange(std::size_t from, std::size_t to, bool swap);
  std::int64_t evaluate(std::size_t first, std::size_t last, std::int64_t limit);
  bool touched(int block);
  void touch(int block);

  const Items& items_;
  const std::vector<Block>& blocks_;
  const std::int64_t target_;
  Meter& meter_;
  const std::size_t n_;
  std::vector<std::uint8_t> conflict_;  // item × item
  std::vector<Bits> block_conflict_;    // items that conflict with any part
  std::vector<std::vector<int>> neighbours_;
  std::vector<int> order_;
  std::vector<std::size_t> position_;  // of each item: that of its block
  State now_, before_;
  std::vector<int> switched_;  // blocks that others have passed
  Bits touched_;               // items that lie elsewhere than before, or were passed
  std::int64_t excess_ = 0;
  Offsets low_;                       // of these, the lower offset of before and now
  std::vector<std::int64_t> extent_;  // of each block, from its start to its last end
  std::uint64_t work_ = 0;
  std::vector<Interval> obstacles_;
  std::vector<const Interval*> next_;
};

}  // namespace pipelink::place
