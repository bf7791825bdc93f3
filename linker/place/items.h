// What is packed: intervals with sizes, alignments and conflicts, in units of the greatest common divisor.
#pragma once

#include <cstdint>
#include <vector>

#include "linker/place/bits.h"
#include "linker/place/relation.h"

namespace pipelink::place {

struct Items {
  std::int64_t unit = 1;            ///< bytes of one unit
  std::vector<std::int64_t> size;   ///< in units, positive
  std::vector<std::int64_t> align;  ///< in units, a power of two or 1
  std::vector<Bits> conflict;       ///< symmetric, without the diagonal
  std::vector<int> group;           ///< items of one group conflict with the same others, and with each other
  std::vector<Bits> between_groups;
  std::vector<Bits> order;  ///< of groups, see Conflicts; may be empty

  std::size_t count() const { return size.size(); }
};

Items make_items(const Conflicts& conflicts, const std::vector<std::int64_t>& bytes,
                 const std::vector<std::int64_t>& align);

/// The items of `keep`, in that order, as a problem of its own. The unit stays.
Items subset(const Items& items, const std::vector<int>& keep);

inline std::int64_t align_up(std::int64_t value, std::int64_t align) {
  return (value + align - 1) / align * align;
}

/// `offset` holds one start per item, in units.
using Offsets = std::vector<std::int64_t>;

std::int64_t footprint_of(const Items& items, const Offsets& offset);

enum class Answer { kYes, kNo, kUnknown };

}  // namespace pipelink::place
