#include "linker/route/route.h"

#include <fmt/format.h>

#include <algorithm>

#include "packager/layout/cover.h"
#include "packager/layout/text.h"

namespace pipelink {
namespace {

using contract::TensorPort;

const TensorPort& tensor(const Composition& composition, PortRef port) {
  return composition.contract(port.instance).tensors[port.index];
}

Diagnostic no_route(const Composition& composition, const Binding& binding, std::string reason) {
  const TensorPort& from = tensor(composition, binding.exporter);
  const TensorPort& to = tensor(composition, binding.importer);
  const std::string& producer = composition.instances[binding.exporter.instance].name;
  const std::string& consumer = composition.instances[binding.importer.instance].name;
  Diagnostic d;
  d.clause = "L-ROUTE";
  d.title = fmt::format("no route takes {}.{} to {}.{}", producer, from.name, consumer, to.name);
  d.facts.push_back({producer, fmt::format("has it in {} as {}", from.space, from.layout), from.where});
  d.facts.push_back({consumer, fmt::format("wants it in {} as {}", to.space, to.layout), to.where});
  d.reason = std::move(reason);
  d.help =
      "give the consumer the producer's layout, or one that differs only in the order of a thread's values";
  return d;
}

/// The call over which `binding` runs: the bound pair of the two ports' `via` callables.
const Binding* carrier(const Composition& composition, const Bindings& bindings, const Binding& binding) {
  for (const Binding& call : bindings.callables) {
    const auto named = [&](PortRef side, PortRef port) {
      return side.instance == port.instance &&
             composition.contract(side.instance).callables[side.index].name == tensor(composition, port).via;
    };
    if (named(call.importer, binding.exporter) && named(call.exporter, binding.importer)) return &call;
    if (named(call.importer, binding.importer) && named(call.exporter, binding.exporter)) return &call;
  }
  return nullptr;
}

}  // namespace

Outcome<std::vector<Route>> route(const Composition& composition, const Bindings& bindings) {
  std::vector<Route> routes;
  Diagnostics diagnostics;
  for (const Binding& binding : bindings.tensors) {
    const TensorPort& from = tensor(composition, binding.exporter);
    const TensorPort& to = tensor(composition, binding.importer);
    const Binding* call = carrier(composition, bindings, binding);
    if (call == nullptr) {
      diagnostics.push_back(no_route(composition, binding, "no bound callable carries it"));
      continue;
    }
    if (from.space != "registers" || to.space != "registers") {
      diagnostics.push_back(no_route(composition, binding, "only tiles in registers can be routed"));
      continue;
    }
    const layout::Result<layout::Layout> have = layout::parse_layout(from.layout);
    const layout::Result<layout::Layout> want = layout::parse_layout(to.layout);
    if (!have || !want) {
      diagnostics.push_back(no_route(composition, binding, !have ? have.error : want.error));
      continue;
    }
    Route route{binding, *call, from.parameter, "registers", {}};
    if (!layout::same_function(*have, *want)) {
      const auto permutation = layout::value_permutation(*have, *want);
      if (!permutation) {
        diagnostics.push_back(no_route(composition, binding, "the two hold different elements in a thread"));
        continue;
      }
      route.kind = "registers, renamed";
      route.permutation = *permutation;
    }
    routes.push_back(std::move(route));
  }
  return {std::move(routes), std::move(diagnostics)};
}

}  // namespace pipelink
