#include "linker/place/barriers.h"

#include <algorithm>

#include "linker/place/clique.h"

namespace pipelink::place {
namespace {

// Brélaz: the vertex with most colours around it first, then the one with most neighbours, then the first by
// name.
class Search {
 public:
  Search(const std::vector<Bits>& conflict, Allowance& allowance)
      : conflict_(conflict), allowance_(allowance), n_(conflict.size()) {
    colour_.assign(n_, -1);
  }

  void run(Colouring& result) {
    best_count_ = static_cast<int>(n_) + 1;
    lower_ = result.bound;
    for (std::size_t k = 0; k < result.clique.size(); ++k) colour_[result.clique[k]] = static_cast<int>(k);
    extend(static_cast<int>(result.clique.size()), n_ - result.clique.size());
    result.colour = best_;
    result.count = best_count_;
    if (!stopped_) result.bound = best_count_;
  }

 private:
  void extend(int used, std::size_t left) {
    if (used >= best_count_) return;
    if (left == 0) {
      best_count_ = used;
      best_ = colour_;
      return;
    }
    // Without a colouring yet, the first descent always ends.
    if (!best_.empty() && (stopped_ = stopped_ || allowance_.exhausted())) return;
    allowance_.meter().steps(8 * n_);
    int vertex = -1;
    std::size_t most_colours = 0, most_neighbours = 0;
    Bits around_vertex;
    for (std::size_t v = 0; v < n_; ++v) {
      if (colour_[v] >= 0) continue;
      Bits around(n_);
      conflict_[v].for_each([&](std::size_t u) {
        if (colour_[u] >= 0) around.set(static_cast<std::size_t>(colour_[u]));
      });
      const std::size_t colours = around.count(), neighbours = conflict_[v].count();
      if (vertex < 0 || colours > most_colours || (colours == most_colours && neighbours > most_neighbours)) {
        vertex = static_cast<int>(v);
        most_colours = colours;
        most_neighbours = neighbours;
        around_vertex = around;
      }
    }
    for (int c = 0; c <= used && c + 1 < best_count_; ++c) {
      if (c < used && around_vertex.test(static_cast<std::size_t>(c))) continue;
      colour_[vertex] = c;
      extend(std::max(used, c + 1), left - 1);
      colour_[vertex] = -1;
      if (stopped_ || best_count_ <= lower_) return;
    }
  }

  const std::vector<Bits>& conflict_;
  Allowance& allowance_;
  const std::size_t n_;
  std::vector<int> colour_, best_;
  int best_count_ = 0;
  int lower_ = 0;
  bool stopped_ = false;
};

}  // namespace

Colouring fewest_colours(const std::vector<Bits>& conflict, Allowance allowance) {
  Colouring result;
  if (conflict.empty()) return result;
  const std::vector<std::int64_t> ones(conflict.size(), 1);
  result.clique = heaviest_clique(conflict, ones, Allowance(allowance.meter(), allowance.left() / 2)).members;
  result.bound = static_cast<int>(result.clique.size());
  Search(conflict, allowance).run(result);
  std::vector<int> number(conflict.size() + 1, -1);
  int next = 0;
  for (int& c : result.colour) {
    if (number[c] < 0) number[c] = next++;
    c = number[c];
  }
  return result;
}

}  // namespace pipelink::place
