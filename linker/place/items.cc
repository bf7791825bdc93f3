#include "linker/place/items.h"

#include <algorithm>
#include <numeric>

namespace pipelink::place {

Items make_items(const Conflicts& conflicts, const std::vector<std::int64_t>& bytes,
                 const std::vector<std::int64_t>& align) {
  Items items;
  std::int64_t unit = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) unit = std::gcd(unit, std::gcd(bytes[i], align[i]));
  items.unit = std::max<std::int64_t>(1, unit);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    items.size.push_back(bytes[i] / items.unit);
    items.align.push_back(align[i] / items.unit);
  }
  items.conflict = conflicts.of;
  items.group = conflicts.group;
  items.between_groups = conflicts.between_groups;
  items.order = conflicts.order;
  return items;
}

Items subset(const Items& items, const std::vector<int>& keep) {
  Items part;
  part.unit = items.unit;
  part.between_groups = items.between_groups;
  part.order = items.order;
  const std::size_t n = keep.size();
  part.conflict.assign(n, Bits(n));
  for (std::size_t i = 0; i < n; ++i) {
    part.size.push_back(items.size[keep[i]]);
    part.align.push_back(items.align[keep[i]]);
    part.group.push_back(items.group[keep[i]]);
    for (std::size_t j = 0; j < n; ++j)
      if (items.conflict[keep[i]].test(keep[j])) part.conflict[i].set(j);
  }
  return part;
}

std::int64_t footprint_of(const Items& items, const Offsets& offset) {
  std::int64_t end = 0;
  for (std::size_t i = 0; i < items.count(); ++i) end = std::max(end, offset[i] + items.size[i]);
  return end;
}

}  // namespace pipelink::place
