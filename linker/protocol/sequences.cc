#include "linker/protocol/sequences.h"

#include <algorithm>
#include <map>
#include <set>

#include "linker/bind/words.h"
#include "packager/contract/expression.h"
#include "packager/contract/steps.h"

namespace pipelink::protocol {
namespace {

using binding::dotted;
using binding::quoted;
using contract::Contract;
using contract::Direction;
using contract::Step;
using contract::Steps;
using contract::StepTarget;

constexpr std::size_t kMaxOperations = 1 << 19;  // of all roles and exports together: bounds the work
constexpr std::int64_t kMaxRepeats = 1024;       // of one step

const Steps* steps_of(const Contract& contract, const std::string& name) {
  for (const Steps& s : contract.steps)
    if (s.name == name) return &s;
  return nullptr;
}

class Collector {
 public:
  Collector(const Composition& composition, const Bindings& bindings, const RingStages& stages,
            std::int64_t repeats)
      : composition_(composition), bindings_(bindings), stages_(stages), repeats_(repeats) {}

  Sequences run() {
    for (std::size_t i = 0; i < composition_.instances.size(); ++i) {
      scopes_.push_back(composition_.contract(i).steps.empty()
                            ? contract::Scope()
                            : expression_scope(composition_, bindings_, i, stages_));
      protocols(i);
    }
    for (const Binding& b : bindings_.rings) share(Kind::kRing, b);
    for (const Binding& b : bindings_.counters) share(Kind::kCounter, b);
    for (const Binding& b : bindings_.callables) exporters_[b.importer].push_back(b.exporter);
    for (const Binding& b : bindings_.handovers) handover(b);
    for (std::size_t i = 0; i < composition_.instances.size(); ++i) roles(i);
    for (const Binding& b : bindings_.callables) unspliced(b);
    if (left_ == 0) {
      out_.roles.clear();
      for (std::size_t p = 0; p < out_.protocols.size(); ++p)
        unchecked(p, "the roles have more than " + std::to_string(kMaxOperations) + " steps");
    }
    return std::move(out_);
  }

 private:
  using Key = std::pair<Kind, PortRef>;

  const Contract& contract(std::size_t i) const { return composition_.contract(i); }
  const std::string& name(std::size_t i) const { return composition_.instances[i].name; }
  bool states(std::size_t i) const { return !contract(i).steps.empty(); }

  void unchecked(std::size_t protocol, const std::string& why) {
    std::string& stated = out_.protocols[protocol].unchecked;
    if (stated.empty()) stated = why;
  }

  void party(std::size_t protocol, std::size_t instance) {
    if (!states(instance)) unchecked(protocol, name(instance) + " states no steps");
  }

  // ---- protocols

  struct Barrier {
    std::int64_t credits = 0, arrivals = 0;
  };

  void enter(Kind kind, PortRef owner, const std::string& claim, const SourceSpan& where, std::int64_t amount,
             std::initializer_list<Barrier> barriers) {
    protocol_of_[{kind, owner}] = out_.protocols.size();
    first_place_[out_.protocols.size()] = out_.places.size();
    for (const Barrier& b : barriers) out_.places.push_back({out_.protocols.size(), b.credits, b.arrivals});
    out_.protocols.push_back({kind, owner, dotted(composition_, owner.instance, claim), where, amount, {}});
    party(out_.protocols.size() - 1, owner.instance);
  }

