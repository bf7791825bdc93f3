#include "linker/bind/graph.h"

#include <algorithm>
#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/connected_components.hpp>
#include <boost/graph/strong_components.hpp>
#include <queue>

namespace pipelink::binding {
namespace {

// Descriptors are indices and edges come sorted, so results do not vary between runs.
using Undirected = boost::adjacency_list<boost::vecS, boost::vecS, boost::undirectedS>;
using Directed = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS>;

/// A shortest path from `start` back to itself within its knot.
std::vector<std::size_t> cycle_through(const Directed& graph, std::size_t start,
                                       const std::vector<std::size_t>& knot) {
  std::vector<std::size_t> from(boost::num_vertices(graph), boost::num_vertices(graph));
  std::queue<std::size_t> open;
  open.push(start);
  while (!open.empty()) {
    const std::size_t at = open.front();
    open.pop();
    for (auto [it, end] = boost::adjacent_vertices(at, graph); it != end; ++it) {
      const std::size_t next = *it;
      if (next == start) {
        std::vector<std::size_t> path{at};
        while (path.back() != start) path.push_back(from[path.back()]);
        std::reverse(path.begin(), path.end());
        return path;
      }
      if (knot[next] != knot[start] || from[next] != from.size()) continue;
      from[next] = at;
      open.push(next);
    }
  }
  return {};
}

}  // namespace

std::vector<std::size_t> connected_parts(std::size_t vertices, const Edges& edges) {
  const Undirected graph(edges.begin(), edges.end(), vertices);
  std::vector<std::size_t> part(vertices);
  if (vertices > 0) boost::connected_components(graph, part.data());
  return part;
}

Order dependency_order(std::size_t vertices, const Edges& edges) {
  Order order;
  if (vertices == 0) return order;
  const Directed graph(edges.begin(), edges.end(), vertices);
  std::vector<std::size_t> knot(vertices);
  const std::size_t knots = static_cast<std::size_t>(boost::strong_components(graph, knot.data()));

  // Tarjan's numbering is a reverse topological order of the knots: what is needed has the lower number.
  std::vector<std::vector<std::size_t>> members(knots);
  for (std::size_t v = 0; v < vertices; ++v) members[knot[v]].push_back(v);
  for (const std::vector<std::size_t>& group : members) {
    const std::size_t least = group.front();
    if (group.size() == 1 && !edges.count({least, least})) {
      order.sequence.push_back(least);
    } else {
      order.cycles.push_back(cycle_through(graph, least, knot));
    }
  }
  std::sort(order.cycles.begin(), order.cycles.end());
  return order;
}

std::vector<std::vector<std::size_t>> shortest_cycles(std::size_t vertices, const Edges& edges) {
  constexpr std::size_t kTried = 64;  // vertices of one knot: bounds the work
  std::vector<std::vector<std::size_t>> cycles;
  if (vertices == 0) return cycles;
  const Directed graph(edges.begin(), edges.end(), vertices);
  std::vector<std::size_t> knot(vertices);
  std::vector<std::vector<std::size_t>> members(boost::strong_components(graph, knot.data()));
  for (std::size_t v = 0; v < vertices; ++v) members[knot[v]].push_back(v);
  for (const std::vector<std::size_t>& group : members) {
    if (group.size() == 1 && !edges.count({group.front(), group.front()})) continue;
    std::vector<std::size_t> best;
    for (std::size_t i = 0; i < group.size() && i < kTried; ++i) {
      std::vector<std::size_t> cycle = cycle_through(graph, group[i], knot);
      if (best.empty() || cycle.size() < best.size()) best = std::move(cycle);
    }
    cycles.push_back(std::move(best));
  }
  return cycles;
}

}  // namespace pipelink::binding
