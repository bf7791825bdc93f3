#include "linker/route/route.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "linker/route/endpoint.h"
#include "packager/contract/expression.h"
#include "packager/contract/steps.h"

namespace pipelink {
namespace {

using contract::TensorPort;
using transfer::Kind;

const TensorPort& tensor(const Composition& composition, PortRef port) {
  return composition.contract(port.instance).tensors[port.index];
}

const contract::Callable& callable(const Composition& composition, PortRef port) {
  return composition.contract(port.instance).callables[port.index];
}

std::string place_of(const TensorPort& port) {
  return fmt::format("{} as {}", port.space, port.layout);
}

Diagnostic no_route(const Composition& composition, const Binding& binding, std::string reason,
                    std::string help) {
  const TensorPort& from = tensor(composition, binding.exporter);
  const TensorPort& to = tensor(composition, binding.importer);
  const std::string& producer = composition.instances[binding.exporter.instance].name;
  const std::string& consumer = composition.instances[binding.importer.instance].name;
  Diagnostic d;
  d.clause = "L-ROUTE";
  d.title = fmt::format("no route takes {}.{} to {}.{}", producer, from.name, consumer, to.name);
  d.facts.push_back({producer, "has it in " + place_of(from), from.where});
  d.facts.push_back({consumer, "wants it in " + place_of(to), to.where});
  d.reason = std::move(reason);
  d.help = std::move(help);
  return d;
}

/// The call over which `binding` runs: the bound pair of the two ports' `via` callables.
const Binding* carrier(const Composition& composition, const Bindings& bindings, const Binding& binding) {
  for (const Binding& call : bindings.callables) {
    const auto named = [&](PortRef side, PortRef port) {
      return side.instance == port.instance &&
             callable(composition, side).name == tensor(composition, port).via;
    };
    if (named(call.importer, binding.exporter) && named(call.exporter, binding.importer)) return &call;
    if (named(call.importer, binding.importer) && named(call.exporter, binding.exporter)) return &call;
  }
  return nullptr;
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

/// The roles whose threads can be in a call of `import`, directly or through exports that call it.
void roles_in(const Composition& composition, const Bindings& bindings, PortRef import,
              std::set<PortRef>& seen, std::set<PortRef>& roles) {
  if (!seen.insert(import).second) return;
  const contract::Contract& contract = composition.contract(import.instance);
  const std::string& name = contract.callables[import.index].name;
  for (std::size_t r = 0; r < contract.roles.size(); ++r)
    if (may_call(contract, contract.roles[r].name, name)) roles.insert({import.instance, r});
  for (const Binding& call : bindings.callables)
    if (call.exporter.instance == import.instance &&
        may_call(contract, callable(composition, call.exporter).name, name))
      roles_in(composition, bindings, call.importer, seen, roles);
}

std::string role_name(const Composition& composition, PortRef role) {
  return composition.instances[role.instance].name + "." +
         composition.contract(role.instance).roles[role.index].name;
}

bool is_const(const contract::Type& type) {
  return type.name.find("const") != std::string::npos;
}

/// The last extent of a tile; 0: it cannot be computed.
int columns_of(const TensorPort& port, const contract::Scope& facts) {
  if (port.tile.empty()) return 0;
  const contract::Evaluation last = contract::evaluate(port.tile.back(), facts);
  return last ? static_cast<int>(*last) : 0;
}

/// Whether the code must know which of the threads it runs in.
bool knows_threads(const transfer::Transfer& t) {
  return t.kind == Kind::kTensorLoad || t.buffer_bytes > 0 || !t.barriers.empty() || !t.values.empty() ||
         !t.conditions.empty();
}

class Router {
 public:
  Router(const Composition& composition, const Bindings& bindings)
      : composition_(composition), bindings_(bindings) {}

  Diagnostics diagnostics;

  std::optional<Route> operator()(const Binding& binding) {
    const TensorPort& from = tensor(composition_, binding.exporter);
    const TensorPort& to = tensor(composition_, binding.importer);
    const Binding* call = carrier(composition_, bindings_, binding);
    if (call == nullptr)
      return refuse(binding, "no bound callable carries it", "name the callable in both tensors' `via`");
    Route out;
    out.tensor = binding;
    out.callable = *call;
    out.parameter = from.parameter;
    const auto at = static_cast<std::size_t>(from.parameter);
    const bool producer_calls = call->importer.instance == binding.exporter.instance;
    const contract::Type& has =
        callable(composition_, producer_calls ? call->importer : call->exporter).parameters[at];
    const contract::Type& wants =
        callable(composition_, producer_calls ? call->exporter : call->importer).parameters[at];

    const std::set<PortRef> roles = roles_of(*call);
    int threads = scope_threads(from.scope);
    if (roles.size() == 1) {
      out.role = *roles.begin();
      const int all = 32 * composition_.contract(out.role->instance).roles[out.role->index].warps;
      if (threads == 0) threads = all;
      if (all % threads != 0)
        return refuse(binding,
                      fmt::format("role {} has {} threads, which are no multiple of the {} that hold a tile",
                                  role_name(composition_, *out.role), all, threads),
                      "state the scope of those that hold the tile together");
      out.request.groups = all / threads;
    }
    const auto facts = [&](PortRef port) {
      return expression_scope(composition_, bindings_, port.instance, {});
    };
    ReadEndpoint given = read_endpoint(from, facts(binding.exporter), has, threads),
                 wanted = read_endpoint(to, facts(binding.importer), wants, threads);
    if (!given.value || !wanted.value)
      return refuse(binding, !given.value ? given.error : wanted.error,
                    "let layout, tile, element and the parameter's type say the same");
    out.request.from = std::move(*given.value);
    out.request.to = std::move(*wanted.value);
    out.request.columns = columns_of(to, facts(binding.importer));
    transfer::Planned planned = transfer::plan_transfer(out.request);
    if (!planned.transfer) {
      std::string reason;
      for (const transfer::Rejected& r : planned.rejected)
        reason += fmt::format("{}{}: {}", reason.empty() ? "" : "\n", r.kind, r.reason);
      return refuse(binding, reason, "give one side a layout that the other can be served from");
    }
    out.transfer = std::move(*planned.transfer);
    out.rejected = std::move(planned.rejected);
    if (!out.role && knows_threads(out.transfer)) return refuse_role(binding, *call, roles);
    if (out.transfer.kind == Kind::kTensorLoad &&
        composition_.contract(out.role->instance).roles[out.role->index].align_warps % 4 != 0)
      return refuse(
          binding,
          fmt::format("a warp reaches the lanes of tensor memory that its number modulo 4 says, and role {} "
                      "may begin at any warp",
                      role_name(composition_, *out.role)),
          "state .align_warps = 4 for the role");
    if (!producer_calls &&
        (out.transfer.kind == Kind::kStore || out.request.from.space != transfer::Space::kRegisters ||
         out.request.to.space != transfer::Space::kRegisters) &&
        out.transfer.kind != Kind::kInPlace)
      return refuse(binding,
                    "the consumer calls the producer, which then can fill registers of the caller only",
                    "let the producer call, and the consumer be called");
    if (is_const(has) && !is_const(wants) && from.space == "registers" && to.space == "registers" &&
        producer_calls)
      return refuse(binding,
                    fmt::format("the producer's tile is {}, and the consumer may write to it as {}", has.name,
                                wants.name),
                    "take the tile as const, or give it as one that may be written to");
    if (producer_calls && !hands_on(out, wants))
      return refuse(
          binding,
          fmt::format(
              "{} may write to the tile (its parameter is {}), and what goes by {} is not handed back",
              call_name(call->exporter), wants.name, name_of(out.transfer.kind)),
          fmt::format("take the tile as const in {}, if it is only read there", call_name(call->exporter)));
    return out;
  }

 private:
  std::string call_name(PortRef port) const {
    return composition_.instances[port.instance].name + "." + callable(composition_, port).name;
  }

  std::nullopt_t refuse(const Binding& binding, std::string reason, std::string help) {
    diagnostics.push_back(no_route(composition_, binding, std::move(reason), std::move(help)));
    return std::nullopt;
  }

  /// A tile in registers that the consumer could change is the producer's own, or is not changed.
  static bool hands_on(const Route& route, const contract::Type& wants) {
    if (route.request.to.space != transfer::Space::kRegisters || is_const(wants)) return true;
    return route.transfer.kind == Kind::kSame || route.transfer.kind == Kind::kRenamed ||
           route.request.from.space != transfer::Space::kRegisters;
  }

  std::set<PortRef> roles_of(const Binding& call) const {
    std::set<PortRef> seen, roles;
    roles_in(composition_, bindings_, call.importer, seen, roles);
    return roles;
  }

  std::nullopt_t refuse_role(const Binding& binding, const Binding& call, const std::set<PortRef>& roles) {
    std::vector<std::string> names;
    for (const PortRef role : roles) names.push_back(role_name(composition_, role));
    return refuse(binding,
                  roles.empty()
                      ? fmt::format("no role calls {}", call_name(call.importer))
                      : fmt::format("any of {} may call {}: whose threads hold the tile is not known",
                                    fmt::join(names, ", "), call_name(call.importer)),
                  "state with PIPELINK_STEPS which role calls it");
  }

  const Composition& composition_;
  const Bindings& bindings_;
};

}  // namespace

std::string route_name(const Composition& composition, const Route& route) {
  const auto name = [&](PortRef port) {
    return composition.instances[port.instance].name + "." + tensor(composition, port).name;
  };
  return name(route.tensor.exporter) + "->" + name(route.tensor.importer);
}

Outcome<std::vector<Route>> route(const Composition& composition, const Bindings& bindings) {
  std::vector<Route> routes;
  Router router(composition, bindings);
  for (const Binding& binding : bindings.tensors)
    if (std::optional<Route> found = router(binding)) routes.push_back(std::move(*found));
  return {std::move(routes), std::move(router.diagnostics)};
}

}  // namespace pipelink
