#include "linker/route/route.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "linker/route/callers.h"
#include "linker/route/endpoint.h"
#include "packager/contract/expression.h"
#include "packager/contract/tensor.h"

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

/// One tile, from what both sides say of it to a route.
class Router {
 public:
  Router(const Composition& composition, const Bindings& bindings, const Binding& binding)
      : composition_(composition),
        bindings_(bindings),
        binding_(binding),
        from_(tensor(composition, binding.exporter)),
        to_(tensor(composition, binding.importer)) {}

  Diagnostics diagnostics;

  std::optional<Route> run() {
    if (!carry() || !threads() || !endpoints()) return std::nullopt;
    transfer::Planned planned = transfer::plan_transfer(out_.request);
    if (!planned.transfer) {
      std::string reason;
      for (const transfer::Rejected& r : planned.rejected)
        reason += fmt::format("{}{}: {}", reason.empty() ? "" : "\n", r.kind, r.reason);
      refuse(reason, "give one side a layout that the other can be served from");
      return std::nullopt;
    }
    out_.transfer = std::move(*planned.transfer);
    out_.rejected = std::move(planned.rejected);
    if (!whose_threads() || !lanes() || !caller() || !constness() || !kept()) return std::nullopt;
    return std::move(out_);
  }

 private:
  bool refuse(std::string reason, std::string help) {
    diagnostics.push_back(no_route(composition_, binding_, std::move(reason), std::move(help)));
    return false;
  }

  std::string call_name(PortRef port) const {
    return composition_.instances[port.instance].name + "." + callable(composition_, port).name;
  }
  const contract::Role& role(PortRef ref) const {
    return composition_.contract(ref.instance).roles[ref.index];
  }
  bool two() const { return out_.request.two_roles; }

  /// The callables that carry the tile, and the types of their parameters.
  bool carry() {
    const std::optional<Carrier> carrier = carrier_of(composition_, bindings_, binding_);
    if (!carrier) return refuse("no bound callable carries it", "name the callable in both tensors' `via`");
    const Binding& call = carrier->call;
    out_.tensor = binding_;
    out_.callable = call;
    out_.parameter = from_.parameter;
    out_.request.two_roles = carrier->two_roles;
    producer_calls_ = !two() && call.importer.instance == binding_.exporter.instance;
    const auto type = [&](PortRef port) {
      return &callable(composition_, port).parameters[static_cast<std::size_t>(from_.parameter)];
    };
    has_ = type(producer_calls_ ? call.importer : call.exporter);
    wants_ = type(producer_calls_ ? call.exporter : call.importer);
    return true;
  }

  /// Which roles hold the tile, by how many threads each, and how many tiles lie side by side.
  bool threads() {
    roles_ = roles_calling(composition_, bindings_, two() ? out_.callable.exporter : out_.callable.importer);
    threads_ = consumer_threads_ = scope_threads(from_.scope);
    if (roles_.size() == 1) out_.role = *roles_.begin();
    if (out_.role && !groups(*out_.role, threads_, out_.request.groups)) return false;
    if (!two()) {
      consumer_threads_ = threads_;
      return true;
    }
    if (!out_.role) return refuse_role(out_.callable.exporter, roles_);
    const std::set<PortRef> takers = roles_calling(composition_, bindings_, out_.callable.importer);
    if (takers.size() != 1) return refuse_role(out_.callable.importer, takers);
    out_.consumer_role = *takers.begin();
    if (out_.consumer_role == out_.role)
      return refuse(
          fmt::format("{} and {} are both called by role {}, whose threads would wait for themselves",
                      call_name(out_.callable.exporter), call_name(out_.callable.importer),
                      role_name(composition_, *out_.role)),
          "let another role take the tile, or let the producer call an export of the consumer");
    int groups_of_consumer = 1;
    if (!groups(*out_.consumer_role, consumer_threads_, groups_of_consumer)) return false;
    if (groups_of_consumer == out_.request.groups) return true;
    const auto tiles = [&](PortRef ref, int count, int each) {
      return fmt::format("role {} has {} threads, which hold {} tile{} of {} threads",
                         role_name(composition_, ref), 32 * role(ref).warps, count, count == 1 ? "" : "s",
                         each);
    };
    return refuse(tiles(*out_.role, out_.request.groups, threads_) + ";\n" +
                      tiles(*out_.consumer_role, groups_of_consumer, consumer_threads_),
                  "give both roles as many warps as hold one number of tiles");
  }

  /// `threads` of a block are all of the role's.
  bool groups(PortRef ref, int& threads, int& count) {
    const int all = 32 * role(ref).warps;
    if (threads == 0) threads = all;
    count = all / threads;
    return all % threads == 0 ||
           refuse(fmt::format("role {} has {} threads, which are no multiple of the {} that hold a tile",
                              role_name(composition_, ref), all, threads),
                  "state the scope of those that hold the tile together");
  }

  bool endpoints() {
    const auto facts = [&](PortRef port) {
      return expression_scope(composition_, bindings_, port.instance, {});
    };
    ReadEndpoint given = read_endpoint(from_, facts(binding_.exporter), *has_, threads_),
                 wanted = read_endpoint(to_, facts(binding_.importer), *wants_, consumer_threads_);
    if (!given.value || !wanted.value)
      return refuse(!given.value ? given.error : wanted.error,
                    "let layout, tile, element and the parameter's type say the same");
    for (const auto& [side, ref, threads] :
         {std::tuple{&*given.value, out_.role, threads_},
          std::tuple{&*wanted.value, out_.consumer_role, consumer_threads_}})
      if (two() && side->threads != threads)
        return refuse(fmt::format("role {} has {} threads, and its layout says what {} hold",
                                  role_name(composition_, *ref), threads, side->threads),
                      "lay the tile out over all threads of the role, or state another scope");
    out_.request.from = std::move(*given.value);
    out_.request.to = std::move(*wanted.value);
    out_.request.columns = columns_of(to_, facts(binding_.importer));
    return true;
  }

