#include "linker/place/antichain.h"

#include <boost/graph/adjacency_list.hpp>
#include <boost/graph/boykov_kolmogorov_max_flow.hpp>
#include <numeric>

namespace pipelink::place {
namespace {

using Traits = boost::adjacency_list_traits<boost::vecS, boost::vecS, boost::directedS>;
struct Vertex {
  boost::default_color_type color{};
  std::int64_t distance = 0;
  Traits::edge_descriptor predecessor;
};
struct Edge {
  std::int64_t capacity = 0, residual = 0;
  Traits::edge_descriptor reverse;
};
using Network = boost::adjacency_list<boost::vecS, boost::vecS, boost::directedS, Vertex, Edge>;

void connect(Network& network, std::size_t from, std::size_t to, std::int64_t capacity) {
  const auto forth = boost::add_edge(from, to, network).first;
  const auto back = boost::add_edge(to, from, network).first;
  network[forth].capacity = capacity;
  network[forth].reverse = back;
  network[back].reverse = forth;
}

}  // namespace

// Each unit of weight is a copy of its vertex, and copies are not ordered. A chain cover of W copies with k
// chains is a matching of W − k of them to their successors: source → a (weight) → b after a → sink (weight).
// The side of a minimum cut that the source can reach gives the antichain (König).
Clique heaviest_antichain(const std::vector<Bits>& order, const std::vector<std::int64_t>& weight,
                          Meter& meter) {
  const std::size_t n = order.size(), source = 2 * n, sink = 2 * n + 1;
  const std::int64_t total = std::accumulate(weight.begin(), weight.end(), std::int64_t{0});
  Network network(2 * n + 2);
  std::size_t edges = 0;
  for (std::size_t a = 0; a < n; ++a) {
    if (weight[a] <= 0) continue;
    connect(network, source, a, weight[a]);
    connect(network, n + a, sink, weight[a]);
    order[a].for_each([&](std::size_t b) {
      if (weight[b] <= 0) return;
      connect(network, a, n + b, total);
      ++edges;
    });
  }
  const std::int64_t flow = boost::boykov_kolmogorov_max_flow(
      network, boost::get(&Edge::capacity, network), boost::get(&Edge::residual, network),
      boost::get(&Edge::reverse, network), boost::get(&Vertex::predecessor, network),
      boost::get(&Vertex::color, network), boost::get(&Vertex::distance, network),
      boost::get(boost::vertex_index, network), source, sink);
  meter.steps(16 * (edges + 2 * n));
  Clique result;
  result.weight = total - flow;
  const auto reached = [&](std::size_t v) { return network[v].color == boost::black_color; };
  for (std::size_t a = 0; a < n; ++a)
    if (weight[a] > 0 && reached(a) && !reached(n + a)) result.members.push_back(static_cast<int>(a));
  return result;
}

}  // namespace pipelink::place