  void protocols(std::size_t i) {
    const Contract& c = contract(i);
    for (std::size_t k = 0; k < c.rings.size(); ++k) {
      if (c.rings[k].direction != Direction::kExport) continue;
      const auto depth = stages_.find({i, k});
      const std::int64_t stages = depth == stages_.end() ? 0 : depth->second;
      enter(Kind::kRing, {i, k}, c.rings[k].name, c.rings[k].where, stages,
            {{stated({i, k}, &contract::Ring::full_parity, 0) * stages,
              stated({i, k}, &contract::Ring::full_arrivals, 0)},
             {stated({i, k}, &contract::Ring::empty_parity, 1) * stages,
              stated({i, k}, &contract::Ring::empty_arrivals, 0)}});
      if (stages < 1) unchecked(out_.protocols.size() - 1, "its depth is not known");
    }
    for (std::size_t k = 0; k < c.mbarriers.size(); ++k) {
      const contract::Mbarriers& m = c.mbarriers[k];
      const std::int64_t passing = m.first_parity == 0 ? 0 : value(i, m.count);
      enter(Kind::kMbarriers, {i, k}, m.name, m.where, value(i, m.count), {{passing, value(i, m.arrivals)}});
    }
    for (std::size_t k = 0; k < c.counters.size(); ++k) {
      const contract::Counter& n = c.counters[k];
      if (n.direction != Direction::kExport) continue;
      const std::int64_t initial = n.initial ? value(i, *n.initial) : 0,
                         each = n.arrivals ? value(i, *n.arrivals) : 1;
      enter(Kind::kCounter, {i, k}, n.name, n.where, 0, {{each > 0 ? initial / each : 0, 0}});
      if (n.scope != "block" && n.scope != "warpgroup" && n.scope != "warp")
        unchecked(out_.protocols.size() - 1, "other blocks, or the host, take part in it");
    }
    for (std::size_t k = 0; k < c.named_barriers.size(); ++k) {
      const contract::NamedBarrier& b = c.named_barriers[k];
      enter(Kind::kNamedBarrier, {i, k}, b.name, b.where, value(i, b.threads), {{}});
    }
  }

  /// The staging between two roles is a ring of one stage: who gives waits until it is empty, who takes until
  /// it is full.
  void handover(const Binding& b) {
    const contract::Callable& get = contract(b.importer.instance).callables[b.importer.index];
    enter(Kind::kHandover, b.importer, get.name, get.where, 1, {{0, 0}, {1, 0}});
    const std::size_t protocol = out_.protocols.size() - 1;
    protocol_of_[{Kind::kHandover, b.exporter}] = protocol;
    party(protocol, b.exporter.instance);
  }

  /// As either side of a ring states it.
  std::int64_t stated(PortRef ring, std::optional<contract::Amount> contract::Ring::*amount,
                      std::int64_t usual) const {
    if (const auto& own = contract(ring.instance).rings[ring.index].*amount)
      return value(ring.instance, *own);
    for (const Binding& b : bindings_.rings)
      if (b.exporter == ring)
        if (const auto& other = contract(b.importer.instance).rings[b.importer.index].*amount)
          return contract::evaluate(*other,
                                    expression_scope(composition_, bindings_, b.importer.instance, stages_))
              .value.value_or(usual);
    return usual;
  }

  void share(Kind kind, const Binding& b) {
    const auto found = protocol_of_.find({kind, b.exporter});
    if (found == protocol_of_.end()) return;
    protocol_of_[{kind, b.importer}] = found->second;
    party(found->second, b.importer.instance);
  }

  /// 0 for what cannot be computed: other checks tell.
  std::int64_t value(std::size_t instance, const contract::Amount& amount) const {
    const contract::Evaluation found = contract::evaluate(amount, scopes_[instance]);
    return found ? *found : 0;
  }

  // ---- roles

  void roles(std::size_t i) {
    if (!states(i)) return;
    for (const contract::Role& r : contract(i).roles) {
      Sequence sequence;
      sequence.instance = i;
      sequence.name = dotted(composition_, i, r.name);
      sequence.where = r.where;
      sequence.threads = std::int64_t{32} * r.warps;
      if (const Steps* s = steps_of(contract(i), r.name)) {
        role_ = sequence.name;
        sequence.where = s->where;
        follow_role(i, *s, sequence);
      }
      out_.roles.push_back(std::move(sequence));
    }
  }

  /// What is repeated until the data end is the role's loop. When the steps after it come, nobody knows.
  void follow_role(std::size_t instance, const Steps& steps, Sequence& to) {
    std::vector<Step> once = steps_in(steps.once), loop = steps_in(steps.loop), after;
    const auto repeated = std::find_if(once.begin(), once.end(), unending);
    if (loop.empty() && repeated != once.end()) {
      loop.push_back(*repeated);
      after.assign(repeated + 1, once.end());
      once.erase(repeated, once.end());
    }
    // A loop that is a loop and nothing else is that one.
    while (loop.size() == 1 && unending(loop.front())) {
      Step body = std::move(loop.front());
      body.any = false;
      const bool brackets = !body.inner.empty() && body.count == contract::Amount{1, {}};
      loop = brackets ? std::vector<Step>(body.inner) : std::vector<Step>{std::move(body)};
    }
    ends_ = true;
    for (const Step& step : once) follow(instance, steps, step, to.once);
    ends_ = false;
    for (const Step& step : loop) follow(instance, steps, step, to.loop);
    std::vector<Operation> late;
    for (const Step& step : after) follow(instance, steps, step, late);
    out_.partial = out_.partial || !late.empty();
    for (const Operation& o : late)
      unchecked(out_.places[o.place].protocol,
                role_ + " uses it after a part that it repeats any number of times");
  }

