// A bound composition as a placement problem. Claims are named "instance.claim".
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

#include "linker/plan/plan.h"
#include "packager/contract/expression.h"

namespace pipelink {
namespace {

using contract::Amount;

/// Evaluates one instance's amounts and keeps what went wrong.
class Amounts {
 public:
  Amounts(const Composition& composition, const Bindings& bindings, std::size_t instance)
      : owner_(composition.instances[instance].name),
        scope_(expression_scope(composition, bindings, instance, {})) {}

  std::int64_t value(const Amount& amount, const char* what, const std::string& claim,
                     const SourceSpan& where) {
    const contract::Evaluation found = contract::evaluate(amount, scope_);
    if (found && *found >= 0) return *found;
    Diagnostic d;
    d.clause = "P-EXPRESSION";
    d.title = fmt::format("the {} of {}.{} cannot be computed", what, owner_, claim);
    d.facts.push_back({owner_, fmt::format("{} = {}", what, contract::to_text(amount)), where});
    d.reason = found ? fmt::format("its value here is {}, which is negative", *found) : found.error;
    d.help = "use numbers, or facts that this component owns or uses";
    diagnostics.push_back(std::move(d));
    return 1;  // sound enough to go on and find the other errors
  }

  Diagnostics diagnostics;

 private:
  std::string owner_;
  contract::Scope scope_;
};

std::vector<std::string> qualified(const std::string& instance, const std::vector<std::string>& names) {
  std::vector<std::string> out;
  out.reserve(names.size());
  for (const std::string& name : names) out.push_back(instance + "." + name);
  return out;
}

place::Claim claim(const Instance& instance, const std::string& name, const SourceSpan& where,
                   const std::vector<std::string>& live) {
  return {instance.name + "." + name, instance.name, where, qualified(instance.name, live)};
}

place::Buffer buffer(const Instance& instance, const std::string& name, const SourceSpan& where,
                     const std::vector<std::string>& live, std::int64_t align) {
  place::Buffer out;
  static_cast<place::Claim&>(out) = claim(instance, name, where, live);
  out.align = align;
  return out;
}

void add_buffers(place::Problem& problem, const Instance& instance, const contract::Contract& c,
                 Amounts& amounts) {
  for (const contract::Buffer& b : c.buffers) {
    place::Buffer out = buffer(instance, b.name, b.where, b.live, b.align);
    out.bytes = amounts.value(b.bytes, "bytes", b.name, b.where);
    problem.buffers.push_back(std::move(out));
  }
  for (const contract::Mbarriers& m : c.mbarriers) {
    place::Buffer out = buffer(instance, m.name, m.where, {}, 8);
    out.bytes = 8 * amounts.value(m.count, "count", m.name, m.where);
    problem.buffers.push_back(std::move(out));
  }
  for (const contract::NamedBarrier& b : c.named_barriers)
    problem.barriers.push_back({claim(instance, b.name, b.where, b.live)});
  for (const contract::TensorMemory& t : c.tensor_memory) {
    place::TensorColumns out;
    static_cast<place::Claim&>(out) = claim(instance, t.name, t.where, t.live);
    out.columns = static_cast<int>(amounts.value(t.columns, "columns", t.name, t.where));
    problem.tensor_columns.push_back(std::move(out));
  }
}

/// What both sides of a ring ask of a stage's address.
std::int64_t ring_alignment(const Composition& composition, const Bindings& bindings, const PortRef& owned) {
  std::int64_t align = composition.contract(owned.instance).rings[owned.index].align;
  for (const Binding& b : bindings.rings)
    if (b.exporter == owned)
      align = std::max(align, composition.contract(b.importer.instance).rings[b.importer.index].align);
  return align;
}

void add_rings(place::Problem& problem, const Composition& composition, const Bindings& bindings,
               std::size_t i, Amounts& amounts) {
  const Instance& instance = composition.instances[i];
  const contract::Contract& c = composition.contract(i);
  for (std::size_t k = 0; k < c.rings.size(); ++k) {
    const contract::Ring& r = c.rings[k];
    if (r.direction != contract::Direction::kExport) continue;
    const std::string name = instance.name + "." + r.name;
    const auto preference = composition.rings.find(name);
    place::Ring ring;
    ring.name = name;
    ring.owner = instance.name;
    ring.where = r.where;
    ring.min_depth = static_cast<int>(amounts.value(r.stages_min, "stages", r.name, r.where));
    ring.max_depth = static_cast<int>(amounts.value(r.stages_max, "stages", r.name, r.where));
    ring.tier = preference == composition.rings.end() ? r.tier : preference->second.tier;
    ring.weight = preference == composition.rings.end() ? r.weight : preference->second.weight;
    problem.rings.push_back(std::move(ring));

    const std::int64_t align = ring_alignment(composition, bindings, {i, k});
    place::Buffer data = buffer(instance, r.name, r.where, r.live, align);
    data.ring = name;
    data.stage_bytes = r.stage_bytes ? amounts.value(*r.stage_bytes, "stage_bytes", r.name, r.where) : 0;
    // Stages follow one another: a stage that is no multiple of the alignment would leave the second one
    // unaligned.
    data.stage_bytes = (data.stage_bytes + align - 1) / align * align;
    problem.buffers.push_back(std::move(data));
    for (const char* word : {".full", ".empty"}) {
      place::Buffer barriers = buffer(instance, r.name + word, r.where, {}, 8);
      barriers.ring = name;
      barriers.stage_bytes = 8;
      problem.buffers.push_back(std::move(barriers));
    }
  }
}

/// The phases in which a tile is handed over: those of the call. Between roles those of both calls, as bytes
/// are written in the one and read in the other; none, which is always, if one of them states none.
std::vector<std::string> route_phases(const Composition& composition, const Route& route) {
  const auto of = [&](PortRef call) {
    return qualified(composition.instances[call.instance].name,
                     composition.contract(call.instance).callables[call.index].phases);
  };
  std::vector<std::string> taken = of(route.callable.importer);
  if (!route.request.two_roles) return taken;
  const std::vector<std::string> given = of(route.callable.exporter);
  if (given.empty() || taken.empty()) return {};
  taken.insert(taken.end(), given.begin(), given.end());
  return taken;
}

/// What the routes claim lives in the phases in which the tile is handed over.
void add_routes(place::Problem& problem, const Composition& composition, const std::vector<Route>& routes) {
  for (const Route& route : routes) {
    const transfer::Transfer& t = route.transfer;
    const contract::TensorPort& port =
        composition.contract(route.tensor.importer.instance).tensors[route.tensor.importer.index];
    const place::Claim of_route{route_name(composition, route),
                                composition.instances[route.tensor.importer.instance].name, port.where,
                                route_phases(composition, route)};
    if (t.buffer_bytes > 0) {
      place::Buffer out;
      static_cast<place::Claim&>(out) = of_route;
      out.align = std::max(t.buffer_align, 16);
      out.bytes = group_bytes(t) * t.groups;
      problem.buffers.push_back(std::move(out));
    }
    for (const transfer::BarrierClaim& barrier : t.barriers)
      for (int g = 0; g < t.groups; ++g) {
        place::NamedBarrier out;
        static_cast<place::Claim&>(out) = of_route;
        out.name = route_barrier(out.name, barrier.name, g);
        // Arrivals of one tile wait for the next one's, from the start of the kernel to its end.
        if (route.request.two_roles) out.live.clear();
        problem.barriers.push_back(std::move(out));
      }
  }
}

void sort_unique(std::vector<std::string>& list) {
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
}

/// The phases `inner` come after all that `outer` comes after, and before all that comes after it.
void nest(std::map<std::string, place::Phase>& phases, const std::vector<std::string>& inner,
          const std::string& outer) {
  const place::Phase around = phases.at(outer);
  for (const std::string& name : inner) {
    place::Phase& in = phases.at(name);
    in.after.insert(in.after.end(), around.after.begin(), around.after.end());
    in.after_previous.insert(in.after_previous.end(), around.after_previous.begin(),
                             around.after_previous.end());
  }
  for (auto& [name, phase] : phases) {
    const auto names = [&](const std::vector<std::string>& list) {
      return std::find(list.begin(), list.end(), outer) != list.end();
    };
    const bool is_inner = std::find(inner.begin(), inner.end(), name) != inner.end();
    if (!is_inner && names(phase.after)) phase.after.insert(phase.after.end(), inner.begin(), inner.end());
    if (names(phase.after_previous))
      phase.after_previous.insert(phase.after_previous.end(), inner.begin(), inner.end());
  }
}

/// What a callable's body runs through belongs to the time of the phases in which it is called: what is over
/// before those phases is over before the body, and what they precede the body precedes too. With several
/// callers nothing is said.
void nest_phases(std::map<std::string, place::Phase>& phases, const Composition& composition,
                 const Bindings& bindings) {
  std::map<PortRef, std::vector<const Binding*>> callers;
  for (const Binding& b : bindings.callables) callers[b.exporter].push_back(&b);
  // A callable may call another, and two nested phases are ordered as those around them are: until nothing
  // new comes up.
  for (std::size_t known = 0, now = 1; known != now;) {
    known = now;
    for (const auto& [exported, bound] : callers) {
      if (bound.size() != 1) continue;
      const PortRef importer = bound.front()->importer;
      const std::vector<std::string> inner =
          qualified(composition.instances[exported.instance].name,
                    composition.contract(exported.instance).callables[exported.index].phases);
      const std::vector<std::string> outer =
          qualified(composition.instances[importer.instance].name,
                    composition.contract(importer.instance).callables[importer.index].phases);
      if (outer.size() == 1) nest(phases, inner, outer.front());
    }
    now = 1;
    for (auto& [name, phase] : phases) {
      sort_unique(phase.after);
      sort_unique(phase.after_previous);
      now += phase.after.size() + phase.after_previous.size();
    }
  }
}

}  // namespace

Outcome<place::Target> target_of(const std::string& arch, int blocks_per_sm) {
  // Shared bytes of a block, columns of tensor memory and warps of an SM, from the vendor's table of compute
  // capabilities.
  struct Row {
    const char* arch;
    std::int64_t shared;
    int columns;
    int sm_warps;
  };
  static constexpr Row kRows[] = {{"sm_90a", 232'448, 0, 64},
                                  {"sm_100a", 232'448, 512, 64},
                                  {"sm_103a", 232'448, 512, 64},
                                  {"sm_120a", 101'376, 0, 48}};
  for (const Row& row : kRows) {
    if (arch != row.arch) continue;
    place::Target target;
    target.shared_bytes = row.shared;
    target.tensor_columns = row.columns;
    target.sm_warps = row.sm_warps;
    target.blocks_per_sm = blocks_per_sm;
    return target;
  }
  Diagnostic d;
  d.clause = "L-ARCH";
  d.title = fmt::format("architecture '{}' is not known to this linker", arch);
  d.reason = "known are sm_90a, sm_100a, sm_103a and sm_120a";
  d.help = "name a real architecture in the composition, e.g. \"arch\": \"sm_90a\"";
  return d;
}

std::int64_t group_bytes(const transfer::Transfer& transfer) {
  const std::int64_t align = std::max(transfer.buffer_align, 16);
  return (transfer.buffer_bytes + align - 1) / align * align;
}

std::string route_barrier(const std::string& route, const std::string& claim, int group) {
  return fmt::format("{}.{}[{}]", route, claim, group);
}

Outcome<place::Problem> placement_problem(const Composition& composition, const Bindings& bindings,
                                          const std::vector<Route>& routes) {
  Outcome<place::Target> target = target_of(composition.arch, composition.launch.blocks_per_sm);
  if (!target) return target.diagnostics;
  place::Problem problem;
  problem.name = composition.name;
  problem.target = *target;
  problem.loop = true;  // a contract says nothing about how often its roles repeat
  Diagnostics diagnostics;
  std::map<std::string, place::Phase> phases;
  for (std::size_t i = 0; i < composition.instances.size(); ++i) {
    const Instance& instance = composition.instances[i];
    const contract::Contract& c = composition.contract(i);
    Amounts amounts(composition, bindings, i);
    add_buffers(problem, instance, c, amounts);
    add_rings(problem, composition, bindings, i, amounts);
    for (const contract::Role& r : c.roles) {
      place::Role role;
      static_cast<place::Claim&>(role) = claim(instance, r.name, r.where, {});
      role.warps = r.warps;
      role.align_warps = r.align_warps;
      role.min_registers = r.registers_min;
      role.max_registers = r.registers_max;
      problem.roles.push_back(std::move(role));
    }
    for (const contract::Phase& p : c.phases) {
      const std::string name = instance.name + "." + p.name;
      phases[name] = {name, qualified(instance.name, p.after), qualified(instance.name, p.after_previous)};
    }
    diagnostics.insert(diagnostics.end(), amounts.diagnostics.begin(), amounts.diagnostics.end());
  }
  add_routes(problem, composition, routes);
  if (!problem.tensor_columns.empty()) {  // where the kernel keeps the address that it is given
    place::Buffer word;
    word.name = kTensorMemoryWord;
    word.owner = "kernel";
    word.bytes = word.align = 4;
    problem.buffers.push_back(std::move(word));
  }
  if (has_error(diagnostics)) return diagnostics;
  nest_phases(phases, composition, bindings);
  for (auto& [name, phase] : phases) {
    sort_unique(phase.after);
    sort_unique(phase.after_previous);
    problem.phases.push_back(phase);
  }
  return problem;
}

}  // namespace pipelink
