// The questions that are asked of graphs of ports and of steps.
#pragma once

#include <cstddef>
#include <set>
#include <utility>
#include <vector>

namespace pipelink::binding {

using Edges = std::set<std::pair<std::size_t, std::size_t>>;

/// For each vertex the number of its connected component, edges taken as undirected.
std::vector<std::size_t> connected_parts(std::size_t vertices, const Edges& edges);

struct Order {
  std::vector<std::size_t> sequence;             ///< targets before sources; without the vertices on cycles
  std::vector<std::vector<std::size_t>> cycles;  ///< one shortest cycle of each knot, from its least vertex
};

/// An edge (a, b) says that a needs b.
Order dependency_order(std::size_t vertices, const Edges& edges);

/// A shortest cycle of each knot of vertices that need each other, those that the others need first.
std::vector<std::vector<std::size_t>> shortest_cycles(std::size_t vertices, const Edges& edges);

}  // namespace pipelink::binding
