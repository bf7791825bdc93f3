// What the numbers of waits and arrivals alone show.
#include <algorithm>
#include <numeric>
#include <queue>

#include "linker/bind/words.h"
#include "linker/protocol/sequences.h"

namespace pipelink::protocol {
namespace {

using binding::quoted;

constexpr std::int64_t kMaxIterations = 1 << 20;  // of one role in a round

class Missing {
 public:
  Missing(const Composition& composition, Sequences& sequences)
      : composition_(composition), sequences_(sequences) {}

  std::vector<ProtocolFault> run() {
    const std::vector<PlaceUses> uses = uses_of(sequences_);
    for (std::size_t p = 0; p < uses.size(); ++p) {
      if (uses[p].waiters.empty() || !protocol(p).unchecked.empty()) continue;
      judge(p, uses[p]);
    }
    return std::move(faults_);
  }

 private:
  Protocol& protocol(std::size_t place) { return sequences_.protocols[sequences_.places[place].protocol]; }
  const Sequence& role(const Use& use) const { return sequences_.roles[use.role]; }
  const Operation& first(const Use& use) const {
    return use.once.empty() ? role(use).loop[use.loop.front()] : role(use).once[use.once.front()];
  }

  void judge(std::size_t place, const PlaceUses& uses) {
    Protocol& at = protocol(place);
    if (uses.arrivers.empty()) return nobody(place, uses);
    if (at.kind == Kind::kMbarriers && at.amount > 1 && uses.waiters.size() + uses.arrivers.size() > 2) {
      at.unchecked = "steps do not say which of its " + std::to_string(at.amount) + " barriers they mean";
      return;
    }
    std::int64_t threads = 0;
    for (const Use& a : uses.arrivers) threads += role(a).threads;
    const bool named = at.kind == Kind::kNamedBarrier;
    if (named && threads < at.amount) return too_few(place, uses, threads);
    if (sequences_.places[place].arrivals > threads * blocks()) return too_many(place, uses, threads);
    if (uses.arrivers.size() > 1 && !(named && threads == at.amount)) {
      if (named || !alike(uses.arrivers)) {
        at.unchecked = "several roles arrive at it in turns";
        return;
      }
    }
    if (named && runs_ahead(uses)) {
      at.unchecked =
          "a role arrives there again without waiting there, and steps do not say that it may not be early";
      return;
    }
    // A wait for a phase that is over passes however often it is done.
    if (at.kind == Kind::kMbarriers && once_only(uses)) {
      at.unchecked = "it is waited for in a loop, and arrived at before one";
      return;
    }
    const std::int64_t credits = sequences_.places[place].credits;
    for (const Use& w : uses.waiters)
      for (const Use& a : uses.arrivers)
        if (a.loop.empty() && (!w.loop.empty() || static_cast<std::int64_t>(w.once.size()) >
                                                      static_cast<std::int64_t>(a.once.size()) + credits))
          return starved(place, w, a);
  }

  /// Of a cluster: any of them may arrive at another's mbarriers.
  std::int64_t blocks() const {
    const auto& cluster = composition_.launch.cluster;
    return std::int64_t{cluster[0]} * cluster[1] * cluster[2];
  }

  static bool runs_ahead(const PlaceUses& uses) {
    return std::any_of(uses.arrivers.begin(), uses.arrivers.end(), [&](const Use& a) {
      const bool waits = std::any_of(uses.waiters.begin(), uses.waiters.end(),
                                     [&](const Use& w) { return w.role == a.role; });
      return !waits && (!a.loop.empty() || a.once.size() > 1);
    });
  }

  static bool once_only(const PlaceUses& uses) {
    return std::any_of(uses.waiters.begin(), uses.waiters.end(),
                       [](const Use& w) { return !w.loop.empty(); }) &&
           std::any_of(uses.arrivers.begin(), uses.arrivers.end(),
                       [](const Use& a) { return a.loop.empty(); });
  }

  /// Each arrives at every use, as far as can be told.
  static bool alike(const std::vector<Use>& arrivers) {
    return std::all_of(arrivers.begin(), arrivers.end(), [&](const Use& a) {
      return a.loop.empty() == arrivers.front().loop.empty() &&
             (!a.loop.empty() || a.once.size() == arrivers.front().once.size());
    });
  }

