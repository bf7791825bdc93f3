#include "linker/place/waste_free.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "linker/place/pq_tree.h"

namespace pipelink::place {
namespace {

// The ranks of the sets by inclusion, or nothing if they are not a chain.
std::optional<std::vector<int>> ranks(const std::vector<Bits>& sets, int& count) {
  std::map<std::size_t, Bits> by_size;
  for (const Bits& set : sets)
    if (auto [it, fresh] = by_size.emplace(set.count(), set); !fresh && it->second != set) return {};
  for (auto it = by_size.begin(); it != by_size.end(); ++it)
    if (auto next = std::next(it); next != by_size.end() && !next->second.contains(it->second)) return {};
  std::vector<int> result;
  for (const Bits& set : sets)
    result.push_back(static_cast<int>(std::distance(by_size.begin(), by_size.find(set.count()))));
  count = static_cast<int>(by_size.size());
  return result;
}

// A sweep over time. What is known at a point in time is in which orders the live items can lie, given all
// that came before: a PQ-tree. Between two points, items end and others begin. No byte may stay free, so they
// can be divided into groups of equal sums: the items of a group that end are contiguous, and those that
// begin take their place, in any order. The sweep keeps the states with the most orders.
class Sweep {
 public:
  Sweep(const Items& items, std::int64_t end, Allowance& allowance)
      : items_(items), end_(end), allowance_(allowance) {}

  bool suits() {
    const std::size_t n = items_.count(), groups = items_.between_groups.size();
    if (n == 0 || items_.order.empty()) return false;
    if (std::any_of(items_.align.begin(), items_.align.end(), [](std::int64_t a) { return a != 1; }))
      return false;
    std::vector<Bits> earlier(groups, Bits(groups));
    for (std::size_t a = 0; a < groups; ++a)
      items_.order[a].for_each([&](std::size_t b) { earlier[b].set(a); });
    int ends = 0;
    const auto first = ranks(earlier, times_), last = ranks(items_.order, ends);
    if (!first || !last || ends != times_) return false;
    begin_.resize(n);
    stop_.resize(n);
    std::vector<std::int64_t> load(static_cast<std::size_t>(times_));
    for (std::size_t i = 0; i < n; ++i) {
      begin_[i] = (*first)[items_.group[i]];
      stop_[i] = times_ - 1 - (*last)[items_.group[i]];
      for (int t = begin_[i]; t <= stop_[i]; ++t) load[t] += items_.size[i];
    }
    return std::all_of(load.begin(), load.end(), [&](std::int64_t l) { return l == end_; });
  }

  bool run(std::size_t width, Offsets& found) {
    history_.assign(1, {});
    leaves_.clear();
    for (std::size_t i = 0; i < items_.count(); ++i) leaves_.push_back(leaf(static_cast<int>(i)));
    std::vector<PqTree> live;
    for (std::size_t i = 0; i < items_.count(); ++i)
      if (begin_[i] == 0) live.push_back(leaves_[i]);
    history_[0].push_back({pq_any(std::move(live)), 0, nullptr});
    for (int t = 0; t + 1 < times_; ++t) {
      std::vector<State> next = advance(t, width);
      if (next.empty()) return false;
      history_.push_back(std::move(next));
    }
    return place(found);
  }

 private:
  struct Group {
    std::vector<int> ending, beginning;
    std::shared_ptr<const Group> before;  // another one of the same time
  };
  struct State {
    PqTree tree;
    std::size_t parent = 0;  // in the states of the time before
    std::shared_ptr<const Group> groups;
  };
  struct Step {
    State state;
    std::vector<int> ending, beginning;  // not in a group yet
  };

  // Steps of equal length, the best ones.
  class Pool {
   public:
    explicit Pool(std::size_t width) : width_(width) {}
    bool wants(std::int64_t freedom) const { return freedom > least_; }
    void add(Step step) {
      steps_.push_back(std::move(step));
      if (steps_.size() >= 4 * width_) thin();
    }
    std::vector<Step> take() {
      thin();
      return std::move(steps_);
    }

