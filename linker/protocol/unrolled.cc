// The steps of one round, unrolled, with what each needs: a cycle is a wait that is never met.
#include <algorithm>
#include <map>
#include <set>

#include "linker/bind/graph.h"
#include "linker/bind/words.h"
#include "linker/protocol/sequences.h"

namespace pipelink::protocol {
namespace {

using binding::quoted;

constexpr std::size_t kMaxSteps = 20'000;  // of one round, all roles together

/// The `at`-th step that a role does.
struct Done {
  std::size_t role = 0, at = 0;
};

class Unrolled {
 public:
  Unrolled(const Composition& composition, Sequences& sequences, const std::vector<std::int64_t>& iterations)
      : composition_(composition), sequences_(sequences), iterations_(iterations) {}

  std::vector<ProtocolFault> run() {
    uses_ = uses_of(sequences_);
    nodes_.resize(sequences_.roles.size());
    for (std::size_t r = 0; r < sequences_.roles.size(); ++r) {
      const Sequence& s = sequences_.roles[r];
      const auto rounds = static_cast<std::size_t>(iterations_[r]);
      if (!s.loop.empty() && rounds > kMaxSteps / s.loop.size()) return give_up();
      if (!reach(r, s.once.size() + rounds * s.loop.size())) return give_up();
    }
    const std::size_t round = done_.size();
    for (needed_ = 0; needed_ < done_.size(); ++needed_)
      if (!needs(needed_)) return give_up();
    std::vector<ProtocolFault> faults;
    std::set<std::string> told;
    for (const std::vector<std::size_t>& cycle : binding::shortest_cycles(done_.size(), edges_)) {
      ProtocolFault fault = describe(cycle);
      if (told.insert(fault.diagnostic.title).second) faults.push_back(std::move(fault));
    }
    return faults.empty() ? overruns(round) : faults;
  }

 private:
  std::vector<ProtocolFault> give_up() {
    for (Protocol& p : sequences_.protocols)
      if (p.unchecked.empty()) p.unchecked = "the roles' loops balance only after more than 20,000 steps";
    return {};
  }

  const Operation& operation(Done d) const {
    const Sequence& s = sequences_.roles[d.role];
    return d.at < s.once.size() ? s.once[d.at] : s.loop[(d.at - s.once.size()) % s.loop.size()];
  }

  /// Enters the first `count` steps of a role, each needing the one before.
  bool reach(std::size_t role, std::size_t count) {
    for (std::vector<std::size_t>& nodes = nodes_[role]; nodes.size() < count;) {
      if (done_.size() >= kMaxSteps) return false;
      if (!nodes.empty()) edges_.insert({done_.size(), nodes.back()});
      nodes.push_back(done_.size());
      done_.push_back({role, nodes.size() - 1});
    }
    return true;
  }

  /// The wait of node `n` needs the arrival of its number of everybody who arrives there.
  bool needs(std::size_t n) {
    const Done d = done_[n];
    const Operation& o = operation(d);
    if (!o.wait || !checked(o)) return true;
    const std::int64_t arrival = number(d) - sequences_.places[o.place].credits;
    if (arrival < 0) return true;
    for (const Use& a : uses_[o.place].arrivers) {
      const std::optional<std::size_t> at = position(a, static_cast<std::size_t>(arrival));
      if (!at) continue;  // missing_arrivals told
      if (*at >= kMaxSteps || !reach(a.role, *at + 1)) return false;
      edges_.insert({n, nodes_[a.role][*at]});
    }
    return true;
  }

  bool checked(const Operation& o) const {
    return sequences_.protocols[sequences_.places[o.place].protocol].unchecked.empty();
  }

  const Use& use(Done d) const {
    const Operation& o = operation(d);
    const std::vector<Use>& list = o.wait ? uses_[o.place].waiters : uses_[o.place].arrivers;
    return *std::find_if(list.begin(), list.end(), [&](const Use& u) { return u.role == d.role; });
  }

