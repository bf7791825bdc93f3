#include "linker/check/context.h"

#include <algorithm>

#include "linker/bind/fact_type.h"
#include "linker/bind/words.h"

namespace pipelink::checking {

using binding::dotted;
using binding::quoted;
using binding::value_text;
using contract::Amount;
using contract::Fact;

Context::Context(const Composition& c, const Bindings& b, const RingStages* stages)
    : composition(c), bindings(b), placed(stages != nullptr) {
  for (std::size_t i = 0; i < c.instances.size(); ++i) {
    scopes_.push_back(expression_scope(c, b, i, stages ? *stages : RingStages{}));
  }
}

std::optional<std::size_t> Context::fact(std::size_t instance, const std::string& name) const {
  const std::vector<Fact>& facts = contract(instance).facts;
  for (std::size_t k = 0; k < facts.size(); ++k) {
    if (facts[k].name == name && bindings.fact_of[instance][k] != Bindings::npos)
      return bindings.fact_of[instance][k];
  }
  return std::nullopt;
}

bool Context::reads_placement(std::size_t instance, const Amount& amount) const {
  for (const std::string& name : contract::names_of(amount)) {
    if (const auto v = fact(instance, name)) {
      if (bindings.facts[*v].from_placement) return true;
    } else if (name.find('.') != std::string::npos) {
      return true;
    }
  }
  return false;
}

Value Context::evaluate(std::size_t instance, const Amount& amount) const {
  Value value;
  const bool reads = reads_placement(instance, amount);
  value.later = reads && !placed;
  if (value.later) return value;
  const contract::Evaluation result = contract::evaluate(amount, scope(instance));
  value.number = result.value;
  value.error = result.error;
  return value;
}

std::string Context::shown(std::size_t instance, const Amount& amount) const {
  if (amount.expression.empty()) return std::to_string(amount.number);
  const Value value = evaluate(instance, amount);
  return quoted(amount.expression) + (value.number ? " = " + std::to_string(*value.number) : "");
}

std::string Context::with_values(std::size_t instance, const Amount& amount) const {
  std::vector<std::string> parts;
  for (const std::string& name : contract::names_of(amount)) {
    const auto it = scope(instance).find(name);
    if (it == scope(instance).end()) continue;
    const auto v = fact(instance, name);
    parts.push_back(name + " = " +
                    value_text(it->second, v ? bindings.facts[*v].type : contract::FactType::kInteger));
  }
  return binding::joined(parts, ", ");
}

std::vector<LabelledFact> Context::sources(std::size_t instance, const Amount& amount) const {
  std::vector<LabelledFact> out;
  for (const std::string& name : contract::names_of(amount)) {
    const auto it = scope(instance).find(name);
    if (it == scope(instance).end()) continue;
    const auto v = fact(instance, name);
    if (!v) {
      out.push_back({"placement", name + " is " + std::to_string(it->second), {}});
      continue;
    }
    const FactValue& value = bindings.facts[*v];
    const Fact& f = contract(value.owner).facts[value.index];
    std::string text = quoted(f.name) + " is " + value_text(it->second, value.type);
    if (value.set_by_composition) text += ", set by the composition";
    if (value.defaulted) text += ", the default of its import";
    out.push_back({owner(value.owner), std::move(text), f.where});
  }
  return out;
}

void Context::settable(std::size_t instance, const Amount& amount, std::set<std::size_t>& seen,
                       std::vector<std::size_t>& found) const {
  for (const std::string& name : contract::names_of(amount)) {
    const auto v = fact(instance, name);
    if (!v || !seen.insert(*v).second) continue;
    const FactValue& value = bindings.facts[*v];
    const Fact& f = contract(value.owner).facts[value.index];
    if (f.settable && !value.defaulted) found.push_back(*v);
    if (!value.set_by_composition && f.value) settable(value.owner, *f.value, seen, found);
  }
}

std::vector<Proposal> Context::settings(std::size_t instance, const Amount& amount) const {
  std::set<std::size_t> seen;
  std::vector<std::size_t> found;
  settable(instance, amount, seen, found);
  std::vector<Proposal> out;
  for (const std::size_t v : found) {
    const FactValue& value = bindings.facts[v];
    const Fact& f = contract(value.owner).facts[value.index];
    std::vector<std::int64_t> domain = f.domain;
    if (domain.empty() && f.type == contract::FactType::kBoolean) domain = {0, 1};
    const auto distance = [&](std::int64_t n) {
      const auto a = static_cast<std::uint64_t>(n), b = static_cast<std::uint64_t>(value.integer);
      return n < value.integer ? b - a : a - b;
    };
    std::stable_sort(domain.begin(), domain.end(),
                     [&](std::int64_t a, std::int64_t b) { return distance(a) < distance(b); });
    const std::string name = dotted(composition, value.owner, f.name);
    for (const std::int64_t n : domain) {
      if (n == value.integer) continue;
      const std::string text = value_text(n, f.type);
      out.push_back({"SET " + name + "=" + text, [name, text](Composition& c) { c.set[name] = text; }});
    }
  }
  return out;
}

}  // namespace pipelink::checking
