#include "linker/cli/why.h"

#include <fmt/format.h>

#include "linker/bind/words.h"
#include "linker/place/explain.h"
#include "linker/report/route_text.h"
#include "packager/base/words.h"

namespace pipelink {
namespace {

std::string text_of(const std::string& name, const place::Explanation& explained) {
  std::string out = name + ": " + explained.text + "\n";
  for (const LabelledFact& fact : explained.facts)
    out +=
        fmt::format("  {}: {}{}\n", fact.owner, fact.text,
                    fact.where.file.empty() ? "" : fmt::format(" ({}:{})", fact.where.file, fact.where.line));
  return out;
}

std::string listed(const std::vector<std::string>& names) {
  return names.empty() ? "none" : joined(names, ", ");
}

Diagnostic unknown(const Checked& checked, const std::string& name) {
  std::vector<std::string> rings, roles, tensors;
  for (const place::RingDepth& r : checked.plan.solution.rings) rings.push_back(r.name);
  for (const place::RolePlacement& r : checked.plan.solution.roles) roles.push_back(r.name);
  for (const Route& r : checked.routes) tensors.push_back(route_name(checked.composition, r));
  Diagnostic d;
  d.clause = "U-USAGE";
  d.title = fmt::format("no ring, role or tensor is called '{}'", name);
  d.help = fmt::format("the rings here are: {}; the roles: {}; the tensors: {}", listed(rings), listed(roles),
                       listed(tensors));
  return d;
}

/// The ring that an importer's `name` for it means; else `name`.
std::string ring_named(const Checked& checked, const std::string& name) {
  const Composition& composition = checked.composition;
  const auto ring = [&](PortRef port) {
    return binding::dotted(composition, port.instance,
                           composition.contract(port.instance).rings[port.index].name);
  };
  for (const Binding& b : checked.bindings.rings)
    if (ring(b.importer) == name) return ring(b.exporter);
  return name;
}

}  // namespace

Outcome<std::string> why(const Checked& checked, const std::string& name, bool steps) {
  const place::Solution& solution = checked.plan.solution;
  if (const std::string ring = ring_named(checked, name); solution.ring(ring) != nullptr)
    return text_of(ring, place::why_not_deeper(checked.plan.problem, solution, ring));
  if (solution.role(name) != nullptr)
    return text_of(name, place::why_not_larger(checked.plan.problem, solution, name));
  std::string out;
  for (std::size_t r = 0; r < checked.routes.size(); ++r) {
    const std::string route = route_name(checked.composition, checked.routes[r]);
    const std::size_t arrow = route.find("->");
    if (name == route || name == route.substr(0, arrow) || name == route.substr(arrow + 2))
      out += route_text(checked, r, steps);
  }
  if (out.empty()) return unknown(checked, name);
  return out;
}

}  // namespace pipelink
