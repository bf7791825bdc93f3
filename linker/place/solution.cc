#include "linker/place/solution.h"

#include <algorithm>

namespace pipelink::place {
namespace {

template <class T>
const T* find(const std::vector<T>& list, std::string_view name) {
  auto it = std::lower_bound(list.begin(), list.end(), name,
                             [](const T& t, std::string_view n) { return t.name < n; });
  return it != list.end() && it->name == name ? &*it : nullptr;
}

}  // namespace

const RingDepth* Solution::ring(std::string_view name) const {
  return find(rings, name);
}
const BufferPlacement* Solution::buffer(std::string_view name) const {
  return find(buffers, name);
}
const BarrierPlacement* Solution::barrier(std::string_view name) const {
  return find(barriers, name);
}
const ColumnPlacement* Solution::columns(std::string_view name) const {
  return find(tensor_columns, name);
}
const RolePlacement* Solution::role(std::string_view name) const {
  return find(roles, name);
}

}  // namespace pipelink::place
