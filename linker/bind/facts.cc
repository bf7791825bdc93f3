#include <algorithm>

#include "linker/bind/fact_type.h"
#include "linker/bind/graph.h"
#include "linker/bind/passes.h"
#include "linker/bind/words.h"

namespace pipelink::binding {
namespace {

using contract::Direction;
using contract::Fact;

bool has_default(const Fact& fact) {
  return fact.value || !fact.text_value.empty();
}

class FactSettler {
 public:
  FactSettler(const Composition& composition, const Told& told, bool ports_settled, Bindings& bindings,
              Faults& faults)
      : composition_(composition),
        told_(told),
        ports_settled_(ports_settled),
        bindings_(bindings),
        faults_(faults) {}

  void run() {
    connect();
    own();
    for (std::size_t i = 0; i < composition_.instances.size(); ++i) {
      for (std::size_t k = 0; k < facts(i).size(); ++k) {
        if (facts(i)[k].direction == Direction::kImport) settle({i, k});
      }
    }
  }

 private:
  const std::vector<Fact>& facts(std::size_t instance) const { return composition_.contract(instance).facts; }
  const Fact& at(PortRef ref) const { return facts(ref.instance)[ref.index]; }
  const std::string& owner(PortRef ref) const { return composition_.instances[ref.instance].name; }
  std::string name(PortRef ref) const { return dotted(composition_, ref.instance, at(ref).name); }
  LabelledFact label(PortRef ref, const std::string& text) const { return {owner(ref), text, at(ref).where}; }
  LabelledFact reads(PortRef ref) const {
    return label(ref, "reads fact " + quoted(at(ref).name) + " as " + type_text(at(ref)));
  }
  LabelledFact owns(PortRef ref) const {
    return label(ref, "owns fact " + quoted(at(ref).name) + ", " + type_text(at(ref)));
  }

  void connect() {
    for (const std::vector<Binding>* list : {&bindings_.callables, &bindings_.handovers, &bindings_.rings}) {
      for (const Binding& b : *list) {
        edges_.insert({b.importer.instance, b.exporter.instance});
        edges_.insert({b.exporter.instance, b.importer.instance});
      }
    }
    part_ = connected_parts(composition_.instances.size(), edges_);
  }

  void add(PortRef ref, bool defaulted) {
    bindings_.fact_of[ref.instance][ref.index] = bindings_.facts.size();
    FactValue value;
    value.owner = ref.instance;
    value.index = ref.index;
    value.type = at(ref).type;
    value.defaulted = defaulted;
    bindings_.facts.push_back(std::move(value));
  }

  void own() {
    for (std::size_t i = 0; i < composition_.instances.size(); ++i) {
      bindings_.fact_of.emplace_back(facts(i).size(), Bindings::npos);
      for (std::size_t k = 0; k < facts(i).size(); ++k) {
        if (facts(i)[k].direction == Direction::kExport) {
          add({i, k}, false);
          owners_[facts(i)[k].name].push_back({i, k});
        }
      }
    }
  }

  void settle(PortRef ref) {
    if (told_.faulty.count(ref)) return;
    if (const auto it = told_.exporters_of.find(ref); it != told_.exporters_of.end()) {
      take(ref, it->second.front());
      return;
    }
    std::vector<PortRef> owners;
    if (const auto it = owners_.find(at(ref).name); it != owners_.end()) {
      for (const PortRef o : it->second) {
        if (o.instance != ref.instance) owners.push_back(o);
      }
    }
    if (owners.empty()) {
      if (has_default(at(ref))) {
        add(ref, true);
      } else {
        missing(ref);
      }
      return;
    }
    const std::vector<PortRef> nearest = owners.size() == 1 ? owners : nearest_of(ref, owners);
    if (nearest.size() == 1) {
      take(ref, nearest.front());
    } else if (ports_settled_) {
      several(ref, owners, nearest);
    }
  }

