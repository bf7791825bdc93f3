#include "linker/route/callers.h"

#include <algorithm>

#include "packager/contract/steps.h"

namespace pipelink {
namespace {

const contract::Callable& callable(const Composition& composition, PortRef port) {
  return composition.contract(port.instance).callables[port.index];
}

bool calls(const std::vector<contract::Step>& steps, const std::string& import) {
  return std::any_of(steps.begin(), steps.end(), [&](const contract::Step& step) {
    return (step.word == "call" && step.name == import) || calls(step.inner, import);
  });
}

/// Whether `name`, a role or an export of the contract, calls `import`: what its steps say; without any, it
/// may.
bool may_call(const contract::Contract& contract, const std::string& name, const std::string& import) {
  if (contract.steps.empty()) return true;
  for (const contract::Steps& steps : contract.steps) {
    if (steps.name != name) continue;
    for (const std::string& text : {steps.once, steps.loop}) {
      const contract::ParsedSteps parsed = contract::parse_steps(text);
      if (parsed.value && calls(*parsed.value, import)) return true;
    }
  }
  return false;
}

void add_roles(const Composition& composition, const Bindings& bindings, PortRef import,
               std::set<PortRef>& seen, std::set<PortRef>& roles) {
  if (!seen.insert(import).second) return;
  const contract::Contract& contract = composition.contract(import.instance);
  const std::string& name = contract.callables[import.index].name;
  for (std::size_t r = 0; r < contract.roles.size(); ++r)
    if (may_call(contract, contract.roles[r].name, name)) roles.insert({import.instance, r});
  for (const Binding& call : bindings.callables)
    if (call.exporter.instance == import.instance &&
        may_call(contract, callable(composition, call.exporter).name, name))
      add_roles(composition, bindings, call.importer, seen, roles);
}

}  // namespace

std::optional<Carrier> carrier_of(const Composition& composition, const Bindings& bindings,
                                  const Binding& tensor) {
  const auto named = [&](PortRef side, PortRef port) {
    return side.instance == port.instance &&
           callable(composition, side).name == composition.contract(port.instance).tensors[port.index].via;
  };
  for (const Binding& call : bindings.callables) {
    if (named(call.importer, tensor.exporter) && named(call.exporter, tensor.importer))
      return Carrier{call, false};
    if (named(call.importer, tensor.importer) && named(call.exporter, tensor.exporter))
      return Carrier{call, false};
  }
  for (const Binding& handover : bindings.handovers)
    if (named(handover.importer, tensor.importer) && named(handover.exporter, tensor.exporter))
      return Carrier{handover, true};
  return std::nullopt;
}

std::set<PortRef> roles_calling(const Composition& composition, const Bindings& bindings, PortRef import) {
  std::set<PortRef> seen, roles;
  add_roles(composition, bindings, import, seen, roles);
  return roles;
}

std::string role_name(const Composition& composition, PortRef role) {
  return composition.instances[role.instance].name + "." +
         composition.contract(role.instance).roles[role.index].name;
}

}  // namespace pipelink
