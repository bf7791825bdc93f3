#include "linker/place/reuse.h"

#include <algorithm>
#include <deque>
#include <map>
#include <tuple>
#include <utility>

#include "linker/place/canonical.h"

namespace pipelink::place {
namespace {

using Names = std::vector<std::string>;

/// Shortest chains of declared orders between phases, within an iteration or into the next one.
class Chains {
 public:
  explicit Chains(const Problem& problem) : problem_(canonical(problem)) {
    const std::size_t n = problem_.phases.size();
    next_.resize(n);
    for (std::size_t q = 0; q < n; ++q) {
      for (const std::string& p : problem_.phases[q].after) add(p, q, 0);
      if (problem_.loop)
        for (const std::string& p : problem_.phases[q].after_previous) add(p, q, 1);
    }
  }

  bool loop() const { return problem_.loop; }

  /// Empty if there is none.
  const OrderPath& path(const std::string& from, const std::string& to, int crossings) {
    const auto [it, fresh] = found_.try_emplace({from, to, crossings});
    if (fresh) it->second = search(from, to, crossings);
    return it->second;
  }

  /// From the phases of `a` that no other of `a` follows to those of `b` that follow no other of `b`.
  std::vector<OrderPath> between(const Names& a, const Names& b, int crossings) {
    std::vector<OrderPath> out;
    for (const std::string& from : ends(a, true))
      for (const std::string& to : ends(b, false)) {
        const OrderPath& found = path(from, to, crossings);
        if (!found.path.empty()) out.push_back(found);
      }
    return out;
  }

  bool before(const Names& a, const Names& b) {
    for (const std::string& x : a)
      for (const std::string& y : b)
        if (path(x, y, 0).path.empty()) return false;
    return true;
  }

 private:
  struct Edge {
    std::size_t to;
    int crossings;
  };

  void add(const std::string& from, std::size_t to, int crossings) {
    if (const int p = find_sorted(problem_.phases, from); p >= 0)
      next_[static_cast<std::size_t>(p)].push_back({to, crossings});
  }

  Names ends(const Names& live, bool last) {
    Names out;
    for (const std::string& p : live) {
      const bool inner = std::any_of(live.begin(), live.end(), [&](const std::string& q) {
        return p != q && !(last ? path(p, q, 0) : path(q, p, 0)).path.empty();
      });
      if (!inner) out.push_back(p);
    }
    return out;
  }

  OrderPath search(const std::string& from, const std::string& to, int crossings) const {
    const int start = find_sorted(problem_.phases, from), goal = find_sorted(problem_.phases, to);
    if (start < 0 || goal < 0) return {};
    const std::size_t n = problem_.phases.size();
    const auto node = [&](std::size_t phase, int crossed) {
      return phase + n * static_cast<std::size_t>(crossed);
    };
    constexpr std::size_t kNone = static_cast<std::size_t>(-1);
    std::vector<std::size_t> came(2 * n, kNone);
    const std::size_t first = node(static_cast<std::size_t>(start), 0);
    const std::size_t target = node(static_cast<std::size_t>(goal), crossings);
    std::deque<std::size_t> open{first};
    while (!open.empty() && came[target] == kNone) {
      const std::size_t at = open.front();
      open.pop_front();
      for (const Edge& e : next_[at % n]) {
        const int crossed = static_cast<int>(at / n) + e.crossings;
        if (crossed > crossings || came[node(e.to, crossed)] != kNone) continue;
        came[node(e.to, crossed)] = at;
        open.push_back(node(e.to, crossed));
      }
    }
    if (came[target] == kNone) return {};
    OrderPath out;
    std::vector<std::size_t> nodes{target};
    do nodes.push_back(came[nodes.back()]);
    while (nodes.back() != first);
    std::reverse(nodes.begin(), nodes.end());
    for (std::size_t at : nodes) {
      if (at >= n && out.crossing == 0) out.crossing = out.path.size();
      out.path.push_back(problem_.phases[at % n].name);
    }
    return out;
  }

