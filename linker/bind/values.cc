#include <algorithm>

#include "linker/bind/fact_type.h"
#include "linker/bind/graph.h"
#include "linker/bind/passes.h"
#include "linker/bind/words.h"
#include "packager/contract/expression.h"

namespace pipelink::binding {
namespace {

using contract::Fact;
using contract::FactType;

class Evaluator {
 public:
  Evaluator(const Composition& composition, Bindings& bindings, const RingStages* stages, Faults& faults)
      : composition_(composition), bindings_(bindings), stages_(stages), faults_(faults) {}

  void run() {
    Edges edges;
    for (std::size_t v = 0; v < bindings_.facts.size(); ++v) {
      const FactValue& value = bindings_.facts[v];
      if (value.set_by_composition || !fact(v).value) continue;
      for (const std::string& name : contract::names_of(*fact(v).value)) {
        if (const auto target = lookup(value.owner, name)) edges.insert({v, *target});
      }
    }
    const Order order = dependency_order(bindings_.facts.size(), edges);
    for (const auto& cycle : order.cycles) report(cycle);
    unknown_.assign(bindings_.facts.size(), true);  // those on cycles stay so
    for (const std::size_t v : order.sequence) unknown_[v] = false;
    for (const std::size_t v : order.sequence) evaluate(v);
    for (std::size_t i = 0; i < composition_.instances.size(); ++i) {
      for (std::size_t k = 0; k < bindings_.fact_of[i].size(); ++k) check_reader(i, k);
    }
  }

 private:
  const Fact& fact(std::size_t v) const {
    return composition_.contract(bindings_.facts[v].owner).facts[bindings_.facts[v].index];
  }
  std::string name(std::size_t v) const {
    return dotted(composition_, bindings_.facts[v].owner, fact(v).name);
  }
  const std::string& owner(std::size_t v) const {
    return composition_.instances[bindings_.facts[v].owner].name;
  }

  /// The value that a name means in `instance`.
  std::optional<std::size_t> lookup(std::size_t instance, const std::string& word) const {
    const auto& facts = composition_.contract(instance).facts;
    for (std::size_t k = 0; k < facts.size(); ++k) {
      const std::size_t at = bindings_.fact_of[instance][k];
      if (facts[k].name == word && at != Bindings::npos) return at;
    }
    return std::nullopt;
  }

  bool known_import(std::size_t instance, const std::string& word) const {
    const auto& facts = composition_.contract(instance).facts;
    return std::any_of(facts.begin(), facts.end(), [&](const Fact& f) { return f.name == word; });
  }

  void report(const std::vector<std::size_t>& cycle) {
    Diagnostic d = error("L-FACT-CYCLE", "the fact " + quoted(name(cycle.front())) + " depends on itself");
    std::vector<std::string> names;
    for (const std::size_t v : cycle) {
      d.facts.push_back(
          {owner(v), "states " + quoted(fact(v).name) + " as " + quoted(contract::to_text(*fact(v).value)),
           fact(v).where});
      names.push_back(name(v));
    }
    names.push_back(name(cycle.front()));
    d.reason = joined(names, " -> ");
    d.help = "state one of them as a number";
    faults_.push_back(std::move(d));
  }

  void refuse(const char* clause, std::size_t v, std::string title, std::string reason, std::string help,
              std::vector<Proposal> proposals = {}) {
    Diagnostic d = error(clause, std::move(title));
    d.facts.push_back({owner(v),
                       "states " + quoted(fact(v).name) + " as " +
                           quoted(fact(v).value ? contract::to_text(*fact(v).value) : fact(v).text_value),
                       fact(v).where});
    d.reason = std::move(reason);
    d.help = std::move(help);
    faults_.push_back(std::move(d), std::move(proposals));
    unknown_[v] = true;
  }

  void evaluate(std::size_t v) {
    FactValue& value = bindings_.facts[v];
    if (value.set_by_composition || (stages_ && !value.from_placement)) return;
    if (value.type == FactType::kReal || value.type == FactType::kText) {
      value.text = fact(v).text_value;
      return;
    }
    if (!fact(v).value) {
      refuse("L-FACT-MISSING", v, "the fact " + quoted(name(v)) + " has no value", "its owner states none",
             "state its value in " + owner(v));
      return;
    }
    contract::Scope scope;
    for (const std::string& word : contract::names_of(*fact(v).value)) {
      if (const auto target = lookup(value.owner, word)) {
        const FactValue& needed = bindings_.facts[*target];
        value.from_placement = value.from_placement || needed.from_placement;
        if (unknown_[*target]) {
          unknown_[v] = true;
          return;
        }
        if (needed.type == FactType::kInteger || needed.type == FactType::kBoolean)
          scope[word] = needed.integer;
      } else if (known_import(value.owner, word)) {
        unknown_[v] = true;  // reported where it was settled
        return;
      } else if (const auto depth = ring_depth(value.owner, word)) {
        value.from_placement = true;
        if (stages_ && *depth) scope[word] = **depth;
      }
    }
    if (value.from_placement && !stages_) return;
    const contract::Evaluation result = contract::evaluate(*fact(v).value, scope);
    if (!result) {
      std::vector<std::string> values;
      for (const auto& [word, number] : scope) values.push_back(word + " = " + std::to_string(number));
      refuse("P-EXPRESSION", v, "the fact " + quoted(name(v)) + " cannot be evaluated",
             result.error + (values.empty() ? "" : " with " + joined(values, ", ")),
             "correct the expression in " + owner(v));
      return;
    }
    value.integer = *result;
    check_value(v);
  }

