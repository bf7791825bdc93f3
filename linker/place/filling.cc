#include "linker/place/filling.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

#include "linker/place/random.h"

namespace pipelink::place {
namespace {

constexpr std::int64_t kWaste = 4096;     // the price of one wasted unit
constexpr int kRounds = 500;              // of improving the prices
constexpr std::size_t kFewWays = 12;      // of filling a hole, for a quick search
constexpr std::size_t kManyWays = 1'000;  // and for one that has tried all
constexpr std::int64_t kFar = INT64_MAX / 4;

// The least harm of a filler of each residue, behind each head.
using HarmByClass = std::vector<std::vector<std::int64_t>>;

// Only sizes modulo A matter for waste, so heads and fillers with equal ones are interchangeable.
class Filler {
 public:
  Filler(const std::vector<std::int64_t>& heads, const std::vector<std::int64_t>& fillers,
         std::int64_t modulus, Allowance allowance, const Taste& taste)
      : modulus_(modulus), random_(taste.seed), allowance_(allowance) {
    for (std::size_t i = 0; i < heads.size(); ++i)
      if (heads[i] % modulus) head_.push_back(static_cast<int>(i));
    const auto hole = [&](int i) { return modulus - heads[i] % modulus; };
    if (random_.on())
      shuffle(head_);
    else
      std::stable_sort(head_.begin(), head_.end(), [&](int a, int b) { return hole(a) < hole(b); });
    for (int i : head_) holes_.push_back(hole(i));
    std::map<std::int64_t, int> count;
    for (std::int64_t size : fillers)
      if (size % modulus) ++count[size % modulus];
    for (auto [residue, n] : count) {
      residue_.push_back(residue);
      count_.push_back(n);
    }
    price_.assign(residue_.size(), 0);
    if (!random_.on()) return;
    harm_.assign(holes_.size(), std::vector<std::int64_t>(residue_.size(), kFar));
    for (std::size_t h = 0; h < holes_.size(); ++h)
      for (std::size_t f = 0; f < fillers.size(); ++f)
        if (const std::int64_t r = fillers[f] % modulus) {
          const auto k = std::lower_bound(residue_.begin(), residue_.end(), r) - residue_.begin();
          harm_[h][k] = std::min(harm_[h][k], taste.harm[head_[h]][f]);
        }
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
  /// residues in each hole, in the order of heads(); the one that stays open is empty.
  bool fits(std::int64_t waste, std::size_t most_ways, Allowance allowance,
            std::vector<std::vector<std::size_t>>& patterns) {
    most_ways_ = most_ways;
    allowance_ = allowance;
    cut_short_ = false;
    const std::int64_t spare = waste * kWaste - relaxed_;
    const std::int64_t dearest = cost_[dearest_hole()];
    std::vector<std::size_t> open;
    for (std::size_t h = 0; h < holes_.size(); ++h)
      if (std::find(holes_.begin(), holes_.begin() + static_cast<std::ptrdiff_t>(h), holes_[h]) ==
          holes_.begin() + static_cast<std::ptrdiff_t>(h))
        open.push_back(h);
    if (random_.on())
      shuffle(open);
    else
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

  const std::vector<int>& heads() const { return head_; }  ///< those with a hole
  std::size_t open() const { return open_; }               ///< index in heads(), of the last fits()
  std::int64_t residue(std::size_t k) const { return residue_[k]; }

 private:
  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t k = list.size(); k > 1; --k) std::swap(list[k - 1], list[random_.below(k)]);
  }

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
    allowance_.meter().steps(2 * m * (residue_.size() + 8));
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
    allowance_.meter().steps(16 * residue_.size() + 64);
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
    const std::vector<std::int64_t> rank = ranks(h, ways);
    std::vector<std::size_t> order(ways.size());
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      return std::pair(rank[a], ways[a].second.size()) < std::pair(rank[b], ways[b].second.size());
    });
    for (const std::size_t w : order) {
      const auto& [price, fillers] = ways[w];
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

  // What is tried first: what is cheap, or what harms little, give or take a third.
  std::vector<std::int64_t> ranks(
      std::size_t h, const std::vector<std::pair<std::int64_t, std::vector<std::size_t>>>& ways) {
    std::vector<std::int64_t> result;
    for (const auto& [price, fillers] : ways) {
      std::int64_t harm = 0;
      if (random_.on())
        for (std::size_t k : fillers) harm += harm_[h][k];
      result.push_back(random_.on() ? harm * static_cast<std::int64_t>(1024 + random_.below(512)) / 1024
                                    : price);
    }
    return result;
  }

  // The ways to fill a hole of r for at most `limit` with `length` more fillers, from class k on. One that
  // passes the same rest twice has fillers that are not needed.
  void list_ways(std::int64_t limit, std::size_t length, std::int64_t r, std::int64_t price, std::size_t k,
                 std::vector<std::size_t>& way, std::vector<std::int64_t>& passed,
                 std::vector<std::pair<std::int64_t, std::vector<std::size_t>>>& ways) {
    allowance_.meter().steps(2 * residue_.size() + 8);
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
  Random random_;
  Allowance allowance_;
  std::vector<int> head_;              // those with a hole
  std::vector<std::int64_t> holes_;    // behind each of them
  HarmByClass harm_;                   // with a taste
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

// Takes the fillers of two or three holes at a time, with others that are not used, and divides them anew, as
// long as that does less harm and wastes no more.
class Exchange {
 public:
  Exchange(const std::vector<std::int64_t>& heads, const std::vector<std::int64_t>& fillers,
           std::int64_t modulus, const Taste& taste, Filling& filling, Allowance allowance)
      : heads_(heads),
        fillers_(fillers),
        modulus_(modulus),
        taste_(taste),
        filling_(filling),
        allowance_(allowance),
        random_(taste.seed) {
    for (std::size_t i = 0; i < heads.size(); ++i)
      if (heads[i] % modulus && static_cast<int>(i) != filling.open) closed_.push_back(static_cast<int>(i));
    behind_.assign(fillers.size(), kNowhere);
    for (std::size_t i = 0; i < heads.size(); ++i)
      for (int f : filling.behind[i]) behind_[f] = static_cast<int>(i);
  }

  void run() {
    if (closed_.size() < 3) return;
    for (int round = 0, idle = 0; round < kExchanges && idle < kExchanges / 2 && !allowance_.exhausted();
         ++round)
      idle = exchange() ? 0 : idle + 1;
    for (std::vector<int>& list : filling_.behind) list.clear();
    for (std::size_t f = 0; f < behind_.size(); ++f)
      if (behind_[f] != kNowhere) filling_.behind[behind_[f]].push_back(static_cast<int>(f));
  }

 private:
  static constexpr int kNowhere = -1;
  static constexpr int kExchanges = 150;
  static constexpr std::size_t kMostOfTwo = 8, kMostOfThree = 7;  // fillers

  std::int64_t waste_of(std::int64_t size) const { return (modulus_ - size % modulus_) % modulus_; }

  bool exchange() {
    chosen_.clear();
    for (const std::size_t count = 2 + random_.below(2); chosen_.size() < count;)
      if (const int i = closed_[random_.below(closed_.size())];
          std::find(chosen_.begin(), chosen_.end(), i) == chosen_.end())
        chosen_.push_back(i);
    pool_.clear();
    size_.clear();
    for (int i : chosen_) size_.push_back(heads_[i]);
    least_ = waste_ = 0;
    std::vector<int> unused;
    std::vector<std::int64_t> filled = size_;
    for (std::size_t f = 0; f < fillers_.size(); ++f) {
      if (behind_[f] == kNowhere && fillers_[f] % modulus_) unused.push_back(static_cast<int>(f));
      for (std::size_t c = 0; c < chosen_.size(); ++c)
        if (behind_[f] == chosen_[c]) {
          pool_.push_back(static_cast<int>(f));
          least_ += taste_.harm[chosen_[c]][f];
          filled[c] += fillers_[f];
        }
    }
    allowance_.meter().steps(fillers_.size());
    const std::size_t most = chosen_.size() == 2 ? kMostOfTwo : kMostOfThree;
    if (least_ == 0 || pool_.size() > most) return false;
    for (std::int64_t size : filled) waste_ += waste_of(size);
    for (; pool_.size() < most && !unused.empty(); unused.pop_back()) {
      std::swap(unused[random_.below(unused.size())], unused.back());
      pool_.push_back(unused.back());
    }
    best_.clear();
    now_.assign(pool_.size(), kNowhere);
    divide(0, 0);
    for (std::size_t k = 0; k < best_.size(); ++k) behind_[pool_[k]] = best_[k];
    return !best_.empty();
  }

  void divide(std::size_t k, std::int64_t harm) {
    allowance_.meter().steps(8);
    if (harm >= least_) return;
    if (k == pool_.size()) {
      std::int64_t waste = 0;
      for (std::int64_t size : size_) waste += waste_of(size);
      if (waste > waste_) return;
      least_ = harm;
      best_ = now_;
      return;
    }
    const int f = pool_[k];
    divide(k + 1, harm);
    for (std::size_t c = 0; c < chosen_.size(); ++c) {
      now_[k] = chosen_[c];
      size_[c] += fillers_[f];
      divide(k + 1, harm + taste_.harm[chosen_[c]][f]);
      size_[c] -= fillers_[f];
    }
    now_[k] = kNowhere;
  }

  const std::vector<std::int64_t>&heads_, &fillers_;
  const std::int64_t modulus_;
  const Taste& taste_;
  Filling& filling_;
  Allowance allowance_;
  Random random_;
  std::vector<int> closed_;  // heads whose holes are filled
  std::vector<int> behind_;  // of each filler, the head
  std::vector<int> chosen_, pool_, now_, best_;
  std::vector<std::int64_t> size_;  // of the chosen heads with their fillers
  std::int64_t least_ = 0, waste_ = 0;
};

}  // namespace

Filling least_waste(const std::vector<std::int64_t>& heads, const std::vector<std::int64_t>& fillers,
                    std::int64_t modulus, Allowance allowance, const Taste& taste) {
  Filling result;
  result.behind.resize(heads.size());
  Filler filler(heads, fillers, modulus, allowance, taste);
  if (filler.nothing_to_fill()) {
    result.found = true;
    if (!filler.heads().empty()) result.open = filler.heads().front();
    return result;
  }
  result.waste = std::max(filler.bound(), taste.waste);
  std::vector<std::vector<std::size_t>> patterns;
  for (;; ++result.waste) {
    Allowance glance(allowance.meter(), allowance.left() / 8);
    result.found = filler.fits(result.waste, kFewWays, glance, patterns) ||
                   filler.fits(result.waste, kManyWays, allowance, patterns);
    if (result.found || !filler.certain()) break;
  }
  if (!result.found) return result;
  result.open = filler.heads()[filler.open()];
  // From residues back to fillers: of equal ones the first, or the one that harms least.
  std::vector<bool> used(fillers.size());
  std::vector<std::size_t> order(patterns.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](std::size_t a, std::size_t b) { return filler.heads()[a] < filler.heads()[b]; });
  for (std::size_t h : order)
    for (std::size_t k : patterns[h]) {
      const int head = filler.heads()[h];
      int best = -1;
      for (std::size_t f = 0; f < fillers.size(); ++f)
        if (!used[f] && fillers[f] % modulus == filler.residue(k) &&
            (best < 0 || (taste.seed != 0 && taste.harm[head][f] < taste.harm[head][best])))
          best = static_cast<int>(f);
      used[best] = true;
      result.behind[head].push_back(best);
    }
  if (taste.seed != 0) Exchange(heads, fillers, modulus, taste, result, allowance).run();
  return result;
}

}  // namespace pipelink::place