  /// How often the role has waited, or arrived, there before.
  std::int64_t number(Done d) const {
    const Use& u = use(d);
    const std::size_t before = sequences_.roles[d.role].once.size();
    const auto below = [](const std::vector<std::size_t>& list, std::size_t at) {
      return static_cast<std::size_t>(std::lower_bound(list.begin(), list.end(), at) - list.begin());
    };
    if (d.at < before) return static_cast<std::int64_t>(below(u.once, d.at));
    const std::size_t loop = sequences_.roles[d.role].loop.size(), after = d.at - before;
    return static_cast<std::int64_t>(u.once.size() + after / loop * u.loop.size() +
                                     below(u.loop, after % loop));
  }

  /// The inverse of number().
  std::optional<std::size_t> position(const Use& u, std::size_t number) const {
    if (number < u.once.size()) return u.once[number];
    if (u.loop.empty()) return std::nullopt;
    number -= u.once.size();
    const Sequence& s = sequences_.roles[u.role];
    return s.once.size() + number / u.loop.size() * s.loop.size() + u.loop[number % u.loop.size()];
  }

  // ---- arrivals that may come too early

  /// A barrier tells phases apart only as odd and even: the arrival that completes the phase after the one
  /// that a wait is for must come after that wait.
  struct Early {
    std::size_t wait = 0;
    std::vector<std::size_t> arrivals;  ///< of all who arrive; one that comes after the wait is enough
  };

  /// Of the waits of a round, its first `round` steps. Where a wait is not checked, it may be what keeps an
  /// arrival back, so then nothing is said.
  std::vector<ProtocolFault> overruns(std::size_t round) {
    std::vector<Early> early;
    if (sequences_.partial || leaves_out() || fills_unasked()) return {};
    for (const Sequence& s : sequences_.roles)
      for (const auto* list : {&s.once, &s.loop})
        for (const Operation& o : *list)
          if (o.wait && !checked(o)) return {};
    for (std::size_t n = 0; n < round; ++n) {
      if (!operation(done_[n]).wait) continue;
      std::optional<Early> found = next_phase(n);
      if (found) early.push_back(std::move(*found));
    }
    for (; needed_ < done_.size(); ++needed_)
      if (!needs(needed_)) return {};
    const binding::Order order = binding::dependency_order(done_.size(), edges_);
    if (!order.cycles.empty()) return {};
    const std::vector<std::vector<std::size_t>> before = before_all(order.sequence);
    std::vector<ProtocolFault> faults;
    std::set<std::size_t> told;
    for (const Early& e : early) {
      const Done wait = done_[e.wait];
      const bool kept = std::any_of(e.arrivals.begin(), e.arrivals.end(),
                                    [&](std::size_t a) { return before[a][wait.role] > wait.at; });
      if (!kept && told.insert(operation(wait).place).second)
        faults.push_back(describe_early(wait, done_[e.arrivals.front()]));
    }
    return faults;
  }

  /// Whether no step names a protocol that may keep roles back, as all do but a barrier of one role's
  /// threads.
  bool leaves_out() const {
    std::int64_t widest = 0;
    std::vector<bool> named(sequences_.protocols.size());
    for (const Sequence& s : sequences_.roles) {
      widest = std::max(widest, s.threads);
      for (const auto* list : {&s.once, &s.loop})
        for (const Operation& o : *list) named[sequences_.places[o.place].protocol] = true;
    }
    for (std::size_t p = 0; p < named.size(); ++p) {
      const Protocol& protocol = sequences_.protocols[p];
      if (!named[p] && (protocol.kind != Kind::kNamedBarrier || protocol.amount > widest)) return true;
    }
    return false;
  }

  /// Whether a ring's stages are filled that nobody acquired, though others are: the first ones, which are
  /// known to be empty, or those that are acquired with another. An acquire is then for a later stage than
  /// its number tells, and keeps more back.
  bool fills_unasked() const {
    for (std::size_t full = 0; full < sequences_.places.size(); ++full) {
      const std::size_t ring = sequences_.places[full].protocol;
      if (sequences_.protocols[ring].kind != Kind::kRing || sequences_.places[full + 1].protocol != ring)
        continue;  // the second one is its empty barriers
      for (const Use& w : uses_[full + 1].waiters)
        for (const Use& a : uses_[full].arrivers)
          if (w.role == a.role ? ahead(a, w) : more(a, w)) return true;
      ++full;
    }
    return false;
  }

