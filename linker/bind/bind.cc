#include <set>
#include <utility>

#include "linker/bind/passes.h"
#include "linker/bind/words.h"

namespace pipelink {
namespace binding {

void report_isolated(const Composition& composition, const Bindings& bindings, Faults& faults) {
  const std::size_t count = composition.instances.size();
  if (count < 2) return;
  std::vector<bool> bound(count);
  for (const std::vector<Binding>* list :
       {&bindings.callables, &bindings.handovers, &bindings.rings, &bindings.counters}) {
    for (const Binding& b : *list) {
      if (b.importer.instance == b.exporter.instance) continue;
      bound[b.importer.instance] = bound[b.exporter.instance] = true;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (const std::size_t v : bindings.fact_of[i]) {
      if (v != Bindings::npos && bindings.facts[v].owner != i)
        bound[i] = bound[bindings.facts[v].owner] = true;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    if (bound[i]) continue;
    const contract::Contract& c = composition.contract(i);
    Diagnostic d =
        error("L-ISOLATED", quoted(composition.instances[i].name) + " is bound to no other component");
    d.severity = c.roles.empty() ? Severity::kWarning : Severity::kNote;
    d.facts.push_back({composition.instances[i].name,
                       "has " + counted(c.roles.size(), "role") + ", " +
                           counted(c.callables.size(), "callable") + ", " + counted(c.rings.size(), "ring") +
                           (c.counters.empty() ? "" : ", " + counted(c.counters.size(), "counter")),
                       c.where});
    d.reason =
        std::string("0 callables, rings and facts join it to others") +
        (c.roles.empty() ? ", and without a role nothing runs its code" : "; its roles run beside theirs");
    if (c.roles.empty()) d.help = "remove it from the composition";
    faults.push_back(std::move(d));
  }
}

}  // namespace binding

namespace {

using binding::Faults;

Bindings settle(const Composition& composition, Faults& faults) {
  Bindings bindings;
  const binding::BindEntries told = binding::resolve_bind(composition, faults);
  const bool calls = binding::settle_callables(composition, told, bindings, faults);
  binding::refuse_recursion(composition, bindings, faults);
  const bool rings = binding::settle_rings(composition, told.rings, bindings, faults);
  const bool counters = binding::settle_counters(composition, told.counters, bindings, faults);
  binding::settle_tensors(composition, bindings, faults);
  binding::settle_facts(composition, told.facts, calls && rings && counters, bindings, faults);
  binding::apply_set(composition, bindings, faults);
  binding::evaluate_facts(composition, bindings, nullptr, faults);
  return bindings;
}

/// Tries what the faults propose, one after another.
class Trials {
 public:
  Trials(const Composition& composition, const Judge& judge, const Faults& before)
      : composition_(composition), judge_(judge) {
    for (const binding::Fault& f : before.list) before_.insert(key(f.diagnostic));
  }

  /// The help is the proposals that end this error and bring no other, if there are any.
  void settle(binding::Fault& fault) {
    std::vector<std::string> lines;
    for (const Proposal& proposal : fault.proposals) {
      if (left_ == 0 || (!lines.empty() && !fault.all)) break;
      --left_;
      if (works(proposal, key(fault.diagnostic))) lines.push_back(proposal.help);
    }
    if (!lines.empty()) fault.diagnostic.help = binding::joined(lines, " or ");
  }

 private:
  using Key = std::pair<std::string, std::string>;  ///< clause, title
  static Key key(const Diagnostic& d) { return {d.clause, d.title}; }

  bool works(const Proposal& proposal, const Key& goal) const {
    Composition changed = composition_;
    proposal.apply(changed);
    Faults faults;
    const Bindings bindings = pipelink::settle(changed, faults);
    for (const binding::Fault& f : faults.list)
      if (key(f.diagnostic) == goal || !before_.count(key(f.diagnostic))) return false;
    return !faults.list.empty() || !judge_ || judge_(changed, bindings);
  }

  const Composition& composition_;
  const Judge& judge_;
  std::set<Key> before_;
  int left_ = 256;  ///< bounds the work, by count
};

}  // namespace

Outcome<Bindings> bind(const Composition& composition, const Judge& judge) {
  Faults faults;
  Bindings bindings = settle(composition, faults);
  if (!faults.list.empty()) {
    Trials trials(composition, judge, faults);
    for (binding::Fault& f : faults.list) trials.settle(f);
    return faults.diagnostics();
  }
  binding::report_isolated(composition, bindings, faults);
  return {std::move(bindings), faults.diagnostics()};
}

std::optional<Bindings> bind_if_right(const Composition& composition) {
  Faults faults;
  Bindings bindings = settle(composition, faults);
  if (!faults.list.empty()) return std::nullopt;
  return bindings;
}

Outcome<Bindings> with_placement(const Composition& composition, const Bindings& bindings,
                                 const RingStages& stages) {
  Bindings placed = bindings;
  Faults faults;
  binding::evaluate_facts(composition, placed, &stages, faults);
  if (!faults.list.empty()) return faults.diagnostics();
  return placed;
}

std::map<std::string, std::int64_t> expression_scope(const Composition& composition, const Bindings& bindings,
                                                     std::size_t instance, const RingStages& stages) {
  // Facts that read the placement are evaluated only if there is one, and if this instance sees any.
  const Bindings* source = &bindings;
  Bindings placed;
  if (!stages.empty()) {
    for (const std::size_t v : bindings.fact_of[instance]) {
      if (v == Bindings::npos || !bindings.facts[v].from_placement || source == &placed) continue;
      Faults ignored;  // with_placement reports them
      placed = bindings;
      binding::evaluate_facts(composition, placed, &stages, ignored);
      source = &placed;
    }
  }
  std::map<std::string, std::int64_t> scope;
  const contract::Contract& c = composition.contract(instance);
  for (std::size_t k = 0; k < c.facts.size(); ++k) {
    const std::size_t v = source->fact_of[instance][k];
    if (v == Bindings::npos) continue;
    const FactValue& value = source->facts[v];
    const bool number =
        value.type == contract::FactType::kInteger || value.type == contract::FactType::kBoolean;
    if (number && (!value.from_placement || !stages.empty())) scope[c.facts[k].name] = value.integer;
  }
  for (std::size_t r = 0; r < c.rings.size(); ++r) {
    PortRef at{instance, r};
    if (c.rings[r].direction == contract::Direction::kImport) {
      const PortRef* exporter = exporter_of(bindings.rings, at);
      if (!exporter) continue;
      at = *exporter;
    }
    if (const auto it = stages.find(at); it != stages.end()) scope[c.rings[r].name + ".stages"] = it->second;
  }
  return scope;
}

}  // namespace pipelink
