#include "linker/place/warps.h"

#include <algorithm>
#include <bitset>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "linker/place/role_proof.h"

namespace pipelink::place {
namespace {

constexpr int kGroupWarps = 4;
constexpr int kMostGroups = 32;
constexpr int kLeastRegisters = 24;  // that setmaxnreg accepts
constexpr int kMostRegisters = 248;  // a multiple of 8 that a thread can have
constexpr int kGrain = 8;
constexpr std::uint64_t kMostNodes = 20'000;         // of the enumeration; beyond, Z3 is asked
constexpr std::uint64_t kQuestionUnits = 1'500'000;  // for one question to Z3

/// Warpgroups that have one budget: those of a large role with what shares its last one, or a shared one.
struct Part {
  int lo = kLeastRegisters, hi = kLeastRegisters, groups = 1;
  auto operator<=>(const Part&) const = default;
};

/// Budgets by part, the best possible for a pool.
struct Budgets {
  int smallest = -1;
  int sum = 0;             ///< over warpgroups
  std::vector<int> even;   ///< ascending, one per warpgroup
  std::vector<int> value;  ///< by part
};

Part shape(Part p) {
  p.hi = std::clamp(p.hi, p.lo, std::max(p.lo, kMostRegisters));
  return p;
}

// The smallest budget and the sum; false if even the minima exceed the pool.
bool rate(const std::vector<Part>& parts, int pool, Budgets& out) {
  int least = 0, most = 0, cap = INT32_MAX;
  for (const Part& p : parts) {
    least += p.lo * p.groups;
    most += p.hi * p.groups;
    cap = std::min(cap, p.hi);
  }
  if (least > pool) return false;
  auto need = [&](int level) {
    int total = 0;
    for (const Part& p : parts) total += std::max(p.lo, level) * p.groups;
    return total;
  };
  int level = kLeastRegisters;
  while (level + kGrain <= cap && need(level + kGrain) <= pool) level += kGrain;
  out.smallest = INT32_MAX;
  for (const Part& p : parts) out.smallest = std::min(out.smallest, std::max(p.lo, level));
  if (most <= pool) {
    out.sum = most;
    return true;
  }
  std::bitset<1024> reach;
  reach.set(0);
  for (const Part& p : parts) {
    std::bitset<1024> next;
    for (int v = std::max(p.lo, level); v <= p.hi; v += kGrain) next |= reach << (v * p.groups / kGrain);
    reach = next;
  }
  int units = std::min(pool / kGrain, 1023);
  while (!reach.test(units)) --units;
  out.sum = units * kGrain;
  return true;
}

// Among budgets of that smallest value and that sum: the most even, then the largest for the first part, and
// so on.
void spread(const std::vector<Part>& parts, Budgets& out) {
  const int n = static_cast<int>(parts.size()), total = out.sum / kGrain;
  struct Cell {
    std::vector<int> even, value;
  };
  std::vector<int> low(n), before_low(n + 1), before_high(n + 1);
  for (int c = 0; c < n; ++c) {
    low[c] = std::max(parts[c].lo, out.smallest);
    before_low[c + 1] = before_low[c] + low[c] / kGrain * parts[c].groups;
    before_high[c + 1] = before_high[c] + parts[c].hi / kGrain * parts[c].groups;
  }
  std::map<int, Cell> suffix{{0, {}}};
  for (int c = n; c-- > 0;) {
    std::map<int, Cell> next;
    for (const auto& [used, cell] : suffix)
      for (int v = low[c]; v <= parts[c].hi; v += kGrain) {
        const int now = used + v / kGrain * parts[c].groups;
        if (total - now < before_low[c] || total - now > before_high[c]) continue;
        Cell cand;
        cand.even = cell.even;
        cand.even.insert(std::lower_bound(cand.even.begin(), cand.even.end(), v), parts[c].groups, v);
        cand.value.push_back(v);
        cand.value.insert(cand.value.end(), cell.value.begin(), cell.value.end());
        auto [it, fresh] = next.try_emplace(now, cand);
        if (!fresh && std::tie(it->second.even, it->second.value) < std::tie(cand.even, cand.value))
          it->second = std::move(cand);
      }
    suffix = std::move(next);
  }
  out.even = suffix.at(total).even;
  out.value = suffix.at(total).value;
}

class Packer {
 public:
  Packer(const Problem& problem, Meter& meter)
      : roles_(problem.roles), target_(problem.target), meter_(meter) {
    for (std::size_t r = 0; r < roles_.size(); ++r) {
      const int i = static_cast<int>(r);
      if (roles_[r].align_warps < kGroupWarps && roles_[r].warps <= kGroupWarps) {
        small_.push_back(i);
        small_warps_ += roles_[r].warps;
      } else {
        const int groups = (roles_[r].warps + kGroupWarps - 1) / kGroupWarps,
                  tail = roles_[r].warps % kGroupWarps;
        bins_.push_back({groups, tail ? (1 << tail) - 1 : (1 << kGroupWarps) - 1, {{i, 0}}});
        fixed_groups_ += groups;
        ++fixed_bins_;
        free_warps_ += tail ? kGroupWarps - tail : 0;
      }
    }
    std::stable_sort(small_.begin(), small_.end(), [&](int x, int y) {
      const Role &a = roles_[x], &b = roles_[y];
      return std::tuple(-a.warps, -a.align_warps, -a.min_registers, -a.max_registers) <
             std::tuple(-b.warps, -b.align_warps, -b.min_registers, -b.max_registers);
    });
  }