   private:
    void thin() {
      std::stable_sort(steps_.begin(), steps_.end(), [](const Step& a, const Step& b) {
        return a.state.tree->freedom > b.state.tree->freedom;
      });
      std::set<std::pair<std::uint64_t, std::vector<int>>> seen;
      std::vector<Step> kept;
      for (Step& step : steps_) {
        if (kept.size() == width_) break;
        if (seen.emplace(step.state.tree->shape, step.beginning).second) kept.push_back(std::move(step));
      }
      steps_ = std::move(kept);
      if (steps_.size() == width_) least_ = steps_.back().state.tree->freedom;
    }

    const std::size_t width_;
    std::int64_t least_ = INT64_MIN;
    std::vector<Step> steps_;
  };

  PqTree leaf(int i) const {
    return pq_leaf(i,
                   static_cast<std::uint64_t>(items_.size[i]) * 4096 + static_cast<std::uint64_t>(stop_[i]));
  }

  std::int64_t sum(const std::vector<int>& list) const {
    std::int64_t total = 0;
    for (int i : list) total += items_.size[i];
    return total;
  }

  std::vector<State> advance(int t, std::size_t width) {
    std::vector<int> ending, beginning;
    for (std::size_t i = 0; i < items_.count(); ++i) {
      if (stop_[i] == t) ending.push_back(static_cast<int>(i));
      if (begin_[i] == t + 1) beginning.push_back(static_cast<int>(i));
    }
    auto larger = [&](int a, int b) {
      return std::tuple(-items_.size[a], stop_[a], a) < std::tuple(-items_.size[b], stop_[b], b);
    };
    std::sort(ending.begin(), ending.end(), larger);
    std::sort(beginning.begin(), beginning.end(), larger);
    // Steps by the number of items that still have to end.
    std::vector<Pool> pools(ending.size() + 1, Pool(width));
    for (std::size_t k = 0; k < history_[t].size(); ++k)
      pools.back().add({{history_[t][k].tree, k, nullptr}, ending, beginning});
    for (std::size_t left = ending.size(); left > 0; --left)
      for (const Step& step : pools[left].take()) {
        if (allowance_.exhausted()) return {};
        expand(step, pools);
      }
    std::vector<State> result;
    for (Step& step : pools[0].take()) result.push_back(std::move(step.state));
    return result;
  }

  // One more group: the largest item that ends, with others, against items that begin.
  void expand(const Step& step, std::vector<Pool>& pools) {
    std::vector<std::vector<int>> choices;
    std::vector<int> chosen{step.ending.front()};
    subsets(step.ending, 1, chosen, choices);
    if (step.ending.size() > kMostEnding) choices.push_back(step.ending);
    std::vector<bool> marked(items_.count());
    const PqTree& one = leaves_[step.ending.front()];
    for (const std::vector<int>& ending : choices) {
      for (int i : ending) marked[i] = true;
      // Freedom is a sum over the parts of a tree, so it is known before the tree is.
      const PqTree frame = pq_replace(step.state.tree, marked, one);
      allowance_.meter().steps(8 * items_.count());
      Pool& pool = pools[step.ending.size() - ending.size()];
      std::vector<std::vector<int>> sets;
      std::vector<int> set;
      if (frame && ending.size() == step.ending.size()) sets.push_back(step.beginning);
      if (frame && ending.size() < step.ending.size()) with_sum(step.beginning, 0, sum(ending), set, sets);
      for (const std::vector<int>& beginning : sets) {
        std::vector<PqTree> parts;
        for (int i : beginning) parts.push_back(leaves_[i]);
        const PqTree block = pq_any(std::move(parts));
        if (!pool.wants(frame->freedom + block->freedom)) continue;
        allowance_.meter().steps(16 * items_.count());
        Step next;
        next.ending = without(step.ending, ending);
        next.beginning = without(step.beginning, beginning);
        if (next.ending.empty() != next.beginning.empty()) continue;
        next.state = {pq_replace(step.state.tree, marked, block), step.state.parent,
                      std::make_shared<const Group>(Group{ending, beginning, step.state.groups})};
        pool.add(std::move(next));
      }
      for (int i : ending) marked[i] = false;
    }
  }

