#include "linker/place/filling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace pipelink::place {
namespace {

constexpr std::int64_t kWaste = 4096;     // the price of one wasted unit
constexpr int kRounds = 500;              // of improving the prices
constexpr std::size_t kFewWays = 12;      // of filling a hole, for a quick search
constexpr std::size_t kManyWays = 1'000;  // and for one that has tried all
constexpr std::int64_t kFar = INT64_MAX / 4;

// Only sizes modulo A matter, so heads and fillers with equal ones are interchangeable.
class Filler {
 public:
  Filler(const std::vector<std::int64_t>& heads, const std::vector<std::int64_t>& fillers,
         std::int64_t modulus, Allowance allowance)
      : modulus_(modulus), allowance_(allowance) {
    for (std::int64_t size : heads)
      if (size % modulus) holes_.push_back(modulus - size % modulus);
    std::sort(holes_.begin(), holes_.end());
    std::map<std::int64_t, int> count;
    for (std::int64_t size : fillers)
      if (size % modulus) ++count[size % modulus];
    for (auto [residue, n] : count) {
      residue_.push_back(residue);
      count_.push_back(n);
    }
    price_.assign(residue_.size(), 0);
  }

  bool nothing_to_fill() const { return holes_.size() < 2; }

  /// A bound for the waste: Lagrangian relaxation of "each filler is used once", improved by subgradients.
  std::int64_t bound() {
    std::int64_t best = INT64_MIN, step = 2 * kWaste;
    std::vector<std::int64_t> best_price;
    int idle = 0;
    for (int round = 0; round < kRounds && step > 0 && !allowance_.exhausted(); ++round) {
      fill_costs();
      if (const std::int64_t value = relaxed(); value > best) {
        best = value;
        best_price = price_;
        idle = 0;
      } else if (round > kRounds / 4 && best <= 0) {
        break;
      } else if (++idle == 10) {
        step = step * 2 / 3;
        idle = 0;
        if (best > 0) {
          price_ = best_price;
          continue;
        }
      }
      const std::vector<std::int64_t> excess = usage();
      std::int64_t norm = 0;
      for (std::size_t k = 0; k < excess.size(); ++k)
        if (price_[k] > 0 || excess[k] > 0) norm += excess[k] * excess[k];
      if (norm == 0) break;
      const std::int64_t length =
          std::max<std::int64_t>(1, std::llround(std::sqrt(static_cast<double>(norm))));
      for (std::size_t k = 0; k < excess.size(); ++k)
        price_[k] = std::max<std::int64_t>(0, price_[k] + step * excess[k] / length);
    }
    if (best <= 0) {
      price_.assign(residue_.size(), 0);
      best = 0;
    } else {
      price_ = best_price;
    }
    fill_costs();
    relaxed_ = std::max<std::int64_t>(0, relaxed());
    return (best + kWaste - 1) / kWaste;
  }

  /// Whether the holes can be filled with at most so much waste. Call bound() first. Patterns are the
  /// residues in each hole, in the order of holes(); the one that stays open is empty.
  bool fits(std::int64_t waste, std::size_t most_ways, Allowance allowance,
            std::vector<std::vector<std::size_t>>& patterns) {
    most_ways_ = most_ways;
    allowance_ = allowance;
    cut_short_ = false;
    const std::int64_t spare = waste * kWaste - relaxed_;
    const std::int64_t dearest = cost_[dearest_hole()];
    std::vector<std::size_t> open;
    for (std::size_t h = 0; h < holes_.size(); ++h)
      if (h == 0 || holes_[h] != holes_[h - 1]) open.push_back(h);
    std::stable_sort(open.begin(), open.end(),
                     [&](std::size_t a, std::size_t b) { return cost_[holes_[a]] > cost_[holes_[b]]; });
    for (std::size_t h : open) {
      open_ = h;
      left_ = count_;
      patterns_.assign(holes_.size(), {});
      failed_.clear();
      if (fill(0, spare - (dearest - cost_[holes_[h]]))) {
        patterns = patterns_;
        return true;
      }
      if (allowance_.exhausted()) return false;
    }
    return false;
  }

  /// Whether "no" of the last fits() is certain.
  bool certain() const { return !cut_short_ && !allowance_.exhausted(); }