  LabelledFact fact(const Use& use, const std::string& what) const {
    const StepText& text = sequences_.texts[first(use).text];
    return {composition_.instances[text.instance].name,
            step_text(composition_, sequences_, use.role, first(use)) + what, text.where};
  }

  void report(std::size_t place, std::string title, std::vector<LabelledFact> facts, std::string reason,
              std::string help, const char* clause = "L-DEADLOCK") {
    Protocol& at = protocol(place);
    const std::string& owner = composition_.instances[at.owner.instance].name;
    facts.push_back({owner, "declares " + quoted(at.name.substr(owner.size() + 1)), at.where});
    at.unchecked = "a wait there is never met";
    faults_.emplace_back().diagnostic =
        make_error(clause, std::move(title), std::move(facts), std::move(reason), std::move(help));
  }

  std::string waiters(const PlaceUses& uses) const {
    std::vector<std::string> names;
    for (const Use& w : uses.waiters) names.push_back(quoted(role(w).name));
    return binding::joined(names, " and ") + (names.size() == 1 ? " waits" : " wait");
  }

  void nobody(std::size_t place, const PlaceUses& uses) {
    std::vector<LabelledFact> facts;
    for (const Use& w : uses.waiters) facts.push_back(fact(w, " waits"));
    report(place, "nobody arrives at " + barrier_text(sequences_, place) + ", where " + waiters(uses),
           std::move(facts), "the steps of 0 roles and exports arrive there",
           "add the step that arrives to the role that does it, or drop the wait");
  }

  /// "128 + 32 = 160"; a fact for each role that arrives.
  std::string sum_of(const PlaceUses& uses, std::int64_t threads, std::vector<LabelledFact>& facts) const {
    std::vector<std::string> terms;
    for (const Use& a : uses.arrivers) {
      facts.push_back(fact(a, ": " + std::to_string(role(a).threads) + " threads"));
      terms.push_back(std::to_string(role(a).threads));
    }
    return binding::joined(terms, " + ") + (terms.size() > 1 ? " = " + std::to_string(threads) : "");
  }

  void too_few(std::size_t place, const PlaceUses& uses, std::int64_t threads) {
    std::vector<LabelledFact> facts;
    const std::string sum = sum_of(uses, threads, facts);
    report(
        place, "too few threads arrive at " + barrier_text(sequences_, place) + ", where " + waiters(uses),
        std::move(facts),
        "the barrier waits for " + std::to_string(protocol(place).amount) +
            " threads; the roles that use it have " + sum,
        "state .threads = " + std::to_string(threads) + ", or add the step to the role that also takes part");
    faults_.back().barrier = protocol(place).name;
  }

  /// A step is a call of the handle, by which a thread arrives once.
  void too_many(std::size_t place, const PlaceUses& uses, std::int64_t threads) {
    std::vector<LabelledFact> facts;
    const std::string sum = sum_of(uses, threads, facts);
    const std::string most = std::to_string(threads * blocks());
    report(place,
           barrier_text(sequences_, place) + ", where " + waiters(uses) +
               ", expects more arrivals than can come",
           std::move(facts),
           "it waits for " + std::to_string(sequences_.places[place].arrivals) +
               " arrivals; the roles that arrive there have " + sum + " threads" +
               (blocks() > 1 ? ", in " + std::to_string(blocks()) + " blocks " + most : ""),
           "state at most " + most +
               " arrivals, one for each thread that arrives, or add the step to the role that also does",
           "L-COUNT");
  }

  void starved(std::size_t place, const Use& w, const Use& a) {
    const std::int64_t credits = sequences_.places[place].credits;
    report(place,
           quoted(role(w).name) + " waits at " + barrier_text(sequences_, place) + " more often than " +
               quoted(role(a).name) + " arrives",
           {fact(w, w.loop.empty() ? " waits, " + times(w.once.size()) : " waits in every iteration"),
            fact(a, " arrives, " + times(a.once.size()) + " in all")},
           (w.loop.empty() ? times(w.once.size()) : std::string("a wait in each iteration")) + " against " +
               std::to_string(a.once.size()) + (a.once.size() == 1 ? " arrival" : " arrivals") +
               (credits > 0 ? " and " + std::to_string(credits) + " waits that pass at first" : ""),
           "let " + role(a).name + " arrive in its loop, or " + role(w).name + " wait before its own");
  }