  Problem problem_;
  std::vector<std::vector<Edge>> next_;
  std::map<std::tuple<std::string, std::string, int>, OrderPath> found_;
};

Reuse explain(Chains& chains, const Claim& a, const Claim& b) {
  const bool forward = chains.before(a.live, b.live);
  const Claim& first = forward ? a : b;
  const Claim& second = forward ? b : a;
  Reuse out;
  out.first = first.name;
  out.second = second.name;
  out.within = chains.between(first.live, second.live, 0);
  if (chains.loop()) out.across = chains.between(second.live, first.live, 1);
  return out;
}

void sort(std::vector<Reuse>& list) {
  std::sort(list.begin(), list.end(), [](const Reuse& a, const Reuse& b) {
    return std::tie(a.offset, a.first, a.second) < std::tie(b.offset, b.first, b.second);
  });
}

}  // namespace

std::vector<Reuse> shared_reuse(const Problem& problem, const Solution& solution) {
  Chains chains(problem);
  std::vector<Reuse> out;
  for (std::size_t i = 0; i < problem.buffers.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const BufferPlacement& a = *solution.buffer(problem.buffers[i].name);
      const BufferPlacement& b = *solution.buffer(problem.buffers[j].name);
      const std::int64_t begin = std::max(a.offset, b.offset);
      const std::int64_t end = std::min(a.offset + a.bytes, b.offset + b.bytes);
      if (begin >= end) continue;
      out.push_back(explain(chains, problem.buffers[i], problem.buffers[j]));
      out.back().offset = begin;
      out.back().bytes = end - begin;
    }
  sort(out);
  return out;
}

std::vector<Reuse> column_reuse(const Problem& problem, const Solution& solution) {
  Chains chains(problem);
  std::vector<Reuse> out;
  const std::vector<TensorColumns>& claims = problem.tensor_columns;
  for (std::size_t i = 0; i < claims.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const ColumnPlacement& a = *solution.columns(claims[i].name);
      const ColumnPlacement& b = *solution.columns(claims[j].name);
      const int begin = std::max(a.column, b.column);
      const int end = std::min(a.column + a.columns, b.column + b.columns);
      if (begin >= end) continue;
      out.push_back(explain(chains, claims[i], claims[j]));
      out.back().offset = begin;
      out.back().bytes = end - begin;
    }
  sort(out);
  return out;
}

std::vector<Reuse> barrier_reuse(const Problem& problem, const Solution& solution) {
  Chains chains(problem);
  std::vector<Reuse> out;
  for (std::size_t i = 0; i < problem.barriers.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      const int id = solution.barrier(problem.barriers[i].name)->id;
      if (id != solution.barrier(problem.barriers[j].name)->id) continue;
      out.push_back(explain(chains, problem.barriers[i], problem.barriers[j]));
      out.back().offset = id;
    }
  sort(out);
  return out;
}

std::vector<std::string> phases_in_order(const Problem& problem) {
  const Problem sorted = canonical(problem);
  std::vector<std::string> out;
  std::vector<bool> done(sorted.phases.size(), false);
  // Each time the first by name whose predecessors are all there.
  while (out.size() < sorted.phases.size()) {
    std::size_t pick = sorted.phases.size();
    for (std::size_t p = 0; p < sorted.phases.size() && pick == sorted.phases.size(); ++p) {
      if (done[p]) continue;
      const Names& after = sorted.phases[p].after;
      const bool ready = std::all_of(after.begin(), after.end(), [&](const std::string& name) {
        const int q = find_sorted(sorted.phases, name);
        return q < 0 || done[static_cast<std::size_t>(q)];
      });
      if (ready) pick = p;
    }
    if (pick == sorted.phases.size()) break;  // a cycle, which validate() refuses
    done[pick] = true;
    out.push_back(sorted.phases[pick].name);
  }
  return out;
}

}  // namespace pipelink::place
