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

/// Of any number of digits.
bool is_integer(const std::string& text) {
  const std::size_t first = text.starts_with('-') ? 1 : 0;
  return text.size() > first && text.find_first_not_of("0123456789", first) == std::string::npos;
}

bool in_domain(const Fact& fact, const FactValue& value) {
  if (fact.type == contract::FactType::kText)
    return std::find(fact.texts.begin(), fact.texts.end(), value.text) != fact.texts.end();
  if (fact.type == contract::FactType::kReal) return in_range(fact, value.text);
  return fact.domain.empty() ||
         std::find(fact.domain.begin(), fact.domain.end(), value.integer) != fact.domain.end();
}

class Setter {
 public:
  Setter(const Composition& composition, Bindings& bindings, Faults& faults)
      : composition_(composition), bindings_(bindings), faults_(faults) {}

  void set(const std::string& target, const std::string& text) {
    target_ = target;
    text_ = text;
    entry_ = {"composition", "SET " + target + "=" + shortened(text), composition_.where("SET " + target)};
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
  std::vector<Proposal> offers(const FactValue& v, Diagnostic& d) const {
    const Fact& f = fact(v);
    const std::string name = dotted(composition_, v.owner, f.name);
    FactValue parsed;
    d.help = "set a fact that is settable";
    if (!f.settable) return {removal(": " + quoted(name) + " is fixed")};
    d.help = "SET " + name + " to " + allowed_text(f);
    if (!parse_value(text_, f.type, parsed)) return {};
    if (f.domain.empty() && f.texts.empty() && in_domain(f, parsed))
      return {setting(name, value_text(parsed))};
    return settings(name, f, parsed);
  }

  Proposal removal(const std::string& why = {}) const {
    return {"remove SET " + target_ + why, [target = target_](Composition& c) { c.set.erase(target); }};
  }
  Proposal setting(const std::string& name, const std::string& value) const {
    return {"SET " + name + "=" + value, [=, target = target_](Composition& c) {
              c.set.erase(target);
              c.set[name] = value;
            }};
  }
  static std::string outside(const Fact& f, const FactValue& wanted) {
    if (f.type == contract::FactType::kReal) return shortened(wanted.text) + " is no such number";
    return value_text(wanted) + " is none of the " + std::to_string(f.domain.size() + f.texts.size()) +
           " values of the domain";
  }
  /// Values of the domain, those nearest to `wanted` first.
  std::vector<Proposal> settings(const std::string& name, const Fact& f, const FactValue& wanted) const {
    std::vector<Proposal> out;
    if (f.type == contract::FactType::kReal) {
      out = {setting(name, f.least), setting(name, f.most)};
      if (above_range(f, wanted.text)) std::swap(out.front(), out.back());
    }
    for (const std::string& text : f.texts) out.push_back(setting(name, text));
    for (std::vector<std::int64_t> left = f.domain; !left.empty();) {
      const std::int64_t value = nearest_of(left, wanted.integer);
      std::erase(left, value);
      out.push_back(setting(name, value_text(value, f.type)));
    }
    return out;
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
    std::vector<Proposal> proposals;
    for (const std::string& near : near_names(target_, settable)) {
      for (const FactValue& v : bindings_.facts) {
        if (v.defaulted || dotted(composition_, v.owner, fact(v).name) != near) continue;
        for (Proposal& p : offers(v, d)) proposals.push_back(std::move(p));
      }
    }
    d.help = "name a fact that can be set";
    proposals.push_back(removal());
    faults_.push_back(std::move(d), std::move(proposals));
  }

  void at_reader(PortRef reader) {
    Diagnostic d = error("L-SET", "a value is set for " + quoted(target_) + ", which is only read there");
    d.facts.push_back(entry_);
    d.facts.push_back({composition_.instances[reader.instance].name,
                       "reads fact " + quoted(fact(reader).name), fact(reader).where});
    const std::size_t at = bindings_.fact_of[reader.instance][reader.index];
    if (at == Bindings::npos || bindings_.facts[at].defaulted) {
      d.reason = "a fact is set at its owner, and here it has none";
      d.help = "set a fact at its owner";
      faults_.push_back(std::move(d), {removal()});
    } else {
      const FactValue& v = bindings_.facts[at];
      d.facts.push_back(
          {composition_.instances[v.owner].name, "owns fact " + quoted(fact(v).name), fact(v).where});
      d.reason = "a fact is set at its owner, which is " + quoted(composition_.instances[v.owner].name);
      std::vector<Proposal> proposals = offers(v, d);
      faults_.push_back(std::move(d), std::move(proposals));
    }
  }

  void at_owner(FactValue& value) {
    const Fact& f = fact(value);
    FactValue parsed = value;
    if (!f.settable) {
      const std::string states = f.value ? contract::to_text(*f.value) : f.text_value;
      refuse(value, "L-FACT-FIXED", "the fact " + quoted(target_) + " is fixed",
             "states it as " + quoted(states),
             "the value is compiled into " + quoted(composition_.instances[value.owner].component),
             "use a component that states the value that is wanted", {removal()});
    } else if (!parse_value(text_, f.type, parsed)) {
      refuse(value, "L-FACT-TYPE", "the value set for " + quoted(target_) + " is of another type",
             "states it as " + type_text(f),
             f.type == contract::FactType::kInteger && is_integer(text_)
                 ? quoted(shortened(text_)) + " does not fit 64 bits"
                 : quoted(shortened(text_)) + " is not " + std::string(word_of(f.type)),
             "SET " + target_ + " to " + allowed_text(f));
    } else if (round_to_type(f, parsed); !in_domain(f, parsed)) {
      refuse(value, "L-FACT-DOMAIN", "the value set for " + quoted(target_) + " is outside its domain",
             "lets it be " + allowed_text(f), outside(f, parsed), "SET " + target_ + " to " + allowed_text(f),
             settings(target_, f, parsed));
    } else {
      value = std::move(parsed);
      value.set_by_composition = true;
    }
  }

  void refuse(FactValue& value, const char* clause, std::string title, std::string says, std::string reason,
              std::string help, std::vector<Proposal> proposals = {}) {
    Diagnostic d = error(clause, std::move(title));
    d.facts = {entry_, {composition_.instances[value.owner].name, std::move(says), fact(value).where}};
    d.reason = std::move(reason);
    d.help = std::move(help);
    faults_.push_back(std::move(d), std::move(proposals));
  }

  const Composition& composition_;
  Bindings& bindings_;
  Faults& faults_;
  std::string target_, text_;
  LabelledFact entry_;
};

}  // namespace

void apply_set(const Composition& composition, Bindings& bindings, Faults& faults) {
  Setter setter(composition, bindings, faults);
  for (const auto& [target, text] : composition.set) setter.set(target, text);
}

}  // namespace pipelink::binding