  static std::vector<int> without(const std::vector<int>& list, const std::vector<int>& removed) {
    std::vector<int> result;
    for (int i : list)
      if (std::find(removed.begin(), removed.end(), i) == removed.end()) result.push_back(i);
    return result;
  }

  void subsets(const std::vector<int>& list, std::size_t from, std::vector<int>& chosen,
               std::vector<std::vector<int>>& result) const {
    result.push_back(chosen);
    if (chosen.size() == kMostEnding) return;
    for (std::size_t k = from; k < list.size(); ++k) {
      chosen.push_back(list[k]);
      subsets(list, k + 1, chosen, result);
      chosen.pop_back();
    }
  }

  bool twins(int a, int b) const { return items_.size[a] == items_.size[b] && stop_[a] == stop_[b]; }

  // Sets of that sum; of twins the first ones.
  void with_sum(const std::vector<int>& list, std::size_t from, std::int64_t rest, std::vector<int>& set,
                std::vector<std::vector<int>>& result) {
    if (rest == 0) {
      result.push_back(set);
      return;
    }
    for (std::size_t k = from; k < list.size() && result.size() < kMostChosen; ++k) {
      allowance_.meter().steps(4);
      if (items_.size[list[k]] > rest || (k > from && twins(list[k], list[k - 1]))) continue;
      set.push_back(list[k]);
      with_sum(list, k + 1, rest - items_.size[list[k]], set, result);
      set.pop_back();
    }
  }

  // Back in time: what lives on lies where it did, and what ended lies where its group's successors began.
  bool place(Offsets& found) {
    const std::int64_t unknown = -1;
    found.assign(items_.count(), unknown);
    std::vector<std::int64_t> key(items_.count());
    std::size_t s = 0;
    for (int t = times_ - 1; t >= 0; --t) {
      const State& state = history_[t][s];
      std::vector<int> order;
      pq_order(state.tree, key, order);
      std::int64_t at = 0;
      for (int i : order) {
        if (found[i] != unknown && found[i] != at) return false;
        found[i] = at;
        at += items_.size[i];
      }
      if (at != end_) return false;
      if (t == 0) break;
      for (std::size_t i = 0; i < key.size(); ++i) key[i] = found[i];
      for (const Group* group = state.groups.get(); group; group = group->before.get()) {
        std::int64_t first = end_;
        for (int i : group->beginning) first = std::min(first, found[i]);
        for (int i : group->ending) key[i] = first;
      }
      s = state.parent;
    }
    return true;
  }

  static constexpr std::size_t kMostEnding = 3;   // of one group, unless it is the last
  static constexpr std::size_t kMostChosen = 40;  // sets of one sum

  const Items& items_;
  const std::int64_t end_;
  Allowance& allowance_;
  int times_ = 0;
  std::vector<int> begin_, stop_;  // of each item, the first and the last time
  std::vector<PqTree> leaves_;
  std::vector<std::vector<State>> history_;  // for each time
};

}  // namespace

Answer fits_without_waste(const Items& items, std::int64_t end, Offsets& found, Allowance allowance) {
  Sweep sweep(items, end, allowance);
  if (!sweep.suits()) return Answer::kUnknown;
  for (std::size_t width = 4; !allowance.exhausted() && width <= 4096; width *= 2)
    if (sweep.run(width, found)) return Answer::kYes;
  return Answer::kUnknown;
}

}  // namespace pipelink::place