  /// For `RING.stages`: nullopt if there is no such ring, else its depth if it is placed.
  std::optional<std::optional<std::int64_t>> ring_depth(std::size_t instance, const std::string& word) const {
    constexpr std::string_view kSuffix = ".stages";
    if (!word.ends_with(kSuffix)) return std::nullopt;
    const std::string ring = word.substr(0, word.size() - kSuffix.size());
    const auto& rings = composition_.contract(instance).rings;
    for (std::size_t r = 0; r < rings.size(); ++r) {
      if (rings[r].name != ring) continue;
      PortRef at{instance, r};
      if (rings[r].direction == contract::Direction::kImport) {
        const PortRef* exporter = exporter_of(bindings_.rings, at);
        if (!exporter) return std::optional<std::int64_t>();
        at = *exporter;
      }
      if (!stages_ || !stages_->count(at)) return std::optional<std::int64_t>();
      return std::optional<std::int64_t>(stages_->at(at));
    }
    return std::nullopt;
  }

  void check_value(std::size_t v) {
    const Fact& f = fact(v);
    const std::int64_t n = bindings_.facts[v].integer;
    if (f.settable && !f.domain.empty() && std::find(f.domain.begin(), f.domain.end(), n) == f.domain.end()) {
      std::vector<Proposal> proposals;
      for (const std::int64_t value : f.domain) {
        const std::string target = name(v), text = value_text(value, f.type);
        proposals.push_back({"SET " + target + "=" + text, [=](Composition& c) { c.set[target] = text; }});
      }
      refuse("L-FACT-DOMAIN", v, "the default of " + quoted(name(v)) + " is outside its domain",
             std::to_string(n) + " is none of " + domain_text(f),
             "state a default of the domain in " + owner(v), std::move(proposals));
    }
  }

  /// The C++ type of each handle, the owner's included, holds the value.
  void check_reader(std::size_t instance, std::size_t k) {
    const std::size_t v = bindings_.fact_of[instance][k];
    if (v == Bindings::npos || unknown_[v]) return;
    const FactValue& value = bindings_.facts[v];
    const Fact& reader = composition_.contract(instance).facts[k];
    if (reader.type == FactType::kText && value.type == FactType::kText)
      return check_text(instance, reader, v);
    const std::optional<contract::IntegerRange> range = range_of(reader);
    if (!range || reader.type != value.type || (value.from_placement && !stages_)) return;
    if (stages_ && !value.from_placement) return;
    if (reader.type != FactType::kInteger && reader.type != FactType::kBoolean) return;
    if (value.integer >= range->low && value.integer <= range->high) return;
    Diagnostic d =
        error("L-FACT-TYPE", "the value of " + quoted(name(v)) + " does not fit the type that reads it");
    d.facts.push_back(
        {owner(v), "states " + quoted(fact(v).name) + " as " + std::to_string(value.integer), fact(v).where});
    d.facts.push_back(
        {composition_.instances[instance].name, "reads it as " + type_text(reader), reader.where});
    d.reason = std::to_string(value.integer) + " is outside " + std::to_string(range->low) + " to " +
               std::to_string(range->high);
    d.help = "read it as a wider type in " + composition_.instances[instance].name;
    faults_.push_back(std::move(d));
  }

  /// A reader of a text has code for those that it lists.
  void check_text(std::size_t instance, const Fact& reader, std::size_t v) {
    const std::string& text = bindings_.facts[v].text;
    if (stages_ || reader.direction != contract::Direction::kImport ||
        std::find(reader.texts.begin(), reader.texts.end(), text) != reader.texts.end())
      return;
    const std::string& who = composition_.instances[instance].name;
    Diagnostic d =
        error("L-FACT-DOMAIN", "the fact " + quoted(name(v)) + " is a text that its reader does not take");
    d.facts.push_back({owner(v), "states " + quoted(fact(v).name) + " as " + quoted(text), fact(v).where});
    d.facts.push_back({who, "has code for " + domain_text(reader), reader.where});
    d.reason =
        quoted(text) + " is none of the " + std::to_string(reader.texts.size()) + " that " + who + " lists";
    d.help = "use a component that takes it, or another owner of " + quoted(fact(v).name);
    std::vector<Proposal> proposals;
    for (const std::string& other : fact(v).texts)
      if (fact(v).settable) {
        const std::string target = name(v);
        proposals.push_back({"SET " + target + "=" + other, [=](Composition& c) { c.set[target] = other; }});
      }
    faults_.push_back(std::move(d), std::move(proposals));
  }

  const Composition& composition_;
  Bindings& bindings_;
  const RingStages* stages_;
  Faults& faults_;
  std::vector<bool> unknown_;  ///< values in error: what depends on them is not judged
};

}  // namespace

void evaluate_facts(const Composition& composition, Bindings& bindings, const RingStages* stages,
                    Faults& faults) {
  Evaluator(composition, bindings, stages, faults).run();
}

}  // namespace pipelink::binding
