#include "linker/place/exact.h"

#include <algorithm>
#include <tuple>
#include <unordered_set>
#include <utility>

#include "linker/place/bound.h"
#include "linker/place/random.h"

namespace pipelink::place {
namespace {

// What does not depend on where the items have to end.
struct Prepared {
  explicit Prepared(Items part) : items(std::move(part)), cuts(many_cuts(items, 96)) {
    const std::size_t n = items.count();
    in_cuts.resize(n);
    for (std::size_t c = 0; c < cuts.size(); ++c)
      for (std::size_t k = 0; k < cuts[c].members.size(); ++k)
        in_cuts[cuts[c].members[k]].emplace_back(c, cuts[c].weight[k]);
    neighbours.resize(n);
    for (std::size_t i = 0; i < n; ++i)
      items.conflict[i].for_each([&](std::size_t j) { neighbours[i].push_back(static_cast<int>(j)); });
    for (std::size_t i = 0; i < n; ++i) {
      load.push_back(items.size[i]);
      for (int j : neighbours[i]) load[i] += items.size[j];
    }
    twin.assign(n, -1);
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = i; j-- > 0;)
        if (items.size[i] == items.size[j] && items.align[i] == items.align[j] &&
            items.group[i] == items.group[j]) {
          twin[i] = static_cast<int>(j);
          break;
        }
  }

  Items items;
  std::vector<Cut> cuts;
  std::vector<std::vector<std::pair<std::size_t, std::int64_t>>> in_cuts;
  std::vector<std::vector<int>> neighbours;
  std::vector<std::int64_t> load;  // bytes of an item and of all that conflict with it
  std::vector<int> twin;           // the one before among interchangeable items
};

// If there is a placement, there is one of least sum of offsets, and in it every item lies on the highest end
// of the conflicting items below it. The search places items in order of (offset, index) and leaves out what
// cannot be such a placement: an item that could have been put wholly below the next offset must not be left
// for later.
class Search {
 public:
  Search(const Prepared& prepared, std::int64_t end, Preference preference, std::uint64_t seed,
         Allowance& allowance)
      : items_(prepared.items),
        end_(end),
        allowance_(allowance),
        n_(items_.count()),
        preference_(preference),
        random_(seed),
        cuts_(prepared.cuts),
        in_cuts_(prepared.in_cuts),
        neighbours_(prepared.neighbours),
        load_(prepared.load),
        twin_(prepared.twin) {
    offset_.assign(n_, -1);
    earliest_.assign(n_, 0);
    for (const Cut& cut : cuts_) {
      std::int64_t total = 0;
      for (std::int64_t w : cut.weight) total += w;
      left_.push_back(total);
    }
    top_.assign(cuts_.size(), 0);
  }

  Answer run(Offsets& found) {
    const bool yes = extend(0, 0, -1);
    if (yes) {
      found = offset_;
      return Answer::kYes;
    }
    return stopped_ ? Answer::kUnknown : Answer::kNo;
  }

 private:
  struct Candidate {
    int item;
    std::int64_t slack;
  };

  // How many positions of a cut lie in [from, end).
  std::int64_t room(const Cut& cut, std::int64_t from) const {
    auto below = [&](std::int64_t x) {
      return x > cut.residue ? (x - cut.residue - 1) / cut.modulus + 1 : 0;
    };
    return below(end_) - below(from);
  }

  // What is left of a cut must fit above what is placed of it; and any part of it above the lowest offset
  // that this part can have.
  bool cuts_hold(std::int64_t from) {
    for (std::size_t c = 0; c < cuts_.size(); ++c) {
      if (left_[c] == 0) continue;
      const std::int64_t spare = room(cuts_[c], std::max(from, top_[c])) - left_[c];
      if (spare < 0) return false;
      if (cuts_[c].modulus != 1 || spare > end_ / 4) continue;
      heads_.clear();
      for (int i : cuts_[c].members)
        if (offset_[i] < 0) heads_.emplace_back(std::max(from, earliest_[i]), items_.size[i]);
      std::sort(heads_.begin(), heads_.end());
      allowance_.meter().steps(4 * cuts_[c].members.size() + 16 * heads_.size());
      std::int64_t sum = 0;
      for (std::size_t k = heads_.size(); k-- > 0;) {
        sum += heads_[k].second;
        if (heads_[k].first + sum > end_) return false;
      }
    }
    return true;
  }

