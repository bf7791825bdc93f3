// The orders of a set in which certain subsets are contiguous (PQ-trees of Booth and Lueker, without their
// linear time).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace pipelink::place {

struct PqNode;
using PqTree = std::shared_ptr<const PqNode>;  ///< never changed, so trees share their parts

struct PqNode {
  int leaf = -1;              ///< an element, or −1
  bool fixed = false;         ///< the children may only be reversed (Q); else any order is possible (P)
  std::vector<PqTree> parts;  ///< at least two; at least three if fixed
  std::int64_t freedom = 0;   ///< 1024 times the binary logarithm of the number of orders
  std::uint64_t shape = 0;    ///< equal for trees that differ in names only
};

/// `label` is what an element is equal by, for `shape`.
PqTree pq_leaf(int element, std::uint64_t label);

/// Any order of the parts, at least one.
PqTree pq_any(std::vector<PqTree> parts);

/// The orders in which the elements of `marked` are contiguous, with `block` in their place. Null if there is
/// none. `marked` is indexed by element; at least one element of the tree is in it.
PqTree pq_replace(const PqTree& tree, const std::vector<bool>& marked, const PqTree& block);

/// Appends the elements in an order that the tree permits: the one by ascending `key` if it is among them.
void pq_order(const PqTree& tree, const std::vector<std::int64_t>& key, std::vector<int>& elements);

}  // namespace pipelink::place
