#include "linker/bind/compatible.h"
#include "linker/bind/words.h"
#include "linker/check/context.h"

namespace pipelink::checking {
namespace {

using binding::dotted;
using binding::quoted;
using binding::Side;
using contract::Callable;
using contract::Direction;
using contract::TensorPort;

Side side(const Context& context, std::size_t instance) {
  return {context.owner(instance), context.contract(instance)};
}

/// A BIND for every other export that would fit.
std::vector<Proposal> other_exports(const Context& context, PortRef importer, PortRef bound) {
  std::vector<Proposal> out;
  const Side a = side(context, importer.instance);
  const Callable& import = a.contract.callables[importer.index];
  const std::string name = dotted(context.composition, importer.instance, import.name);
  for (std::size_t i = 0; i < context.composition.instances.size(); ++i) {
    const Side b = side(context, i);
    for (std::size_t k = 0; k < b.contract.callables.size(); ++k) {
      const Callable& exported = b.contract.callables[k];
      if (exported.direction != Direction::kExport || PortRef{i, k} == bound || i == importer.instance)
        continue;
      if (!binding::callable_misfit(a, import, b, exported).empty()) continue;
      out.push_back(binding::bind_proposal(name, dotted(context.composition, i, exported.name)));
    }
  }
  return out;
}

void check_signature(const Context& context, const Binding& b, Findings& findings) {
  const Side in = side(context, b.importer.instance), out = side(context, b.exporter.instance);
  const Callable& import = in.contract.callables[b.importer.index];
  const Callable& exported = out.contract.callables[b.exporter.index];
  const std::vector<std::string> faults = binding::signature_faults(in, import, out, exported);
  if (faults.empty()) return;
  Finding f;
  f.diagnostic = binding::error(
      "L-SIGNATURE", "the callable " + quoted(in.owner + "." + import.name) + " has another signature than " +
                         quoted(out.owner + "." + exported.name) + ", to which it is bound");
  f.diagnostic.facts = {
      {in.owner, "imports " + quoted(import.name) + " as " + quoted(binding::signature_text(import)),
       import.where},
      {out.owner, "exports " + quoted(exported.name) + " as " + quoted(binding::signature_text(exported)),
       exported.where}};
  f.diagnostic.reason = binding::joined(faults, "\n");
  f.diagnostic.help =
      "compile " + in.owner + " and " + out.owner + " against one declaration of " + quoted(exported.name);
  f.proposals = other_exports(context, b.importer, b.exporter);
  for (Proposal& p : f.proposals) p.help = f.diagnostic.help + "; another export fits: " + p.help;
  findings.push_back(std::move(f));
}

void check_tensor(const Context& context, const Binding& b, Findings& findings) {
  const Side in = side(context, b.importer.instance), out = side(context, b.exporter.instance);
  const TensorPort& import = in.contract.tensors[b.importer.index];
  const TensorPort& exported = out.contract.tensors[b.exporter.index];
  const std::vector<std::string> faults = binding::tensor_faults(in, import, out, exported);
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
  f.diagnostic.help = "use one element, tile, space and scope in " + in.owner + " and " + out.owner +
                      "; generated code converts nothing";
  // The callable that carries it, bound to another export.
  for (const Binding& call : context.bindings.callables) {
    const auto carries = [&](PortRef port, PortRef tensor) {
      const contract::Contract& c = context.contract(port.instance);
      return port.instance == tensor.instance && c.callables[port.index].name == c.tensors[tensor.index].via;
    };
    if ((carries(call.importer, b.importer) && carries(call.exporter, b.exporter)) ||
        (carries(call.importer, b.exporter) && carries(call.exporter, b.importer))) {
      f.proposals = other_exports(context, call.importer, call.exporter);
    }
  }
  findings.push_back(std::move(f));
}

}  // namespace

void check_calls(const Context& context, Findings& findings) {
  for (const Binding& b : context.bindings.callables) check_signature(context, b, findings);
  for (const Binding& b : context.bindings.tensors) check_tensor(context, b, findings);
}

}  // namespace pipelink::checking