  WarpPlan run() {
    WarpPlan plan;
    if (roles_.empty()) return plan;
    const int most = std::min(warp_capacity(target_) / kGroupWarps, kMostGroups);
    for (int extra = 0; !best_; ++extra) {
      if (fixed_groups_ + extra > most) {
        plan.answer = WarpAnswer::kTooManyWarps;
        return plan;
      }
      if (small_warps_ > free_warps_ + extra * kGroupWarps) continue;
      extra_ = extra;
      nodes_ = 0;
      packed_ = false;
      if (fixed_groups_ + extra > 0) assign(0);
      const bool whole = nodes_ <= kMostNodes;  // everything was enumerated
      const int groups = fixed_groups_ + extra, pool = groups * entry_registers(target_, groups);
      if (!packed_ && !whole) {
        const Answer packs = ask(INT16_MAX, 0, 0).answer;
        if (packs == Answer::kNo) continue;
        packed_ = packs == Answer::kYes;
        if (!packed_) plan.answer = WarpAnswer::kUnknown;
      }
      if (!best_ && packed_) {
        const RoleAnswer fits = whole ? RoleAnswer{Answer::kNo, {}, {}} : ask(pool, 0, 0);
        if (fits.answer == Answer::kYes) adopt(fits);
        if (fits.answer == Answer::kNo) plan.answer = WarpAnswer::kTooManyRegisters;
        if (fits.answer == Answer::kUnknown) plan.answer = WarpAnswer::kUnknown;
      }
      if (plan.answer == WarpAnswer::kTooManyRegisters) {
        plan.entry = entry_registers(target_, groups);
        for (const Part& p : least_parts_) plan.minima.insert(plan.minima.end(), p.groups, p.lo);
      }
      if (plan.answer != WarpAnswer::kPlaced) return plan;
      if (best_ && !whole) plan.proven = improve(pool);
    }
    fill(plan);
    return plan;
  }

 private:
  struct Bin {
    int groups;
    int mask;  ///< warps taken in the last group
    std::vector<std::pair<int, int>>
        roles;  ///< with the first warp, counted from the bin's last group (large: 0)
  };
  struct Best {
    Budgets budgets;
    std::vector<int> by_role;
    std::vector<Bin> bins;
    std::vector<int> order;  ///< bins by part
  };

  RoleAnswer ask(int pool, int smallest, int sum) {
    RoleQuestion q;
    q.pool = pool;
    q.smallest = smallest;
    q.sum = sum;
    for (int r : small_) q.roles.push_back(roles_[r]);
    for (int b = 0; b < fixed_bins_; ++b) {
      const Role& owner = roles_[bins_[b].roles.front().first];
      q.bins.push_back({bins_[b].groups, bins_[b].mask, owner.min_registers, owner.max_registers});
    }
    q.bins.resize(q.bins.size() + static_cast<std::size_t>(extra_));
    return roles_by_z3(q, Allowance(meter_, std::min(kQuestionUnits, meter_.left() / 8)));
  }

  void adopt(const RoleAnswer& found) {
    const std::vector<Bin> before = bins_;
    for (int e = 0; e < extra_; ++e) bins_.push_back({1, 0, {}});
    for (std::size_t k = 0; k < small_.size(); ++k) {
      auto [bin, at] = found.at[k];
      bins_[bin].mask |= ((1 << roles_[small_[k]].warps) - 1) << at;
      bins_[bin].roles.emplace_back(small_[k], at);
    }
    leaf();
    bins_ = before;
  }

  // By bisection: the largest smallest budget, then the largest sum with it. False if a question stayed open.
  bool improve(int pool) {
    const auto raise = [&](int low, int high, auto&& question) {
      while (low < high) {
        const int middle = (low + high + 1) / 2;
        const RoleAnswer found = question(middle * kGrain);
        if (found.answer == Answer::kUnknown) return false;
        if (found.answer == Answer::kYes) adopt(found);
        (found.answer == Answer::kYes ? low : high) = found.answer == Answer::kYes ? middle : middle - 1;
      }
      return true;
    };
    return raise(best_->budgets.smallest / kGrain, kMostRegisters / kGrain,
                 [&](int value) { return ask(pool, value, 0); }) &&
           raise(best_->budgets.sum / kGrain, pool / kGrain,
                 [&](int value) { return ask(pool, best_->budgets.smallest, value); });
  }

  int position(int mask, const Role& role) const {
    const int want = (1 << role.warps) - 1;
    for (int at = 0; at + role.warps <= kGroupWarps; at += role.align_warps)
      if (!(mask & (want << at))) return at;
    return -1;
  }