  bool seen(std::int64_t from, int last) {
    std::uint64_t a = 0x243f6a8885a308d3ULL, b = 0x13198a2e03707344ULL;
    auto mix = [&](std::uint64_t v) {
      a = (a ^ v) * 0x9fb21c651e98df25ULL;
      a ^= a >> 32;
      b = (b + v) * 0xd6e8feb86659fd93ULL;
      b ^= b >> 29;
    };
    mix(static_cast<std::uint64_t>(from));
    mix(static_cast<std::uint64_t>(last) + 1);
    for (std::size_t i = 0; i < n_; ++i)
      mix(offset_[i] >= 0 ? ~std::uint64_t{0} : static_cast<std::uint64_t>(earliest_[i]));
    if (memo_.size() >= kMostMemo) return memo_.count({a, b}) != 0;
    return !memo_.insert({a, b}).second;
  }

  bool extend(std::size_t placed, std::int64_t from, int last) {
    if (placed == n_) return true;
    if (allowance_.exhausted()) {
      stopped_ = true;
      return false;
    }
    allowance_.meter().steps(16 * n_ + 64);
    std::int64_t deadline = INT64_MAX;  // the next offset must be below it
    for (std::size_t i = 0; i < n_; ++i) {
      if (offset_[i] >= 0) continue;
      deadline = std::min(deadline, earliest_[i] + items_.size[i]);
      if (std::max(earliest_[i], align_up(from, items_.align[i])) + items_.size[i] > end_) return false;
    }
    if (deadline <= from || !cuts_hold(from) || seen(from, last)) return false;

    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < n_; ++i) {
      const int item = static_cast<int>(i);
      if (offset_[i] >= 0 || earliest_[i] >= deadline) continue;
      if (earliest_[i] < from || (earliest_[i] == from && item < last)) continue;
      if (twin_[i] >= 0 && offset_[twin_[i]] < 0) continue;
      std::int64_t slack = end_ - earliest_[i] - items_.size[i];
      for (auto [c, w] : in_cuts_[i])
        slack = std::min(slack, (room(cuts_[c], std::max(from, top_[c])) - left_[c]) * cuts_[c].modulus);
      allowance_.meter().steps(4 * in_cuts_[i].size());
      candidates.push_back({item, slack});
    }
    std::stable_sort(candidates.begin(), candidates.end(), [&](const Candidate& x, const Candidate& y) {
      const int a = x.item, b = y.item;
      switch (preference_) {
        case Preference::kTightest:
          break;
        case Preference::kLowest:
          if (earliest_[a] != earliest_[b]) return earliest_[a] < earliest_[b];
          break;
        case Preference::kLargest:
          if (items_.size[a] != items_.size[b]) return items_.size[a] > items_.size[b];
          break;
        case Preference::kLoaded:
          if (load_[a] != load_[b]) return load_[a] > load_[b];
          break;
      }
      return std::tuple(x.slack, earliest_[a], -items_.size[a]) <
             std::tuple(y.slack, earliest_[b], -items_.size[b]);
    });
    if (random_.on())
      for (std::size_t k = 0; k + 1 < candidates.size() && random_.below(4) == 0; ++k)
        std::swap(candidates[k], candidates[k + 1]);
    for (const Candidate& c : candidates) {
      if (place(c.item, placed)) return true;
      if (stopped_) return false;
    }
    return false;
  }

  bool place(int item, std::size_t placed) {
    const std::int64_t at = earliest_[item], end = at + items_.size[item];
    std::vector<std::pair<int, std::int64_t>> raised, tops;
    offset_[item] = at;
    for (int j : neighbours_[item])
      if (offset_[j] < 0 && earliest_[j] < end) {
        raised.emplace_back(j, earliest_[j]);
        earliest_[j] = align_up(end, items_.align[j]);
      }
    for (auto [c, w] : in_cuts_[item]) {
      left_[c] -= w;
      tops.emplace_back(static_cast<int>(c), top_[c]);
      top_[c] = std::max(top_[c], end);
    }
    if (extend(placed + 1, at, item)) return true;
    for (auto [c, w] : in_cuts_[item]) left_[c] += w;
    for (auto [c, top] : tops) top_[c] = top;
    for (auto [j, e] : raised) earliest_[j] = e;
    offset_[item] = -1;
    return false;
  }

  struct Hash {
    std::size_t operator()(const std::pair<std::uint64_t, std::uint64_t>& p) const {
      return static_cast<std::size_t>(p.first);
    }
  };
  static constexpr std::size_t kMostMemo = 250'000;

