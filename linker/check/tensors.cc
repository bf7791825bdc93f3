// Tensor ports whose numbers are facts, and the two sides of each tensor.
#include "linker/bind/proposals.h"
#include "linker/bind/words.h"
#include "linker/check/context.h"
#include "packager/contract/tensor.h"

namespace pipelink::checking {
namespace {

using binding::quoted;
using binding::Side;
using contract::Amount;
using contract::TensorPort;

/// An amount that depends on all that the port depends on.
Amount all_names(const TensorPort& tensor) {
  return {0, binding::joined(contract::names_of(tensor), " + ")};
}

std::string stated(const TensorPort& tensor) {
  std::string out = contract::tile_text(tensor) + " with the layout " + quoted(tensor.layout);
  if (tensor.replicas) out += ", each element " + contract::to_text(*tensor.replicas) + " times";
  if (tensor.generations) out += ", generations " + contract::to_text(*tensor.generations);
  return out;
}

/// What packing could not judge, since other components' facts or the composition decide it.
void check_port(const Context& context, std::size_t instance, const TensorPort& tensor, Findings& findings) {
  const Amount names = all_names(tensor);
  if (names.expression.empty()) return;
  const std::string& owner = context.owner(instance);
  contract::TensorFault fault;
  if (context.reads_placement(instance, names)) {
    fault = {"P-EXPRESSION", "layout", "reads the placement",
             "tiles are routed before the placement is known"};
  } else {
    fault = contract::resolve(tensor, context.scope(instance)).fault;
  }
  if (fault.clause.empty()) return;
  Finding f;
  f.diagnostic = binding::error(
      fault.clause, fault.about + " of the tensor " + quoted(owner + "." + tensor.name) + " " + fault.what);
  f.diagnostic.facts.push_back(
      {owner, "states " + quoted(tensor.name) + " as " + stated(tensor), tensor.where});
  for (LabelledFact& source : context.sources(instance, names))
    f.diagnostic.facts.push_back(std::move(source));
  f.diagnostic.reason = fault.reason;
  if (const std::string values = context.with_values(instance, names); !values.empty())
    f.diagnostic.reason += " with " + values;
  f.diagnostic.help = "correct " + quoted(tensor.name) + " in " + owner;
  f.proposals = context.settings(instance, names);
  findings.push_back(std::move(f));
}

/// "64x128", or empty if it has no value.
std::string tile_value(const Context& context, std::size_t instance, const TensorPort& tensor) {
  std::vector<std::string> parts;
  for (const Amount& extent : tensor.tile) {
    const Value value = context.evaluate(instance, extent);
    if (!value.number) return {};
    parts.push_back(std::to_string(*value.number));
  }
  return binding::joined(parts, "x");
}

/// Calls that a tile outlives; none if it has no value.
std::optional<std::int64_t> generations(const Context& context, std::size_t instance,
                                        const TensorPort& tensor) {
  return tensor.generations ? context.evaluate(instance, *tensor.generations).number : 1;
}

void check_sides(const Context& context, const Binding& b, Findings& findings) {
  const Side in = context.side(b.importer.instance), out = context.side(b.exporter.instance);
  const TensorPort& import = in.contract.tensors[b.importer.index];
  const TensorPort& exported = out.contract.tensors[b.exporter.index];
  std::vector<std::string> faults = binding::tensor_faults(in, import, out, exported);
  const std::string tile = tile_value(context, b.importer.instance, import),
                    other = tile_value(context, b.exporter.instance, exported);
  const bool fixed = contract::tile_text(import) == tile && contract::tile_text(exported) == other;
  const bool by_facts = !fixed && import.tile.size() == exported.tile.size() && !tile.empty() &&
                        !other.empty() && tile != other;
  if (by_facts)
    faults.push_back("the tile is " + tile + " in " + in.owner + " and " + other + " in " + out.owner);
  const std::optional<std::int64_t> read = generations(context, b.importer.instance, import),
                                    kept = generations(context, b.exporter.instance, exported);
  const bool outlived = read && kept && *read > *kept;
  if (outlived)
    faults.push_back("a tile is read for " + std::to_string(*read) + " calls in " + in.owner +
                     " and keeps its place for " + std::to_string(*kept) + " in " + out.owner);
  if (faults.empty()) return;
  Finding f;
  f.diagnostic =
      binding::error("L-LAYOUT", "the tensor " + quoted(in.owner + "." + import.name) + " is not what " +
                                     quoted(out.owner + "." + exported.name) + " gives");
  f.diagnostic.facts = {
      {in.owner, "imports " + quoted(import.name) + ", " + binding::tensor_text(import), import.where},
      {out.owner, "exports " + quoted(exported.name) + ", " + binding::tensor_text(exported),
       exported.where}};
  f.diagnostic.reason = binding::joined(faults, "\n");
  f.diagnostic.help = outlived && faults.size() == 1
                          ? "read a tile for at most " + std::to_string(*kept) + " calls in " + in.owner +
                                ", or keep more tiles in " + out.owner
                          : "use one element, tile and scope in " + in.owner + " and " + out.owner +
                                "; generated code converts nothing";
  const auto sources = [&](std::size_t instance, const Amount& amount) {
    for (LabelledFact& source : context.sources(instance, amount))
      f.diagnostic.facts.push_back(std::move(source));
    for (Proposal& p : context.settings(instance, amount)) f.proposals.push_back(std::move(p));
  };
  for (const auto& [instance, tensor] :
       {std::pair{b.importer.instance, &import}, std::pair{b.exporter.instance, &exported}}) {
    if (by_facts)
      for (const Amount& extent : tensor->tile) sources(instance, extent);
    if (outlived && tensor->generations) sources(instance, *tensor->generations);
  }
  // The callable that carries it, bound to another export.
  for (const Binding& call : context.bindings.callables) {
    const auto carries = [&](PortRef port, PortRef tensor) {
      const contract::Contract& c = context.contract(port.instance);
      return port.instance == tensor.instance && c.callables[port.index].name == c.tensors[tensor.index].via;
    };
    if ((carries(call.importer, b.importer) && carries(call.exporter, b.exporter)) ||
        (carries(call.importer, b.exporter) && carries(call.exporter, b.importer))) {
      for (Proposal& p : binding::other_exports(context.composition, context.bindings.callables,
                                                call.importer, call.exporter, false))
        f.proposals.push_back(std::move(p));
    }
  }
  findings.push_back(std::move(f));
}

}  // namespace

void check_tensors(const Context& context, Findings& findings) {
  for (std::size_t i = 0; i < context.composition.instances.size(); ++i)
    for (const TensorPort& tensor : context.contract(i).tensors) check_port(context, i, tensor, findings);
  for (const Binding& b : context.bindings.tensors) check_sides(context, b, findings);
}

}  // namespace pipelink::checking