  void assign(std::size_t k) {
    if (++nodes_ > kMostNodes) return;
    meter_.steps(4);
    if (k == small_.size()) {
      packed_ = true;
      leaf();
      return;
    }
    const Role& role = roles_[small_[k]];
    for (std::size_t b = 0; b < bins_.size(); ++b)
      if (const int at = position(bins_[b].mask, role); at >= 0) {
        const int mask = bins_[b].mask;
        bins_[b].mask |= ((1 << role.warps) - 1) << at;
        bins_[b].roles.emplace_back(small_[k], at);
        assign(k + 1);
        bins_[b].roles.pop_back();
        bins_[b].mask = mask;
      }
    if (used_extra_ < extra_) {
      ++used_extra_;
      bins_.push_back({1, (1 << role.warps) - 1, {{small_[k], 0}}});
      assign(k + 1);
      bins_.pop_back();
      --used_extra_;
    }
  }

  void leaf() {
    // Parts by the first name in them.
    std::vector<int> order(bins_.size());
    std::iota(order.begin(), order.end(), 0);
    auto first = [&](int b) {
      int least = INT32_MAX;
      for (auto [role, at] : bins_[b].roles) least = std::min(least, role);
      return least;
    };
    std::sort(order.begin(), order.end(), [&](int x, int y) { return first(x) < first(y); });
    std::vector<Part> parts;
    int groups = 0, least = 0;
    for (int b : order) {
      Part p;
      p.groups = bins_[b].groups;
      for (auto [role, at] : bins_[b].roles) {
        p.lo = std::max(p.lo, roles_[role].min_registers);
        p.hi = std::max(p.hi, roles_[role].max_registers);
      }
      parts.push_back(shape(p));
      groups += p.groups;
      least += p.groups * p.lo;
    }
    if (least_parts_.empty() || least < least_sum_) {
      least_parts_ = parts;
      least_sum_ = least;
    }
    Budgets budgets;
    meter_.steps(64);
    if (!rate(parts, groups * entry_registers(target_, groups), budgets)) return;
    if (best_ &&
        std::tie(budgets.smallest, budgets.sum) < std::tie(best_->budgets.smallest, best_->budgets.sum))
      return;
    auto [it, fresh] = spread_.try_emplace(parts);
    if (fresh) {
      meter_.steps(1000);
      spread(parts, budgets);
      it->second = budgets;
    } else {
      budgets = it->second;
    }
    std::vector<int> by_role(roles_.size());
    for (std::size_t p = 0; p < order.size(); ++p)
      for (auto [role, at] : bins_[order[p]].roles) by_role[role] = budgets.value[p];
    if (best_ &&
        std::tie(budgets.smallest, budgets.sum, budgets.even, by_role) <=
            std::tie(best_->budgets.smallest, best_->budgets.sum, best_->budgets.even, best_->by_role))
      return;
    best_ = Best{budgets, by_role, bins_, order};
  }

  // Large roles first, then the shared warpgroups, both by first name.
  void fill(WarpPlan& plan) const {
    plan.roles.resize(roles_.size());
    int group = 0;
    for (const bool large : {true, false})
      for (std::size_t p = 0; p < best_->order.size(); ++p) {
        const Bin& bin = best_->bins[best_->order[p]];
        if (is_large(bin) != large) continue;
        for (auto [r, at] : bin.roles) {
          const bool owner = large && r == bin.roles.front().first;
          const int warp = owner ? group * kGroupWarps : (group + bin.groups - 1) * kGroupWarps + at;
          plan.roles[r] = {roles_[r].name, warp, roles_[r].warps, best_->budgets.value[p]};
        }
        plan.budgets.insert(plan.budgets.end(), bin.groups, best_->budgets.value[p]);
        group += bin.groups;
      }
    plan.entry = entry_registers(target_, group);
  }

  bool is_large(const Bin& bin) const {
    const Role& r = roles_[bin.roles.front().first];
    return r.align_warps >= kGroupWarps || r.warps > kGroupWarps;
  }

  const std::vector<Role>& roles_;
  const Target& target_;
  Meter& meter_;
  std::vector<int> small_;
  std::vector<Bin> bins_;
  int small_warps_ = 0, free_warps_ = 0;
  int fixed_groups_ = 0, fixed_bins_ = 0, extra_ = 0, used_extra_ = 0;
  std::uint64_t nodes_ = 0;
  bool packed_ = false;
  std::optional<Best> best_;
  std::vector<Part> least_parts_;
  int least_sum_ = 0;
  std::map<std::vector<Part>, Budgets> spread_;
};

}  // namespace

int entry_registers(const Target& target, int groups) {
  if (groups <= 0) return 0;
  const int each = target.registers / (128 * groups) / target.blocks_per_sm;
  return std::min(each / kGrain * kGrain, kMostRegisters);
}

WarpPlan place_roles(const Problem& problem, Meter& meter) {
  return Packer(problem, meter).run();
}

}  // namespace pipelink::place
