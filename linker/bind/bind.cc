#include "linker/bind/passes.h"
#include "linker/bind/words.h"

namespace pipelink {
namespace binding {

void report_isolated(const Composition& composition, const Bindings& bindings, Diagnostics& faults) {
  const std::size_t count = composition.instances.size();
  if (count < 2) return;
  std::vector<bool> bound(count);
  for (const std::vector<Binding>* list : {&bindings.callables, &bindings.rings}) {
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
                           counted(c.callables.size(), "callable") + ", " + counted(c.rings.size(), "ring"),
                       c.where});
    d.reason =
        std::string("0 callables, rings and facts join it to others") +
        (c.roles.empty() ? ", and without a role nothing runs its code" : "; its roles run beside theirs");
    if (c.roles.empty()) d.help = "remove it from the composition";
    faults.push_back(std::move(d));
  }
}

}  // namespace binding

Outcome<Bindings> bind(const Composition& composition) {
  Bindings bindings;
  Diagnostics faults;
  const binding::BindEntries told = binding::resolve_bind(composition, faults);
  const bool calls = binding::settle_callables(composition, told.callables, bindings, faults);
  const bool rings = binding::settle_rings(composition, told.rings, bindings, faults);
  binding::settle_tensors(composition, bindings, faults);
  binding::settle_facts(composition, told.facts, calls && rings, bindings, faults);
  binding::apply_set(composition, bindings, faults);
  binding::evaluate_facts(composition, bindings, nullptr, faults);
  if (has_error(faults)) return faults;
  binding::report_isolated(composition, bindings, faults);
  return {std::move(bindings), std::move(faults)};
}

Outcome<Bindings> with_placement(const Composition& composition, const Bindings& bindings,
                                 const RingStages& stages) {
  Bindings placed = bindings;
  Diagnostics faults;
  binding::evaluate_facts(composition, placed, &stages, faults);
  if (has_error(faults)) return faults;
  return {std::move(placed), std::move(faults)};
}

std::map<std::string, std::int64_t> expression_scope(const Composition& composition, const Bindings& bindings,
                                                     std::size_t instance, const RingStages& stages) {
  // Facts that read the placement are evaluated only if there is one, and if this instance sees any.
  const Bindings* source = &bindings;
  Bindings placed;
  if (!stages.empty()) {
    for (const std::size_t v : bindings.fact_of[instance]) {
      if (v == Bindings::npos || !bindings.facts[v].from_placement || source == &placed) continue;
      Diagnostics ignored;  // with_placement reports them
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