  bool more(const Use& a, const Use& w) const {
    const auto round = [&](const Use& u) {
      return static_cast<std::size_t>(iterations_[u.role]) * u.loop.size();
    };
    return a.once.size() > w.once.size() || round(a) > round(w);
  }

  /// Of one role: the n-th of `a` comes before that of `w`, or is not matched.
  bool ahead(const Use& a, const Use& w) const {
    if (more(a, w)) return true;
    for (std::size_t n = 0; n < a.once.size() + a.loop.size(); ++n)
      if (position(a, n) < position(w, n)) return true;
    return false;
  }

  std::optional<Early> next_phase(std::size_t n) {
    const Done wait = done_[n];
    const Place& place = sequences_.places[operation(wait).place];
    const Protocol& protocol = sequences_.protocols[place.protocol];
    if (protocol.kind == Kind::kCounter || protocol.kind == Kind::kNamedBarrier) return std::nullopt;
    const std::int64_t next = number(wait) - place.credits + std::max<std::int64_t>(protocol.amount, 1);
    if (next < 0) return std::nullopt;
    Early early{n, {}};
    std::int64_t threads = 0;
    for (const Use& a : uses_[operation(wait).place].arrivers) {
      threads += sequences_.roles[a.role].threads;
      const std::optional<std::size_t> at = position(a, static_cast<std::size_t>(next));
      if (!at || *at >= kMaxSteps || !reach(a.role, *at + 1)) return std::nullopt;
      early.arrivals.push_back(nodes_[a.role][*at]);
    }
    if (early.arrivals.empty() || place.arrivals > threads) return std::nullopt;  // other blocks arrive, too
    return early;
  }

  /// For each step, how many steps of each role are done before it, with itself.
  std::vector<std::vector<std::size_t>> before_all(const std::vector<std::size_t>& order) const {
    std::vector<std::vector<std::size_t>> before(done_.size());
    for (const std::size_t n : order) {
      std::vector<std::size_t>& here = before[n];
      here.assign(sequences_.roles.size(), 0);
      for (auto edge = edges_.lower_bound({n, 0}); edge != edges_.end() && edge->first == n; ++edge)
        for (std::size_t r = 0; r < here.size(); ++r) here[r] = std::max(here[r], before[edge->second][r]);
      here[done_[n].role] = done_[n].at + 1;
    }
    return before;
  }

  // ---- words

  ProtocolFault describe_early(Done wait, Done arrival) const {
    const std::size_t at = operation(wait).place;
    const Place& place = sequences_.places[at];
    const Protocol& protocol = sequences_.protocols[place.protocol];
    const std::string &waiter = sequences_.roles[wait.role].name,
                      &arriver = sequences_.roles[arrival.role].name;
    ProtocolFault fault;
    Diagnostic& d = fault.diagnostic;
    d.clause = "L-OVERRUN";
    d.title = quoted(arriver) + " may run ahead of " + quoted(waiter) + " at " + barrier_text(sequences_, at);
    for (const Done& step : {arrival, wait}) {
      const StepText& text = sequences_.texts[operation(step).text];
      d.facts.push_back({composition_.instances[text.instance].name,
                         words(step) + (operation(step).wait ? " waits" : " arrives"), text.where});
    }
    const std::string& owner = composition_.instances[protocol.owner.instance].name;
    d.facts.push_back({owner, "declares " + quoted(protocol.name.substr(owner.size() + 1)), protocol.where});
    d.reason = "nothing makes the " + numbered(arrival) + " come after the " + numbered(wait) + "; with " +
               std::to_string(std::max<std::int64_t>(protocol.amount, 1)) +
               (protocol.amount > 1 ? " barriers, used in turn, that wait then misses its phase"
                                    : " barrier that wait then misses its phase");
    d.help = protocol.kind == Kind::kRing
                 ? "acquire each stage before arriving there, and release it only after the wait for it"
                 : "let " + arriver + ", before it arrives again, wait for what " + waiter +
                       " does after its wait";
    return fault;
  }

