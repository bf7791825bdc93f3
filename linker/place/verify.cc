// Naive on purpose: orders are followed edge by edge over iterations written out, claims are compared pair by
// pair.
#include "linker/place/verify.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace pipelink::place {
namespace {

class Verifier {
 public:
  Verifier(const Problem& problem, const Solution& solution) : p_(problem), s_(solution) {}

  Diagnostics run() {
    unroll();
    rings();
    buffers();
    barriers();
    columns();
    roles();
    return std::move(found_);
  }

 private:
  using Names = std::set<std::string>;

  void report(std::string title, std::vector<LabelledFact> facts = {}) {
    Diagnostic d;
    d.clause = "L-VERIFY";
    d.title = std::move(title);
    d.facts = std::move(facts);
    found_.push_back(std::move(d));
  }
  static LabelledFact fact(const Claim& c, std::string text) {
    return {c.owner, c.name + " " + std::move(text), c.where};
  }

  static constexpr std::size_t kMostIterations = 8192;  // bad input must not make this endless

  // What follows each phase: in its own iteration, and in every later one. Iterations are written out one by
  // one until what is reached is what was reached before: from there on it repeats.
  void unroll() {
    std::map<std::string, Names> now, later;
    for (const Phase& phase : p_.phases) {
      for (const std::string& before : phase.after) now[before].insert(phase.name);
      for (const std::string& before : phase.after_previous) later[before].insert(phase.name);
    }
    const auto within = [&](const Names& from) {
      Names reached;
      std::vector<std::string> open(from.begin(), from.end());
      while (!open.empty()) {
        const std::string at = open.back();
        open.pop_back();
        for (const std::string& to : now[at])
          if (reached.insert(to).second) open.push_back(to);
      }
      return reached;
    };
    for (const Phase& start : p_.phases) {
      Names reached = within({start.name});
      follows_[start.name] = reached;
      if (!p_.loop) continue;
      reached.insert(start.name);
      Names always;
      bool first = true;
      std::set<Names> seen;
      while (first || !always.empty()) {
        Names entered;
        for (const std::string& at : reached) entered.insert(later[at].begin(), later[at].end());
        reached = within(entered);
        reached.insert(entered.begin(), entered.end());
        if (first) always = reached;
        first = false;
        std::erase_if(always, [&](const std::string& name) { return !reached.count(name); });
        if (!seen.insert(reached).second) break;
        if (seen.size() > kMostIterations) break;
      }
      follows_later_[start.name] = always;
    }
  }

  static bool precedes(const std::map<std::string, Names>& follows, const Claim& a, const Claim& b) {
    for (const std::string& x : a.live)
      for (const std::string& y : b.live)
        if (!follows.at(x).count(y)) return false;
    return true;
  }

  bool may_share(const Claim& a, const Claim& b) {
    if (a.live.empty() || b.live.empty()) return false;
    auto [it, fresh] = memo_.try_emplace({a.live, b.live}, false);
    if (fresh) {
      const bool once = precedes(follows_, a, b) || precedes(follows_, b, a);
      it->second = once && (!p_.loop || (precedes(follows_later_, a, b) && precedes(follows_later_, b, a)));
    }
    return it->second;
  }

  // Pairs each claim with its placement by name, and reports what has none or too many.
  template <class C, class P>
  std::vector<std::pair<const C*, const P*>> pair_up(const std::vector<C>& claims,
                                                     const std::vector<P>& placed, const std::string& kind) {
    std::map<std::string, const P*> by_name;
    for (const P& p : placed)
      if (!by_name.emplace(p.name, &p).second) report(kind + " " + p.name + " is placed twice");
    std::vector<std::pair<const C*, const P*>> pairs;
    for (const C& c : claims) {
      auto it = by_name.find(c.name);
      if (it == by_name.end()) {
        report(kind + " " + c.name + " is not placed");
        continue;
      }
      pairs.emplace_back(&c, it->second);
      by_name.erase(it);
    }
    for (const auto& [name, p] : by_name) report(kind + " " + name + " is placed but not claimed");
    return pairs;
  }

  void rings() {
    for (auto [ring, placed] : pair_up(p_.rings, s_.rings, "ring")) {
      depth_[ring->name] = placed->depth;
      if (placed->depth < ring->min_depth || placed->depth > ring->max_depth)
        report("ring " + ring->name + " has depth " + std::to_string(placed->depth) + ", outside its range");
    }
  }

  void buffers() {
    const Target& t = p_.target;
    std::int64_t capacity = t.shared_bytes;
    if (t.blocks_per_sm > 1)
      capacity = ((t.shared_bytes + t.shared_reserved_bytes) / t.blocks_per_sm - t.shared_reserved_bytes) /
                 128 * 128;
    if (capacity < 0) capacity = 0;
    if (s_.capacity != capacity)
      report("the capacity is " + std::to_string(s_.capacity) + " and should be " + std::to_string(capacity));
    std::int64_t end = 0;
    const auto pairs = pair_up(p_.buffers, s_.buffers, "buffer");
    for (auto [b, at] : pairs) {
      const std::int64_t bytes = b->bytes + (b->stage_bytes ? b->stage_bytes * depth_[b->ring] : 0);
      if (at->bytes != bytes)
        report("buffer " + b->name + " has " + std::to_string(at->bytes) + " bytes and should have " +
               std::to_string(bytes));
      if (at->offset < 0 || at->offset % b->align)
        report("buffer " + b->name + " is not aligned to " + std::to_string(b->align));
      if (at->offset + bytes > s_.footprint) report("buffer " + b->name + " ends above the footprint");
      end = std::max(end, at->offset + bytes);
    }
    if (end != s_.footprint) report("the footprint is not the highest end of a buffer");
    if (s_.footprint > capacity) report("the footprint exceeds the capacity");
    for (std::size_t i = 0; i < pairs.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        auto [a, x] = pairs[i];
        auto [b, y] = pairs[j];
        if (x->offset < y->offset + y->bytes && y->offset < x->offset + x->bytes && !may_share(*a, *b))
          report("two buffers overlap that may not share",
                 {fact(*a, "lies at " + std::to_string(x->offset)),
                  fact(*b, "lies at " + std::to_string(y->offset))});
      }
  }