  /// Those to which the reader is bound; if to none, those to which it is bound through others; else all.
  std::vector<PortRef> nearest_of(PortRef ref, const std::vector<PortRef>& owners) const {
    std::vector<PortRef> direct, indirect;
    for (const PortRef o : owners) {
      if (edges_.count({ref.instance, o.instance})) direct.push_back(o);
      if (part_[ref.instance] == part_[o.instance]) indirect.push_back(o);
    }
    return !direct.empty() ? direct : !indirect.empty() ? indirect : owners;
  }

  void take(PortRef ref, PortRef from) {
    bindings_.fact_of[ref.instance][ref.index] = bindings_.fact_of[from.instance][from.index];
    if (at(ref).type == at(from).type) return;
    Diagnostic d = error("L-FACT-TYPE", "the fact " + quoted(name(from)) + " is read as another type");
    d.facts = {owns(from), reads(ref)};
    d.reason = owner(from) + " states " + std::string(word_of(at(from).type)) + " and " + owner(ref) +
               " reads " + std::string(word_of(at(ref).type));
    d.help = "read it as " + type_text(at(from)) + " in " + owner(ref);
    faults_.push_back(std::move(d));
  }

  void missing(PortRef ref) {
    Diagnostic d = error("L-FACT-MISSING", "the fact " + quoted(name(ref)) + " has no owner and no default");
    d.facts.push_back(reads(ref));
    std::vector<std::string> all;
    for (const auto& [fact_name, unused] : owners_) all.push_back(fact_name);
    std::vector<Proposal> proposals;
    for (const std::string& near : near_names(at(ref).name, all)) {
      for (const PortRef o : owners_.at(near)) {
        if (o.instance == ref.instance) continue;
        d.facts.push_back(owns(o));
        if (at(o).type == at(ref).type) proposals.push_back(bind_proposal(name(ref), name(o)));
      }
    }
    const bool own = owners_.count(at(ref).name) > 0;
    d.reason =
        "0 " + std::string(own ? "other " : "") + "components of the composition own a fact of this name";
    d.help = "add the component that owns it, or state a default where " + owner(ref) + " reads it";
    faults_.push_back(std::move(d), std::move(proposals), true);
  }

  void several(PortRef ref, const std::vector<PortRef>& owners, const std::vector<PortRef>& nearest) {
    Diagnostic d = error("L-FACT-OWNERS", "the fact " + quoted(name(ref)) + " has " +
                                              std::to_string(owners.size()) + " owners");
    d.facts.push_back(reads(ref));
    std::vector<Proposal> proposals;
    for (const PortRef o : owners) {
      const bool near = std::find(nearest.begin(), nearest.end(), o) != nearest.end();
      const bool bound = near && part_[ref.instance] == part_[o.instance];
      d.facts.push_back(owns(o));
      d.facts.back().text += bound ? "; bound to the reader" : "; not bound to the reader";
      if (at(o).type == at(ref).type) proposals.push_back(bind_proposal(name(ref), name(o)));
    }
    const bool any = part_[ref.instance] == part_[nearest.front().instance];
    d.reason = owner(ref) + " is bound to " + std::to_string(any ? nearest.size() : 0) + " of the " +
               std::to_string(owners.size()) + " owners, and only 1 would settle which is meant";
    d.help = "name the owner that is meant with BIND";
    faults_.push_back(std::move(d), std::move(proposals), true);
  }

  const Composition& composition_;
  const Told& told_;
  const bool ports_settled_;
  Bindings& bindings_;
  Faults& faults_;
  Edges edges_;
  std::vector<std::size_t> part_;
  std::map<std::string, std::vector<PortRef>> owners_;
};

}  // namespace

void settle_facts(const Composition& composition, const Told& told, bool ports_settled, Bindings& bindings,
                  Faults& faults) {
  FactSettler(composition, told, ports_settled, bindings, faults).run();
}

}  // namespace pipelink::binding
