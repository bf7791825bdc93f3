#include "linker/bind/compatible.h"
#include "linker/bind/proposals.h"
#include "linker/bind/words.h"
#include "linker/check/context.h"

namespace pipelink::checking {
namespace {

using binding::quoted;
using binding::Side;
using contract::Callable;

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
  f.proposals =
      binding::other_exports(context.composition, context.bindings.callables, b.importer, b.exporter, false);
  for (Proposal& p : f.proposals)
    p.help =
        f.diagnostic.help + (p.help.starts_with("remove ") ? ", or " : "; another export fits: ") + p.help;
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

void check_calls(const Context& context, Findings& findings) {
  for (const Binding& b : context.bindings.callables) check_signature(context, b, findings);
  for (const Binding& b : context.bindings.handovers) check_handover(context, b, findings);
}

}  // namespace pipelink::checking