  const Composition& composition_;
  Sequences& sequences_;
  std::vector<ProtocolFault> faults_;
};

/// For each iteration of `from`, `to` has up / down iterations.
struct Ratio {
  std::size_t from = 0, to = 0, place = 0;
  std::size_t waits = 0, arrivals = 0;  ///< per iteration
  std::size_t waiter = 0, arriver = 0;
  std::int64_t up = 1, down = 1;
};

class Balance {
 public:
  Balance(const Composition& composition, Sequences& sequences)
      : composition_(composition), sequences_(sequences), near_(sequences.roles.size()) {}

  Rounds run() {
    const std::size_t count = sequences_.roles.size();
    uses_ = uses_of(sequences_);
    for (std::size_t p = 0; p < uses_.size(); ++p) connect(p);
    up_.assign(count, 0);
    down_.assign(count, 1);
    by_.assign(count, nullptr);
    rounds_.iterations.assign(count, 0);
    for (std::size_t r = 0; r < count; ++r)
      if (up_[r] == 0 && !sequences_.roles[r].loop.empty()) spread(r);
    return std::move(rounds_);
  }

 private:
  void connect(std::size_t place) {
    for (const Use& w : uses_[place].waiters)
      for (const Use& a : uses_[place].arrivers) {
        if (w.loop.empty() || a.loop.empty()) continue;
        Ratio ratio{w.role, a.role, place, w.loop.size(), a.loop.size(), w.role, a.role, 0, 0};
        ratio.up = static_cast<std::int64_t>(w.loop.size());
        ratio.down = static_cast<std::int64_t>(a.loop.size());
        near_[w.role].push_back(ratio);
        std::swap(ratio.from, ratio.to);
        std::swap(ratio.up, ratio.down);
        near_[a.role].push_back(ratio);
      }
  }

  /// From role to role, breadth first; the first place at which the numbers do not fit is told.
  void spread(std::size_t start) {
    std::vector<std::size_t> group{start};
    up_[start] = 1;
    std::int64_t common = 1;
    bool fits = true, told = false;
    for (std::size_t next = 0; next < group.size(); ++next) {
      const std::size_t at = group[next];
      for (const Ratio& ratio : near_[at]) {
        std::int64_t up = up_[at] * ratio.up, down = down_[at] * ratio.down;
        const std::int64_t by = std::gcd(up, down);
        up /= by;
        down /= by;
        fits = fits && up <= kMaxIterations && down <= kMaxIterations;
        if (!fits) up = down = 1;
        if (up_[ratio.to] == 0) {
          up_[ratio.to] = up;
          down_[ratio.to] = down;
          by_[ratio.to] = &ratio;
          group.push_back(ratio.to);
        } else if (fits && !told && (up_[ratio.to] != up || down_[ratio.to] != down)) {
          told = true;
          fault(ratio, up, down);
        }
      }
    }
    for (const std::size_t r : group) {
      if (fits) common = std::lcm(common, down_[r]);
      fits = fits && common <= kMaxIterations;
    }
    for (const std::size_t r : group) {
      if (fits) rounds_.iterations[r] = common / down_[r] * up_[r];
      fits = fits && rounds_.iterations[r] <= kMaxIterations;
    }
    if (!fits) give_up(group);
  }

  void give_up(const std::vector<std::size_t>& group) {
    for (const std::size_t r : group) {
      rounds_.iterations[r] = 1;
      for (const auto* list : {&sequences_.roles[r].once, &sequences_.roles[r].loop})
        for (const Operation& o : *list) {
          std::string& why = sequences_.protocols[sequences_.places[o.place].protocol].unchecked;
          if (why.empty()) why = "its roles' loops balance only after more than 1,048,576 iterations";
        }
    }
  }