  bool whose_threads() {
    return out_.role || !knows_threads(out_.transfer) || refuse_role(out_.callable.importer, roles_);
  }

  bool lanes() {
    const bool loads = std::any_of(
        out_.transfer.steps.begin(), out_.transfer.steps.end(),
        [](const transfer::Step& step) { return std::holds_alternative<transfer::TensorLoad>(step); });
    if (!loads || role(*out_.role).align_warps % 4 == 0) return true;
    return refuse(
        fmt::format("a warp reaches the lanes of tensor memory that its number modulo 4 says, and role {} "
                    "may begin at any warp",
                    role_name(composition_, *out_.role)),
        "state .align_warps = 4 for the role");
  }

  /// A producer that is called can fill registers of its caller only.
  bool caller() {
    if (two() || producer_calls_ || out_.transfer.kind == Kind::kInPlace) return true;
    const bool registers = out_.request.from.space == transfer::Space::kRegisters &&
                           out_.request.to.space == transfer::Space::kRegisters;
    return (registers && out_.transfer.kind != Kind::kStore) ||
           refuse("the consumer calls the producer, which then can fill registers of the caller only",
                  "let the producer call, and the consumer be called");
  }

  /// Who may write to a tile that is not its own, or of which others are given a copy.
  bool constness() {
    if (!producer_calls_) return true;
    const PortRef consumer = out_.callable.exporter;
    if (is_const(*has_) && !is_const(*wants_) && from_.space == "registers" && to_.space == "registers")
      return refuse(fmt::format("the producer's tile is {}, and the consumer may write to it as {}",
                                has_->name, wants_->name),
                    "take the tile as const, or give it as one that may be written to");
    if (is_const(*wants_) || out_.request.to.space != transfer::Space::kRegisters) return true;
    // A tile in registers that the consumer could change is the producer's own, or is not changed.
    const bool handed_back = out_.transfer.kind == Kind::kSame || out_.transfer.kind == Kind::kRenamed ||
                             out_.request.from.space != transfer::Space::kRegisters;
    if (!handed_back)
      return refuse(
          fmt::format(
              "{} may write to the tile (its parameter is {}), and what goes by {} is not handed back",
              call_name(consumer), wants_->name, name_of(out_.transfer.kind)),
          fmt::format("take the tile as const in {}, if it is only read there", call_name(consumer)));
    const auto last = std::find_if(bindings_.callables.rbegin(), bindings_.callables.rend(),
                                   [&](const Binding& b) { return b.importer == out_.callable.importer; });
    if (last->exporter == consumer || out_.request.from.space != transfer::Space::kRegisters) return true;
    const auto writers =
        std::count_if(bindings_.callables.begin(), bindings_.callables.end(), [&](const Binding& b) {
          return b.importer == out_.callable.importer &&
                 !is_const(
                     callable(composition_, b.exporter).parameters[static_cast<std::size_t>(out_.parameter)]);
        });
    return refuse(fmt::format("{} may write to the tile (its parameter is {}), which {} is given after it",
                              call_name(consumer), wants_->name, call_name(last->exporter)),
                  fmt::format("take the tile as const in {}{}", call_name(consumer),
                              writers == 1 ? ", or let its BIND be the last" : "; only the last may write"));
  }

  /// A copy is there for one call.
  bool kept() {
    const contract::TensorResolution tile =
        contract::resolve(to_, expression_scope(composition_, bindings_, binding_.importer.instance, {}));
    if (!tile || tile->generations == 1 || out_.transfer.kind == Kind::kInPlace) return true;
    return refuse(fmt::format("the consumer reads a tile for {} calls, and what goes by {} is there for one",
                              tile->generations, name_of(out_.transfer.kind)),
                  "take the tile in the layout in which the producer has it");
  }

  bool refuse_role(PortRef import, const std::set<PortRef>& roles) {
    std::vector<std::string> names;
    for (const PortRef ref : roles) names.push_back(role_name(composition_, ref));
    return refuse(roles.empty()
                      ? fmt::format("no role calls {}", call_name(import))
                      : fmt::format("any of {} may call {}: whose threads hold the tile is not known",
                                    fmt::join(names, ", "), call_name(import)),
                  "state with PIPELINK_STEPS which role calls it");
  }

  const Composition& composition_;
  const Bindings& bindings_;
  const Binding& binding_;
  const TensorPort &from_, &to_;
  const contract::Type *has_ = nullptr, *wants_ = nullptr;  ///< of the parameters that carry the tile
  bool producer_calls_ = false;
  std::set<PortRef> roles_;  ///< that may hold the tile
  int threads_ = 0, consumer_threads_ = 0;
  Route out_;
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
  Diagnostics diagnostics;
  for (const Binding& binding : bindings.tensors) {
    Router router(composition, bindings, binding);
    if (std::optional<Route> found = router.run()) routes.push_back(std::move(*found));
    append(diagnostics, std::move(router.diagnostics));
  }
  return {std::move(routes), std::move(diagnostics)};
}

}  // namespace pipelink
