#include <algorithm>
#include <optional>

#include "linker/bind/fact_type.h"
#include "linker/bind/passes.h"
#include "linker/bind/words.h"
#include "packager/contract/expression.h"

namespace pipelink::binding {
namespace {

using contract::Direction;
using contract::Fact;

std::int64_t nearest_of(const std::vector<std::int64_t>& domain, std::int64_t wanted) {
  const auto distance = [&](std::int64_t v) {
    const auto a = static_cast<std::uint64_t>(v), b = static_cast<std::uint64_t>(wanted);
    return v < wanted ? b - a : a - b;
  };
  return *std::min_element(domain.begin(), domain.end(),
                           [&](std::int64_t a, std::int64_t b) { return distance(a) < distance(b); });
}

bool in_domain(const Fact& fact, std::int64_t value) {
  return fact.domain.empty() || std::find(fact.domain.begin(), fact.domain.end(), value) != fact.domain.end();
}

class Setter {
 public:
  Setter(const Composition& composition, Bindings& bindings, Diagnostics& faults)
      : composition_(composition), bindings_(bindings), faults_(faults) {}

  void set(const std::string& target, const std::string& text) {
    target_ = target;
    text_ = text;
    entry_ = {"composition", "SET " + target + "=" + text, composition_.where("SET " + target)};
    const std::optional<PortRef> found = find();
    if (!found) {
      unknown();
    } else if (fact(*found).direction == Direction::kImport) {
      at_reader(*found);
    } else {
      at_owner(bindings_.facts[bindings_.fact_of[found->instance][found->index]]);
    }
  }

 private:
  const Fact& fact(PortRef ref) const { return composition_.contract(ref.instance).facts[ref.index]; }
  const Fact& fact(const FactValue& v) const { return composition_.contract(v.owner).facts[v.index]; }

  std::optional<PortRef> find() const {
    for (std::size_t i = 0; i < composition_.instances.size(); ++i) {
      for (std::size_t k = 0; k < composition_.contract(i).facts.size(); ++k) {
        if (dotted(composition_, i, fact(PortRef{i, k}).name) == target_) return PortRef{i, k};
      }
    }
    return std::nullopt;
  }

  /// The SET of another fact that comes nearest to what was meant.
  std::string offer(const FactValue& v) const {
    const Fact& f = fact(v);
    const std::string name = dotted(composition_, v.owner, f.name);
    FactValue parsed;
    if (!f.settable) return "remove SET " + target_ + ": " + quoted(name) + " is fixed";
    if (!parse_value(text_, f.type, parsed)) return "SET " + name + " to one of " + domain_text(f);
    if (!in_domain(f, parsed.integer)) parsed.integer = nearest_of(f.domain, parsed.integer);
    return "SET " + name + "=" + value_text(parsed);
  }

  void unknown() {
    std::vector<std::string> settable;
    for (const FactValue& v : bindings_.facts) {
      if (!v.defaulted && fact(v).settable) settable.push_back(dotted(composition_, v.owner, fact(v).name));
    }
    Diagnostic d = error("L-SET", "a value is set for " + quoted(target_) + ", which no instance has");
    d.facts.push_back(entry_);
    d.reason = settable.empty() ? "this composition has no settable fact"
                                : "the settable facts are " + joined(settable, ", ");
    d.help = "remove SET " + target_;
    if (const std::vector<std::string> near = near_names(target_, settable); !near.empty()) {
      for (const FactValue& v : bindings_.facts) {
        if (!v.defaulted && dotted(composition_, v.owner, fact(v).name) == near.front()) d.help = offer(v);
      }
    }
    faults_.push_back(std::move(d));
  }

  void at_reader(PortRef reader) {
    Diagnostic d = error("L-SET", "a value is set for " + quoted(target_) + ", which is only read there");
    d.facts.push_back(entry_);
    d.facts.push_back({composition_.instances[reader.instance].name,
                       "reads fact " + quoted(fact(reader).name), fact(reader).where});
    const std::size_t at = bindings_.fact_of[reader.instance][reader.index];
    if (at == Bindings::npos || bindings_.facts[at].defaulted) {
      d.reason = "a fact is set at its owner, and here it has none";
      d.help = "remove SET " + target_;
    } else {
      const FactValue& v = bindings_.facts[at];
      d.facts.push_back(
          {composition_.instances[v.owner].name, "owns fact " + quoted(fact(v).name), fact(v).where});
      d.reason = "a fact is set at its owner, which is " + quoted(composition_.instances[v.owner].name);
      d.help = offer(v);
    }
    faults_.push_back(std::move(d));
  }

  void at_owner(FactValue& value) {
    const Fact& f = fact(value);
    FactValue parsed = value;
    if (!f.settable) {
      const std::string states = f.value ? contract::to_text(*f.value) : f.text_value;
      refuse(value, "L-FACT-FIXED", "the fact " + quoted(target_) + " is fixed",
             "states it as " + quoted(states),
             "the value is compiled into " + quoted(composition_.instances[value.owner].component),
             "remove SET " + target_);
    } else if (!parse_value(text_, f.type, parsed)) {
      refuse(value, "L-FACT-TYPE", "the value set for " + quoted(target_) + " is of another type",
             "states it as " + type_text(f), quoted(text_) + " is not " + std::string(word_of(f.type)),
             f.domain.empty() ? "SET " + target_ + " to " + std::string(word_of(f.type))
                              : "SET " + target_ + " to one of " + domain_text(f));
    } else if (!in_domain(f, parsed.integer)) {
      refuse(
          value, "L-FACT-DOMAIN", "the value set for " + quoted(target_) + " is outside its domain",
          "lets it be one of " + domain_text(f),
          value_text(parsed) + " is none of the " + std::to_string(f.domain.size()) + " values of the domain",
          "SET " + target_ + "=" + value_text(nearest_of(f.domain, parsed.integer), f.type));
    } else {
      value = std::move(parsed);
      value.set_by_composition = true;
    }
  }

  void refuse(FactValue& value, const char* clause, std::string title, std::string says, std::string reason,
              std::string help) {
    Diagnostic d = error(clause, std::move(title));
    d.facts = {entry_, {composition_.instances[value.owner].name, std::move(says), fact(value).where}};
    d.reason = std::move(reason);
    d.help = std::move(help);
    faults_.push_back(std::move(d));
  }

  const Composition& composition_;
  Bindings& bindings_;
  Diagnostics& faults_;
  std::string target_, text_;
  LabelledFact entry_;
};

}  // namespace

void apply_set(const Composition& composition, Bindings& bindings, Diagnostics& faults) {
  Setter setter(composition, bindings, faults);
  for (const auto& [target, text] : composition.set) setter.set(target, text);
}

}  // namespace pipelink::binding
