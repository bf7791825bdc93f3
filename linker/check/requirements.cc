#include "linker/bind/words.h"
#include "linker/check/context.h"

namespace pipelink::checking {
namespace {

using binding::quoted;
using contract::Amount;

void check_requirement(const Context& context, std::size_t i, const contract::Requirement& r,
                       Findings& findings) {
  const Amount amount{0, r.expression};
  const bool reads = context.reads_placement(i, amount);
  if (reads != context.placed) return;
  const Value value = context.evaluate(i, amount);
  if (value.number && *value.number != 0) return;
  const std::string name = quoted(context.owner(i) + "." + r.name);
  const std::string values = context.with_values(i, amount);
  const std::string with = values.empty() ? "" : " with " + values;
  Finding f;
  Diagnostic& d = f.diagnostic;
  if (value.number) {
    d = binding::error("L-REQUIRE", "the requirement " + name + " does not hold");
    d.reason = quoted(r.expression) + " is false" + with;
    d.help = reads ? "a requirement does not steer placement: state the least depth in stages_min of the ring"
                   : "use a component whose facts meet " + quoted(r.expression);
    f.proposals = context.settings(i, amount);
  } else {
    d = binding::error("P-EXPRESSION", "the requirement " + name + " cannot be evaluated");
    d.reason = value.error + with;
    d.help = "correct the expression in " + context.owner(i);
  }
  d.facts.push_back({context.owner(i), "requires " + quoted(r.expression), r.where});
  for (LabelledFact& source : context.sources(i, amount)) d.facts.push_back(std::move(source));
  findings.push_back(std::move(f));
}

}  // namespace

void check_requirements(const Context& context, Findings& findings) {
  for (std::size_t i = 0; i < context.composition.instances.size(); ++i) {
    for (const contract::Requirement& r : context.contract(i).requirements)
      check_requirement(context, i, r, findings);
  }
}

}  // namespace pipelink::checking