  std::vector<LabelledFact> facts_of(const Ratio& ratio) const {
    std::vector<LabelledFact> out;
    for (const bool wait : {false, true}) {
      const std::size_t role = wait ? ratio.waiter : ratio.arriver;
      const Sequence& sequence = sequences_.roles[role];
      const auto step = std::find_if(sequence.loop.begin(), sequence.loop.end(), [&](const Operation& o) {
        return o.place == ratio.place && o.wait == wait;
      });
      const StepText& text = sequences_.texts[step->text];
      out.push_back({composition_.instances[text.instance].name,
                     step_text(composition_, sequences_, role, *step) + ": " +
                         times(wait ? ratio.waits : ratio.arrivals) + " in an iteration",
                     text.where});
    }
    return out;
  }

  /// The ratios between two roles of a group, from their common root.
  std::vector<const Ratio*> path(std::size_t a, std::size_t b) const {
    const auto up = [&](std::size_t r) {
      std::vector<const Ratio*> out;
      for (; by_[r] != nullptr; r = by_[r]->from) out.push_back(by_[r]);
      return out;
    };
    std::vector<const Ratio*> left = up(a), right = up(b);
    while (!left.empty() && !right.empty() && left.back() == right.back()) {
      left.pop_back();
      right.pop_back();
    }
    left.insert(left.end(), right.rbegin(), right.rend());
    return left;
  }

  void fault(const Ratio& ratio, std::int64_t up, std::int64_t down) {
    Diagnostic d;
    d.clause = "L-RATE";
    const std::string &from = sequences_.roles[ratio.from].name, &to = sequences_.roles[ratio.to].name;
    std::vector<LabelledFact> facts;
    ProtocolFault out;
    if (ratio.from == ratio.to) {
      d.title = quoted(from) + " waits and arrives at " + barrier_text(sequences_, ratio.place) +
                " a different number of times";
      d.reason = times(ratio.waits) + " and " + times(ratio.arrivals) + " in each iteration of its loop";
    } else {
      d.title = quoted(sequences_.roles[ratio.waiter].name) + " and " +
                quoted(sequences_.roles[ratio.arriver].name) + " wait and arrive at different rates at " +
                barrier_text(sequences_, ratio.place);
      for (const Ratio* r : path(ratio.from, ratio.to))
        for (LabelledFact& f : facts_of(*r)) facts.push_back(std::move(f));
      const auto ratio_text = [&](std::int64_t a, std::int64_t b) {
        return std::to_string(a) + " of " + to + " to " + std::to_string(b) + " of " + from;
      };
      // Both seen from `from`, whose own share is up_ / down_.
      std::int64_t a = up_[ratio.to] * down_[ratio.from], b = down_[ratio.to] * up_[ratio.from];
      const std::int64_t by = std::gcd(a, b);
      std::int64_t c = up * down_[ratio.from], e = down * up_[ratio.from];
      const std::int64_t other = std::gcd(c, e);
      d.reason = "the other steps make it " + ratio_text(a / by, b / by) + " iterations, those at " +
                 barrier_text(sequences_, ratio.place) + " " + ratio_text(c / other, e / other);
    }
    for (LabelledFact& f : facts_of(ratio)) facts.push_back(std::move(f));
    d.facts = std::move(facts);
    d.help =
        "let both sides wait and arrive equally often, or mark a step that only some iterations do with `?`";
    out.diagnostic = std::move(d);
    rounds_.faults.push_back(std::move(out));
  }

  const Composition& composition_;
  Sequences& sequences_;
  std::vector<PlaceUses> uses_;
  std::vector<std::vector<Ratio>> near_;
  std::vector<std::int64_t> up_, down_;  ///< iterations of each role for one of its group's first; 0: not yet
  std::vector<const Ratio*> by_;
  Rounds rounds_;
};

}  // namespace

std::vector<ProtocolFault> missing_arrivals(const Composition& composition, Sequences& sequences) {
  return Missing(composition, sequences).run();
}

Rounds rounds_of(const Composition& composition, Sequences& sequences) {
  return Balance(composition, sequences).run();
}

}  // namespace pipelink::protocol