  static std::vector<Step> steps_in(const std::string& text) {
    contract::ParsedSteps parsed = contract::parse_steps(text);
    return parsed ? std::move(*parsed.value) : std::vector<Step>();  // P-STEPS, when it was packed
  }

  static bool unending(const Step& step) { return step.any && !step.sometimes; }

  void follow(std::size_t instance, const Steps& steps, const std::string& text, std::vector<Operation>& to) {
    for (const Step& step : steps_in(text)) follow(instance, steps, step, to);
  }

  void follow(std::size_t instance, const Steps& steps, const Step& step, std::vector<Operation>& to) {
    std::vector<Operation> once;
    if (step.inner.empty()) {
      single(instance, steps, step, once);
    } else {
      for (const Step& inner : step.inner) follow(instance, steps, inner, once);
    }
    const contract::Evaluation stated = contract::evaluate(step.count, scopes_[instance]);
    if (!stated || *stated < 0 || *stated > kMaxRepeats) {  // check_amounts tells
      out_.partial = true;
      for (const Operation& o : once)
        unchecked(out_.places[o.place].protocol, "a count in the steps of " + role_ + " is not known");
      return;
    }
    const auto count = static_cast<std::size_t>(*stated * (step.any ? repeats_ : 1));
    const std::size_t work = 1 + once.size() * std::max<std::size_t>(count, 1);
    left_ -= std::min(left_, work);
    if (left_ == 0) return;
    if (step.sometimes) {
      out_.partial = true;
      for (const Operation& o : once)
        unchecked(out_.places[o.place].protocol, role_ + " uses it in some iterations only");
      return;
    }
    if (step.any) repeated(once);
    for (std::size_t n = 0; n < count; ++n) to.insert(to.end(), once.begin(), once.end());
  }

  /// How often one role repeats a part says nothing of how often another one does.
  void repeated(const std::vector<Operation>& operations) {
    out_.repeats = true;
    for (const Operation& o : operations) {
      const std::size_t protocol = out_.places[o.place].protocol;
      if (ends_) unchecked(protocol, role_ + " repeats a part with it any number of times, and then goes on");
      const auto [by, first] = repeats_by_.emplace(protocol, role_);
      if (!first && by->second != role_)
        unchecked(protocol, by->second + " and " + role_ + " each repeat a part with it any number of times");
    }
  }

  void single(std::size_t instance, const Steps& steps, const Step& step, std::vector<Operation>& to) {
    std::string error;
    const std::optional<StepTarget> target = contract::step_target(contract(instance), step, error);
    if (!target) return;  // P-STEPS, when it was packed
    if (target->kind == StepTarget::Kind::kCallable) {
      const PortRef import{instance, target->index};
      const auto handed = protocol_of_.find({Kind::kHandover, import});
      if (handed == protocol_of_.end()) return call(import, to);
      const std::size_t full = first_place_[handed->second], text = text_of(instance, step, steps.where);
      const bool takes = out_.protocols[handed->second].owner == import;
      to.push_back({takes ? full : full + 1, true, text});
      to.push_back({takes ? full + 1 : full, false, text});
      return;
    }
    const Kind kind = kind_of(target->kind);
    const auto protocol = protocol_of_.find({kind, {instance, target->index}});
    if (protocol == protocol_of_.end()) return;
    std::size_t place = first_place_[protocol->second];
    if (kind == Kind::kRing) {
      const bool producer = contract(instance).rings[target->index].side == contract::RingSide::kProducer;
      if (producer == target->waits) ++place;  // its empty barriers
    }
    const std::size_t text = text_of(instance, step, steps.where);
    if (target->arrives) to.push_back({place, false, text});
    if (target->waits) to.push_back({place, true, text});
  }

  static Kind kind_of(StepTarget::Kind kind) {
    switch (kind) {
      case StepTarget::Kind::kMbarriers:
        return Kind::kMbarriers;
      case StepTarget::Kind::kNamedBarrier:
        return Kind::kNamedBarrier;
      case StepTarget::Kind::kCounter:
        return Kind::kCounter;
      default:
        return Kind::kRing;
    }
  }

