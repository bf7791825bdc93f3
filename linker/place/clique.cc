#include "linker/place/clique.h"

#include <algorithm>
#include <numeric>

namespace pipelink::place {
namespace {

class Search {
 public:
  Search(const std::vector<Bits>& adjacent, const std::vector<std::int64_t>& weight, Allowance& allowance,
         std::int64_t floor)
      : adjacent_(adjacent), weight_(weight), allowance_(allowance) {
    best_.weight = floor;
  }

  Clique run() {
    std::vector<int> all;
    for (std::size_t v = 0; v < weight_.size(); ++v)
      if (weight_[v] > 0) all.push_back(static_cast<int>(v));
    std::vector<int> order;
    std::vector<std::int64_t> bound;
    colour(all, order, bound);
    if (bound.empty() || bound.back() <= best_.weight) return best_;
    greedy(all);
    expand(all, 0);
    std::sort(best_.members.begin(), best_.members.end());
    return best_;
  }

 private:
  // A start: heaviest neighbour first, from every vertex.
  void greedy(const std::vector<int>& all) {
    std::vector<int> order = all;
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return weight_[a] > weight_[b]; });
    for (int first : order) {
      std::vector<int> clique{first};
      std::int64_t total = weight_[first];
      for (int v : order)
        if (v != first &&
            std::all_of(clique.begin(), clique.end(), [&](int u) { return adjacent_[v].test(u); })) {
          clique.push_back(v);
          total += weight_[v];
        }
      if (total > best_.weight) {
        best_.weight = total;
        best_.members = clique;
      }
    }
  }

  // Independent sets, each taking the least remaining weight of its members away from all of them: the sum
  // bounds every clique. Vertices leave in the order in which their weight is used up, with the sum so far.
  void colour(const std::vector<int>& candidates, std::vector<int>& order, std::vector<std::int64_t>& bound) {
    std::vector<std::int64_t> left;
    for (int v : candidates) left.push_back(weight_[v]);
    std::vector<int> alive(candidates.size());
    std::iota(alive.begin(), alive.end(), 0);
    std::int64_t sum = 0;
    std::vector<int> independent;
    while (!alive.empty()) {
      independent.clear();
      std::uint64_t work = 16 + 8 * alive.size();
      for (int i : alive) {
        work += 4 * independent.size();
        const Bits& row = adjacent_[candidates[i]];
        if (std::none_of(independent.begin(), independent.end(),
                         [&](int j) { return row.test(candidates[j]); }))
          independent.push_back(i);
      }
      std::int64_t least = left[independent.front()];
      for (int i : independent) least = std::min(least, left[i]);
      sum += least;
      for (int i : independent)
        if ((left[i] -= least) == 0) {
          order.push_back(candidates[i]);
          bound.push_back(sum);
        }
      std::erase_if(alive, [&](int i) { return left[i] == 0; });
      allowance_.meter().steps(work);
    }
  }

  void expand(const std::vector<int>& candidates, std::int64_t weight) {
    if (candidates.empty()) {
      if (weight > best_.weight) {
        best_.weight = weight;
        best_.members = current_;
      }
      return;
    }
    if (allowance_.exhausted()) {
      best_.proven = false;
      return;
    }
    std::vector<int> order;
    std::vector<std::int64_t> bound;
    colour(candidates, order, bound);
    std::vector<int> left = candidates;
    for (std::size_t i = order.size(); i-- > 0;) {
      if (weight + bound[i] <= best_.weight) return;
      const int v = order[i];
      std::vector<int> inner;
      for (int u : left)
        if (u != v && adjacent_[v].test(u)) inner.push_back(u);
      current_.push_back(v);
      expand(inner, weight + weight_[v]);
      current_.pop_back();
      if (!best_.proven) return;
      std::erase(left, v);
    }
  }

  const std::vector<Bits>& adjacent_;
  const std::vector<std::int64_t>& weight_;
  Allowance& allowance_;
  Clique best_;
  std::vector<int> current_;
};

}  // namespace

Clique heaviest_clique(const std::vector<Bits>& adjacent, const std::vector<std::int64_t>& weight,
                       Allowance allowance, std::int64_t floor) {
  return Search(adjacent, weight, allowance, floor).run();
}

}  // namespace pipelink::place
