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

void check_signature(const Context& context, const Binding& b, Findings& findings) {
  const Side in = context.side(b.importer.instance), out = context.side(b.exporter.instance);
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

void check_handover(const Context& context, const Binding& b, Findings& findings) {
  const Side in = context.side(b.importer.instance), out = context.side(b.exporter.instance);
  const Callable& get = in.contract.callables[b.importer.index];
  const Callable& put = out.contract.callables[b.exporter.index];
  const std::vector<std::string> faults = binding::handover_faults(out, put, in, get);
  if (faults.empty()) return;
  Finding f;
  f.diagnostic = binding::error("L-SIGNATURE", "the callable " + quoted(in.owner + "." + get.name) +
                                                   " cannot take what " + quoted(out.owner + "." + put.name) +
                                                   " of another role gives");
  f.diagnostic.facts = {
      {out.owner, "imports " + quoted(put.name) + " as " + quoted(binding::signature_text(put)), put.where},
      {in.owner, "imports " + quoted(get.name) + " as " + quoted(binding::signature_text(get)), get.where}};
  f.diagnostic.reason = binding::joined(faults, "\n");
  f.diagnostic.help = "give by void(const T (&)[N]) and take by void(T (&)[M]), the tile alone";
  findings.push_back(std::move(f));
}

}  // namespace

std::vector<Proposal> other_exports(const Context& context, PortRef importer, PortRef bound) {
  std::vector<Proposal> out;
  const Side a = context.side(importer.instance);
  const Callable& import = a.contract.callables[importer.index];
  const std::string name = dotted(context.composition, importer.instance, import.name);
  for (std::size_t i = 0; i < context.composition.instances.size(); ++i) {
    const Side b = context.side(i);
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

void check_calls(const Context& context, Findings& findings) {
  for (const Binding& b : context.bindings.callables) check_signature(context, b, findings);
  for (const Binding& b : context.bindings.handovers) check_handover(context, b, findings);
}

}  // namespace pipelink::checking