  const std::vector<std::int64_t>& holes() const { return holes_; }
  std::int64_t residue(std::size_t k) const { return residue_[k]; }

 private:
  // cost_[r]: the least price of filling a hole of r, modulo A.
  void fill_costs() {
    const std::size_t m = static_cast<std::size_t>(modulus_);
    cost_.assign(m, kFar);
    via_.assign(m, -1);
    std::vector<bool> done(m);
    std::vector<std::pair<std::int64_t, std::size_t>> heap{{0, 0}};
    cost_[0] = 0;
    while (!heap.empty()) {
      std::pop_heap(heap.begin(), heap.end(), std::greater<>());
      const std::size_t u = heap.back().second;
      heap.pop_back();
      if (done[u]) continue;
      done[u] = true;
      auto relax = [&](std::int64_t residue, std::int64_t price, int k) {
        const std::size_t v = static_cast<std::size_t>((static_cast<std::int64_t>(u) + residue) % modulus_);
        if (cost_[u] + price >= cost_[v]) return;
        cost_[v] = cost_[u] + price;
        via_[v] = k;
        heap.emplace_back(cost_[v], v);
        std::push_heap(heap.begin(), heap.end(), std::greater<>());
      };
      relax(1, kWaste, -1);
      for (std::size_t k = 0; k < residue_.size(); ++k) relax(residue_[k], price_[k], static_cast<int>(k));
    }
    allowance_.meter().steps(m * (residue_.size() + 8));
  }

  std::int64_t dearest_hole() const {
    return *std::max_element(holes_.begin(), holes_.end(),
                             [&](std::int64_t a, std::int64_t b) { return cost_[a] < cost_[b]; });
  }

  std::int64_t relaxed() const {
    std::int64_t sum = -cost_[dearest_hole()];
    for (std::int64_t h : holes_) sum += cost_[h];
    for (std::size_t k = 0; k < residue_.size(); ++k) sum -= price_[k] * count_[k];
    return sum;
  }

  // How many more of each filler the cheapest filling uses than there are.
  std::vector<std::int64_t> usage() const {
    std::vector<std::int64_t> use(residue_.size());
    for (std::size_t k = 0; k < use.size(); ++k) use[k] = -count_[k];
    bool skipped = false;
    const std::int64_t dearest = dearest_hole();
    for (std::int64_t h : holes_) {
      if (h == dearest && !skipped) {
        skipped = true;
        continue;
      }
      for (std::int64_t r = h; r != 0;) {
        const int k = via_[static_cast<std::size_t>(r)];
        if (k >= 0) ++use[k];
        r = (r - (k < 0 ? 1 : residue_[k]) + modulus_) % modulus_;
      }
    }
    return use;
  }

  // Fills the holes from h on, with so much above the bound to spend.
  bool fill(std::size_t h, std::int64_t spare) {
    if (h == open_) return fill(h + 1, spare);
    if (h == holes_.size()) {
      for (std::size_t k = 0; k < left_.size(); ++k) spare -= price_[k] * left_[k];
      return spare >= 0;
    }
    allowance_.meter().steps(8 * residue_.size() + 16);
    if (allowance_.exhausted()) return false;
    std::vector<int> key = left_;
    key.push_back(static_cast<int>(h));
    if (const auto it = failed_.find(key); it != failed_.end() && it->second >= spare) return false;
    std::vector<std::pair<std::int64_t, std::vector<std::size_t>>> ways;
    std::vector<std::size_t> way;
    std::vector<std::int64_t> passed{holes_[h]};
    longer_ = true;
    for (std::size_t length = 0; std::exchange(longer_, false); ++length)
      list_ways(cost_[holes_[h]] + spare, length, holes_[h], 0, 0, way, passed, ways);
    std::stable_sort(ways.begin(), ways.end(), [](const auto& a, const auto& b) {
      return std::pair(a.first, a.second.size()) < std::pair(b.first, b.second.size());
    });
    for (const auto& [price, fillers] : ways) {
      for (std::size_t k : fillers) --left_[k];
      patterns_[h] = fillers;
      if (fill(h + 1, spare - (price - cost_[holes_[h]]))) return true;
      for (std::size_t k : fillers) ++left_[k];
      patterns_[h].clear();
      if (allowance_.exhausted()) return false;
    }
    if (failed_.size() < kMostFailed) failed_[key] = std::max(failed_[key], spare);
    return false;
  }