  void barriers() {
    const auto pairs = pair_up(p_.barriers, s_.barriers, "named barrier");
    if (s_.barrier_count > p_.target.named_barriers) report("more named barriers are used than there are");
    for (auto [b, at] : pairs)
      if (at->id < 1 || at->id > s_.barrier_count)
        report("named barrier " + b->name + " has id " + std::to_string(at->id));
    for (std::size_t i = 0; i < pairs.size(); ++i)
      for (std::size_t j = 0; j < i; ++j)
        if (pairs[i].second->id == pairs[j].second->id && !may_share(*pairs[i].first, *pairs[j].first))
          report("two named barriers have one id and may not share",
                 {fact(*pairs[i].first, "has id " + std::to_string(pairs[i].second->id)),
                  fact(*pairs[j].first, "has the same")});
  }

  void columns() {
    const auto pairs = pair_up(p_.tensor_columns, s_.tensor_columns, "tensor-memory claim");
    int columns = 512;
    while (columns * p_.target.blocks_per_sm > p_.target.tensor_columns) columns /= 2;
    if (columns < 32) columns = 0;
    if (s_.tensor_column_count > columns) report("more columns are used than there are");
    for (auto [t, at] : pairs) {
      if (at->columns != t->columns)
        report("tensor-memory claim " + t->name + " has another number of columns");
      if (at->column < 0 || at->column % 32 || at->column + t->columns > s_.tensor_column_count)
        report("tensor-memory claim " + t->name + " lies at column " + std::to_string(at->column));
    }
    for (std::size_t i = 0; i < pairs.size(); ++i)
      for (std::size_t j = 0; j < i; ++j) {
        auto [a, x] = pairs[i];
        auto [b, y] = pairs[j];
        if (x->column < y->column + y->columns && y->column < x->column + x->columns && !may_share(*a, *b))
          report("two tensor-memory claims overlap that may not share",
                 {fact(*a, "overlaps"), fact(*b, "may not")});
      }
  }

  void roles() {
    const auto pairs = pair_up(p_.roles, s_.roles, "role");
    const int groups = static_cast<int>(s_.warpgroup_registers.size());
    if (s_.warps != groups * 4) report("the block's warps are not four per warpgroup");
    if (s_.warps > p_.target.max_warps || s_.warps * p_.target.blocks_per_sm > p_.target.sm_warps)
      report("the block has more warps than there are");
    std::vector<const Role*> runs(static_cast<std::size_t>(groups) * 4, nullptr);
    std::vector<int> most(static_cast<std::size_t>(groups), 0);
    for (auto [r, at] : pairs) {
      if (at->warps != r->warps || at->first_warp < 0 || at->first_warp + r->warps > groups * 4) {
        report("role " + r->name + " lies outside the block");
        continue;
      }
      if (at->first_warp % (r->warps > 4 ? 4 : r->align_warps)) report("role " + r->name + " is not aligned");
      if (r->warps <= 4 && at->first_warp / 4 != (at->first_warp + r->warps - 1) / 4)
        report("role " + r->name + " crosses warpgroups");
      for (int w = at->first_warp; w < at->first_warp + r->warps; ++w) {
        if (runs[w])
          report("two roles have warp " + std::to_string(w), {fact(*r, "and"), fact(*runs[w], "")});
        runs[w] = r;
        most[w / 4] = std::max(most[w / 4], r->max_registers);
        if (s_.warpgroup_registers[w / 4] != at->registers)
          report("role " + r->name + " has another budget than its warpgroup");
      }
      if (at->registers < r->min_registers)
        report("role " + r->name + " has fewer registers than its minimum");
    }
    int sum = 0;
    for (int g = 0; g < groups; ++g) {
      const int budget = s_.warpgroup_registers[g];
      sum += budget;
      if (budget % 8 || budget < 24 || budget > 256)
        report("warpgroup " + std::to_string(g) + " has a budget that setmaxnreg does not accept");
      // A role in several warpgroups lifts them all to what any role beside it may have.
      bool spans = false;
      for (int w = g * 4; w < g * 4 + 4; ++w) spans = spans || (runs[w] && runs[w]->warps > 4);
      if (budget > most[g] && !spans)
        report("warpgroup " + std::to_string(g) + " has more registers than any of its roles may have");
    }
    if (groups > 0) {
      int entry = p_.target.registers / (groups * 128) / p_.target.blocks_per_sm / 8 * 8;
      if (entry > 248) entry = 248;
      if (s_.entry_registers != entry) report("the entry register count is not " + std::to_string(entry));
      if (sum > groups * entry) report("the register budgets exceed the pool");
    }
  }

  const Problem& p_;
  const Solution& s_;
  std::map<std::string, Names> follows_;        // in the same iteration
  std::map<std::string, Names> follows_later_;  // in every later iteration
  std::map<std::pair<std::vector<std::string>, std::vector<std::string>>, bool> memo_;
  std::map<std::string, int> depth_;
  Diagnostics found_;
};

}  // namespace

Diagnostics verify(const Problem& problem, const Solution& solution) {
  return Verifier(problem, solution).run();
}

}  // namespace pipelink::place