  struct Hop {
    Done wait, arrival;  ///< of another role, or of a later step
  };

  /// The waits of a cycle and what each is for, from the first role on.
  std::vector<Hop> hops_of(const std::vector<std::size_t>& cycle) const {
    std::vector<Hop> hops;
    for (std::size_t i = 0; i < cycle.size(); ++i) {
      const Done d = done_[cycle[i]], next = done_[cycle[(i + 1) % cycle.size()]];
      if (next.role != d.role || next.at + 1 != d.at) hops.push_back({d, next});
    }
    const auto first = std::min_element(hops.begin(), hops.end(), [](const Hop& a, const Hop& b) {
      return std::tie(a.wait.role, a.wait.at) < std::tie(b.wait.role, b.wait.at);
    });
    std::rotate(hops.begin(), first, hops.end());
    return hops;
  }

  std::string words(Done d) const { return step_text(composition_, sequences_, d.role, operation(d)); }

  std::string numbered(Done d) const { return ordinal(number(d) + 1) + " " + words(d); }

  ProtocolFault describe(const std::vector<std::size_t>& cycle) const {
    const std::vector<Hop> hops = hops_of(cycle);
    ProtocolFault fault;
    std::vector<std::string> roles, protocols, reasons;
    const auto once = [](std::vector<std::string>& list, const std::string& item) {
      if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
    };
    Diagnostic& d = fault.diagnostic;
    for (std::size_t i = 0; i < hops.size(); ++i) {
      const Hop& hop = hops[i];
      const Done before = hops[(i + hops.size() - 1) % hops.size()].arrival;  // what the one before waits for
      const Operation& wait = operation(hop.wait);
      const Place& place = sequences_.places[wait.place];
      const Protocol& protocol = sequences_.protocols[place.protocol];
      const StepText& text = sequences_.texts[wait.text];
      once(roles, quoted(sequences_.roles[hop.wait.role].name));
      once(protocols, quoted(protocol.name));
      d.facts.push_back(
          {composition_.instances[text.instance].name,
           words(hop.wait) + " waits for " + words(hop.arrival) +
               (before.at > hop.wait.at
                    ? ", and " + quoted(sequences_.texts[operation(before).text].text) + " comes after"
                    : ""),
           text.where});
      std::string reason = "the " + numbered(hop.wait) + " needs the " + numbered(hop.arrival);
      if (protocol.kind == Kind::kRing && place.credits > 0) {
        reason += ", since " + protocol.name + " has " + std::to_string(place.credits) +
                  (place.credits == 1 ? " stage" : " stages");
        if (std::find(fault.rings.begin(), fault.rings.end(), protocol.owner) == fault.rings.end())
          fault.rings.push_back(protocol.owner);
      } else if (place.credits > 0) {
        reason += place.credits == 1 ? ", since the first wait passes"
                                     : ", since the first " + std::to_string(place.credits) + " waits pass";
      }
      reasons.push_back(std::move(reason));
    }
    d.clause = "L-DEADLOCK";
    d.title = binding::joined(roles, " and ") +
              (roles.size() == 1 ? " waits for itself at " : " wait for each other at ") +
              binding::joined(protocols, " and ");
    d.reason = binding::joined(reasons, "\n");
    d.help = roles.size() == 1 ? "arrive before the wait that needs it"
                               : "let one of these roles arrive before it waits";
    return fault;
  }

  const Composition& composition_;
  Sequences& sequences_;
  const std::vector<std::int64_t>& iterations_;
  std::vector<PlaceUses> uses_;
  std::vector<std::vector<std::size_t>> nodes_;  ///< by role and position
  std::vector<Done> done_;
  std::size_t needed_ = 0;  ///< the steps before it have their edges
  binding::Edges edges_;
};

}  // namespace

std::vector<ProtocolFault> cycles_of(const Composition& composition, Sequences& sequences,
                                     const std::vector<std::int64_t>& iterations) {
  return Unrolled(composition, sequences, iterations).run();
}

}  // namespace pipelink::protocol