  // The ways to fill a hole of r for at most `limit` with `length` more fillers, from class k on. One that
  // passes the same rest twice has fillers that are not needed.
  void list_ways(std::int64_t limit, std::size_t length, std::int64_t r, std::int64_t price, std::size_t k,
                 std::vector<std::size_t>& way, std::vector<std::int64_t>& passed,
                 std::vector<std::pair<std::int64_t, std::vector<std::size_t>>>& ways) {
    allowance_.meter().steps(residue_.size() + 4);
    if (length == 0) {
      if (price + r * kWaste <= limit) ways.emplace_back(price + r * kWaste, way);
      longer_ = longer_ || r != 0;
      return;
    }
    if (r == 0) return;
    if (ways.size() >= most_ways_) {
      cut_short_ = true;
      return;
    }
    for (; k < residue_.size() && !allowance_.exhausted(); ++k) {
      if (left_[k] <= static_cast<int>(std::count(way.begin(), way.end(), k))) continue;
      const std::int64_t rest = (r - residue_[k] + modulus_) % modulus_;
      if (price + price_[k] + cost_[static_cast<std::size_t>(rest)] > limit) continue;
      if (std::find(passed.begin(), passed.end(), rest) != passed.end()) continue;
      way.push_back(k);
      passed.push_back(rest);
      list_ways(limit, length - 1, rest, price + price_[k], k, way, passed, ways);
      way.pop_back();
      passed.pop_back();
    }
  }

  static constexpr std::size_t kMostFailed = 50'000;

  const std::int64_t modulus_;
  Allowance allowance_;
  std::vector<std::int64_t> holes_;    // ascending
  std::vector<std::int64_t> residue_;  // of the classes of fillers
  std::vector<int> count_;
  std::vector<std::int64_t> price_;
  std::vector<std::int64_t> cost_;
  std::vector<int> via_;  // the last filler of the cheapest filling; −1: waste
  std::int64_t relaxed_ = 0;
  std::size_t open_ = 0;
  std::size_t most_ways_ = 0;  // of filling one hole
  bool longer_ = false;        // there may be longer ways
  bool cut_short_ = false;     // not every way was tried
  std::vector<int> left_;
  std::vector<std::vector<std::size_t>> patterns_;
  std::map<std::vector<int>, std::int64_t> failed_;
};

}  // namespace

Filling least_waste(const std::vector<std::int64_t>& heads, const std::vector<std::int64_t>& fillers,
                    std::int64_t modulus, Allowance allowance) {
  Filling result;
  result.behind.resize(heads.size());
  Filler filler(heads, fillers, modulus, allowance);
  if (filler.nothing_to_fill()) {
    result.found = true;
    return result;
  }
  result.waste = filler.bound();
  std::vector<std::vector<std::size_t>> patterns;
  for (;; ++result.waste) {
    Allowance glance(allowance.meter(), allowance.left() / 8);
    result.found = filler.fits(result.waste, kFewWays, glance, patterns) ||
                   filler.fits(result.waste, kManyWays, allowance, patterns);
    if (result.found || !filler.certain()) break;
  }
  if (!result.found) return result;
  // From residues back to sizes, both in the order in which they were given.
  std::vector<bool> used(fillers.size()), taken(patterns.size());
  for (std::size_t i = 0; i < heads.size(); ++i) {
    if (heads[i] % modulus == 0) continue;
    for (std::size_t h = 0; h < patterns.size(); ++h) {
      if (taken[h] || filler.holes()[h] != modulus - heads[i] % modulus) continue;
      taken[h] = true;
      for (std::size_t k : patterns[h])
        for (std::size_t f = 0; f < fillers.size(); ++f)
          if (!used[f] && fillers[f] % modulus == filler.residue(k)) {
            used[f] = true;
            result.behind[i].push_back(static_cast<int>(f));
            break;
          }
      break;
    }
  }
  return result;
}

}  // namespace pipelink::place