  std::size_t text_of(std::size_t instance, const Step& step, const SourceSpan& where) {
    const std::string text = step.word + " " + step.name;
    const auto [found, added] =
        texts_.emplace(std::make_tuple(instance, text, where.line), out_.texts.size());
    if (added) out_.texts.push_back({instance, text, where});
    return found->second;
  }

  void call(PortRef importer, std::vector<Operation>& to) {
    const auto found = exporters_.find(importer);
    if (found == exporters_.end()) return;
    spliced_.insert(importer);
    for (const PortRef& callee : found->second) splice(callee, to);
  }

  void splice(PortRef callee, std::vector<Operation>& to) {
    if (std::find(calls_.begin(), calls_.end(), callee) != calls_.end()) return;  // it calls itself
    const Contract& c = contract(callee.instance);
    const Steps* s = steps_of(c, c.callables[callee.index].name);
    if (s == nullptr) return;
    if (bodies_.emplace(callee, std::vector<Operation>()).second) {
      calls_.push_back(callee);
      std::vector<Operation> body;
      follow(callee.instance, *s, s->once, body);
      calls_.pop_back();
      bodies_[callee] = std::move(body);
    }
    const std::vector<Operation>& body = bodies_[callee];
    to.insert(to.end(), body.begin(), body.end());
  }

  /// A call that the caller's steps do not have: nothing is known of when the callee's are done.
  void unspliced(const Binding& b) {
    if (spliced_.count(b.importer)) return;
    const Contract& c = contract(b.exporter.instance);
    const Steps* s = steps_of(c, c.callables[b.exporter.index].name);
    if (s == nullptr) return;
    out_.partial = true;
    std::vector<Operation> operations;
    role_ = dotted(composition_, b.exporter.instance, s->name);
    const std::set<PortRef> known = spliced_;
    follow(b.exporter.instance, *s, s->once, operations);
    spliced_ = known;
    const std::string import = contract(b.importer.instance).callables[b.importer.index].name;
    for (const Operation& o : operations)
      unchecked(out_.places[o.place].protocol,
                name(b.importer.instance) + " does not state when it calls " + quoted(import));
  }

  const Composition& composition_;
  const Bindings& bindings_;
  const RingStages& stages_;
  const std::int64_t repeats_;
  Sequences out_;
  std::vector<contract::Scope> scopes_;
  std::map<Key, std::size_t> protocol_of_;
  std::map<std::size_t, std::size_t> first_place_;
  std::map<PortRef, std::vector<PortRef>> exporters_;
  std::map<std::tuple<std::size_t, std::string, int>, std::size_t> texts_;
  std::set<PortRef> spliced_;
  std::vector<PortRef> calls_;                        ///< that are being followed
  std::map<PortRef, std::vector<Operation>> bodies_;  ///< of exports, by exporter
  std::size_t left_ = kMaxOperations;
  std::string role_;                               ///< whose steps are followed
  bool ends_ = false;                              ///< what is followed is done once
  std::map<std::size_t, std::string> repeats_by_;  ///< protocol → a role that has it within a `*`
};

}  // namespace

Sequences sequences_of(const Composition& composition, const Bindings& bindings, const RingStages& stages,
                       std::int64_t repeats) {
  return Collector(composition, bindings, stages, repeats).run();
}

std::vector<PlaceUses> uses_of(const Sequences& sequences) {
  std::vector<PlaceUses> uses(sequences.places.size());
  for (std::size_t r = 0; r < sequences.roles.size(); ++r) {
    const auto scan = [&](const std::vector<Operation>& operations, std::vector<std::size_t> Use::*list) {
      for (std::size_t at = 0; at < operations.size(); ++at) {
        const Operation& o = operations[at];
        if (!sequences.protocols[sequences.places[o.place].protocol].unchecked.empty()) continue;
        std::vector<Use>& side = o.wait ? uses[o.place].waiters : uses[o.place].arrivers;
        if (side.empty() || side.back().role != r) side.push_back({r, {}, {}});
        (side.back().*list).push_back(at);
      }
    };
    scan(sequences.roles[r].once, &Use::once);
    scan(sequences.roles[r].loop, &Use::loop);
  }
  return uses;
}

}  // namespace pipelink::protocol