  const Items& items_;
  const std::int64_t end_;
  Allowance& allowance_;
  const std::size_t n_;
  const Preference preference_;
  Random random_;
  Offsets offset_;                      // −1: not placed
  std::vector<std::int64_t> earliest_;  // aligned end of the conflicting items placed so far
  const std::vector<Cut>& cuts_;
  std::vector<std::int64_t> left_;  // weight of a cut's members that are not placed
  std::vector<std::int64_t> top_;   // highest end of a cut's members that are placed
  const std::vector<std::vector<std::pair<std::size_t, std::int64_t>>>& in_cuts_;
  std::vector<std::pair<std::int64_t, std::int64_t>> heads_;
  const std::vector<std::vector<int>>& neighbours_;
  const std::vector<std::int64_t>& load_;
  const std::vector<int>& twin_;
  std::unordered_set<std::pair<std::uint64_t, std::uint64_t>, Hash> memo_;
  bool stopped_ = false;
};

// Whether item i fits wherever its neighbours lie: each of them keeps it from so many of its possible
// offsets, and there are more.
bool always_fits(const Items& items, std::size_t i, std::int64_t end, const Bits& among) {
  const std::int64_t size = items.size[i], align = items.align[i];
  if (size > end) return false;
  std::int64_t possible = (end - size) / align + 1;
  items.conflict[i].for_each([&](std::size_t j) {
    if (!among.test(j)) return;
    const std::int64_t other = items.size[j];
    possible -= items.align[j] >= align ? (size + align - 1) / align + (other + align - 1) / align - 1
                                        : (size + other + align - 2) / align;
  });
  return possible > 0;
}

// The lowest offset at which nothing that was placed is in the way.
std::int64_t lowest_free(const Items& items, std::size_t i, const Offsets& offset) {
  std::vector<std::pair<std::int64_t, std::int64_t>> taken;
  items.conflict[i].for_each([&](std::size_t j) {
    if (offset[j] >= 0) taken.emplace_back(offset[j], offset[j] + items.size[j]);
  });
  std::sort(taken.begin(), taken.end());
  std::int64_t at = 0;
  for (auto [begin, end] : taken) {
    if (at + items.size[i] <= begin) break;
    at = std::max(at, align_up(end, items.align[i]));
  }
  return at;
}

// The parts of `among` that no conflict connects.
std::vector<std::vector<int>> components(const Items& items, Bits among) {
  std::vector<std::vector<int>> result;
  for (std::size_t first = 0; first < items.count(); ++first) {
    if (!among.test(first)) continue;
    std::vector<int> part{static_cast<int>(first)};
    among.reset(first);
    for (std::size_t k = 0; k < part.size(); ++k)
      items.conflict[part[k]].for_each([&](std::size_t j) {
        if (!among.test(j)) return;
        among.reset(j);
        part.push_back(static_cast<int>(j));
      });
    std::sort(part.begin(), part.end());
    result.push_back(std::move(part));
  }
  return result;
}

}  // namespace

struct Exact::Part {
  std::vector<int> members;
  Prepared prepared;
};

Exact::Exact(const Items& items, std::int64_t end, Meter& meter) : items_(items), end_(end) {
  const std::size_t n = items.count();
  Bits left(n);
  for (std::size_t i = 0; i < n; ++i) left.set(i);
  for (bool more = true; more;) {
    more = false;
    for (std::size_t i = 0; i < n; ++i)
      if (left.test(i) && always_fits(items, i, end, left)) {
        left.reset(i);
        set_aside_.push_back(i);
        more = true;
      }
    meter.steps(n * n + 1);
  }
  for (std::vector<int>& part : components(items, left)) {
    Prepared prepared(subset(items, part));
    meter.units(part.size() * part.size());
    parts_.push_back({std::move(part), std::move(prepared)});
  }
}

Exact::~Exact() = default;

Answer Exact::fits(Offsets& found, Allowance allowance, Preference preference, std::uint64_t seed) const {
  Offsets offset(items_.count(), -1);
  bool unknown = false;
  for (const Part& part : parts_) {
    Offsets placed;
    const Answer answer = Search(part.prepared, end_, preference, seed, allowance).run(placed);
    if (answer == Answer::kNo) return Answer::kNo;
    unknown = unknown || answer == Answer::kUnknown;
    if (answer == Answer::kYes)
      for (std::size_t k = 0; k < part.members.size(); ++k) offset[part.members[k]] = placed[k];
  }
  if (unknown) return Answer::kUnknown;
  for (std::size_t k = set_aside_.size(); k-- > 0;)
    offset[set_aside_[k]] = lowest_free(items_, set_aside_[k], offset);
  found = std::move(offset);
  return Answer::kYes;
}

Answer fits_exactly(const Items& items, std::int64_t end, Offsets& found, Allowance allowance,
                    Preference preference, std::uint64_t seed) {
  return Exact(items, end, allowance.meter()).fits(found, allowance, preference, seed);
}

}  // namespace pipelink::place
