#include "linker/codegen/glue.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "linker/codegen/render_template.h"
#include "linker/codegen/sdk_text.h"
#include "linker/codegen/signature.h"
#include "linker/codegen/transfer_text.h"
#include "linker/version.h"
#include "packager/base/words.h"
#include "pipelink/guard_report.h"

namespace pipelink {
namespace {

using contract::Direction;
using nlohmann::json;

json lines(const std::vector<std::string>& text) {
  json out = json::array();
  for (const std::string& line : text) out.push_back({{"line", line}});
  return out;
}

/// The instances of one package, in the order of Self::instance.
struct Group {
  const contract::Contract* contract = nullptr;
  std::vector<std::size_t> instances;
};

std::vector<Group> groups(const Composition& composition) {
  std::vector<Group> out(composition.packages.size());
  for (std::size_t p = 0; p < out.size(); ++p) out[p].contract = &composition.packages[p].contract;
  for (std::size_t i = 0; i < composition.instances.size(); ++i) {
    Group& group = out[composition.instances[i].package];
    const std::size_t at = static_cast<std::size_t>(composition.instances[i].index);
    if (group.instances.size() <= at) group.instances.resize(at + 1);
    group.instances[at] = i;
  }
  return out;
}

/// `return` of a value for each instance: one statement, or a switch that folds.
std::string by_instance(const Group& group, const std::string& subject,
                        const std::function<std::string(std::size_t)>& value) {
  if (group.instances.size() == 1) return "return " + value(group.instances.front()) + ";";
  std::string text = fmt::format("switch ({}) {{ ", subject);
  for (std::size_t n = 0; n + 1 < group.instances.size(); ++n)
    text += fmt::format("case {}: return {}; ", n, value(group.instances[n]));
  return text + fmt::format("default: return {}; }}", value(group.instances.back()));
}

/// A real as C++ has it: "50.0", as "50" is an integer, which has no -0, and "010" another one.
std::string real_literal(const std::string& text) {
  char buffer[64];
  std::string out(buffer, std::to_chars(buffer, buffer + sizeof buffer, real_of(text).value_or(0)).ptr);
  return out.find_first_of(".e") == std::string::npos ? out + ".0" : out;
}

/// Of a text, its number among those that the reader lists.
std::string fact_literal(const contract::Fact& fact, const FactValue& value) {
  switch (fact.type) {
    case contract::FactType::kBoolean:
      return value.integer != 0 ? "true" : "false";
    case contract::FactType::kInteger:
      return fmt::format("static_cast<{}>({}ll)", fact.cpp_type, value.integer);
    case contract::FactType::kReal:
      return fmt::format("static_cast<{}>({})", fact.cpp_type, real_literal(value.text));
    case contract::FactType::kText:
      break;
  }
  return fmt::format("{}u", std::find(fact.texts.begin(), fact.texts.end(), value.text) - fact.texts.begin());
}

std::vector<std::string> handles(const Group& group, const Bindings& bindings, const Plan& plan) {
  const contract::Contract& c = *group.contract;
  const std::string prefix = "pl__" + c.component + "__";
  std::vector<std::string> out;
  const auto define = [&](const std::string& type, const std::string& symbol,
                          const std::function<std::string(std::size_t)>& value) {
    out.push_back(fmt::format("extern \"C\" __device__ {} {}{}(unsigned{}) {{ {} }}", type, prefix, symbol,
                              group.instances.size() == 1 ? "" : " instance",
                              by_instance(group, "instance", value)));
  };
  const auto pointer = [](std::int64_t offset) { return fmt::format("pl_shared + {}", offset); };
  for (std::size_t k = 0; k < c.roles.size(); ++k)
    define("unsigned", "role__" + c.roles[k].name + "__warp",
           [&](std::size_t i) { return fmt::format("{}u", plan.instances[i].roles[k]); });
  for (std::size_t k = 0; k < c.buffers.size(); ++k)
    define("unsigned char*", "buffer__" + c.buffers[k].name,
           [&](std::size_t i) { return pointer(plan.instances[i].buffers[k]); });
  for (std::size_t k = 0; k < c.rings.size(); ++k) {
    const std::string ring = "ring__" + c.rings[k].name;
    const auto placed = [&, k](std::size_t i) -> const PlacedRing& { return plan.instances[i].rings[k]; };
    define("unsigned char*", ring + "__data", [&](std::size_t i) { return pointer(placed(i).data); });
    define("unsigned char*", ring + "__full", [&](std::size_t i) { return pointer(placed(i).full); });
    define("unsigned char*", ring + "__empty", [&](std::size_t i) { return pointer(placed(i).empty); });
    define("unsigned", ring + "__stages",
           [&](std::size_t i) { return fmt::format("{}u", placed(i).stages); });
    define("unsigned", ring + "__stage_bytes",
           [&](std::size_t i) { return fmt::format("{}u", placed(i).stage_bytes); });
  }
  for (std::size_t k = 0; k < c.mbarriers.size(); ++k)
    define("unsigned char*", "mbarriers__" + c.mbarriers[k].name,
           [&](std::size_t i) { return pointer(plan.instances[i].mbarriers[k].offset); });
  for (std::size_t k = 0; k < c.named_barriers.size(); ++k)
    define("unsigned", "barrier__" + c.named_barriers[k].name,
           [&](std::size_t i) { return fmt::format("{}u", plan.instances[i].named_barriers[k]); });
  for (std::size_t k = 0; k < c.tensor_memory.size(); ++k)
    define("unsigned", "tensor_memory__" + c.tensor_memory[k].name, [&](std::size_t i) {
      return fmt::format("*reinterpret_cast<const unsigned*>(pl_shared + {}) + {}u", plan.tensor_memory_word,
                         plan.instances[i].tensor_memory[k]);
    });
  for (std::size_t k = 0; k < c.facts.size(); ++k) {
    // A fixed fact is a constant of its owner's own code; nobody asks the owner for it.
    if (c.facts[k].direction == Direction::kExport && !c.facts[k].settable) continue;
    define(c.facts[k].cpp_type, "fact__" + c.facts[k].name,
           [&](std::size_t i) { return fact_literal(c.facts[k], bindings.facts[bindings.fact_of[i][k]]); });
  }
  for (std::size_t k = 0; k < c.scratch.size(); ++k)
    out.push_back(fmt::format(
        "extern \"C\" __device__ unsigned char* {}scratch__{}(pipelink::Self self) {{ {} }}", prefix,
        c.scratch[k].name, by_instance(group, "self.instance", [&](std::size_t i) {
          const PlacedScratch& at = plan.instances[i].scratch[k];
          std::string text = fmt::format("*reinterpret_cast<unsigned char* const*>(self.parameters + {})",
                                         plan.instances[i].parameters + at.field);
          if (c.scratch[k].per_block) text += fmt::format(" + blockIdx.x * {}ull", at.bytes);
          return text;
        })));
  if (c.parameters)
    out.push_back(
        fmt::format("extern \"C\" __device__ const unsigned char* {}parameters(pipelink::Self self) {{ {} }}",
                    prefix, by_instance(group, "self.instance", [&](std::size_t i) {
                      return fmt::format("self.parameters + {}", plan.instances[i].parameters);
                    })));
  return out;
}

/// What the component defines and the glue calls.
void declare(const Group& group, const std::vector<std::size_t>& called, std::vector<std::string>& types,
             std::vector<std::string>& declarations) {
  const contract::Contract& c = *group.contract;
  for (const contract::Role& r : c.roles)
    declarations.push_back(
        fmt::format("extern \"C\" __device__ void pl__{}__role__{}(pipelink::Self);", c.component, r.name));
  for (std::size_t k : called) {
    const std::string symbol = fmt::format("pl__{}__export__{}", c.component, c.callables[k].name);
    const SignatureText text = signature_text(symbol, c.callables[k]);
    types.insert(types.end(), text.aliases.begin(), text.aliases.end());
    std::string list = "pipelink::Self";
    for (const std::string& p : text.parameters) list += ", " + p;
    declarations.push_back(fmt::format("extern \"C\" __device__ {} {}({});", text.result, symbol, list));
  }
}

/// The code of route `r` in the threads of `role`.
TransferContext transfer_context(const Plan& plan, std::size_t r, const std::optional<PortRef>& role,
                                 std::size_t parameter) {
  TransferContext context;
  context.prefix = fmt::format("t{}_", parameter);
  context.placed = plan.transfers[r];
  context.guarded = plan.guard.has_value();
  if (role) context.first_warp = plan.instances[role->instance].roles[role->index];
  return context;
}

/// One import: calls of the bound exports, for each instance that calls; or a side of a hand-over.
class Trampoline {
 public:
  Trampoline(const Composition& composition, const Bindings& bindings, const Plan& plan,
             const std::vector<Route>& routes)
      : composition_(composition), bindings_(bindings), plan_(plan), routes_(routes) {}

  std::vector<std::string> text(const Group& group, std::size_t k) const {
    const contract::Contract& c = *group.contract;
    const contract::Callable& callable = c.callables[k];
    const std::string symbol = fmt::format("pl__{}__import__{}", c.component, callable.name);
    const SignatureText types = signature_text(symbol, callable);
    std::vector<std::string> out = types.aliases;
    std::string parameters = "pipelink::Self self";
    for (std::size_t p = 0; p < types.parameters.size(); ++p)
      parameters += fmt::format(", {} a{}", types.parameters[p], p);
    out.push_back(fmt::format("extern \"C\" __device__ {} {}({}) {{", types.result, symbol, parameters));
    if (group.instances.size() == 1) {
      append(out, "  ", call(group.instances.front(), k, types));
    } else {
      out.push_back("  switch (self.instance) {");
      for (std::size_t n = 0; n < group.instances.size(); ++n) {
        out.push_back(n + 1 == group.instances.size() ? "    default: {" : fmt::format("    case {}: {{", n));
        const std::vector<std::string> body = call(group.instances[n], k, types);
        append(out, "      ", body);
        if (body.empty() || !body.back().starts_with("return")) out.push_back("      break;");
        out.push_back("    }");
      }
      out.push_back("  }");
    }
    out.push_back("}");
    return out;
  }

 private:
  static void append(std::vector<std::string>& out, const std::string& indent,
                     const std::vector<std::string>& text) {
    for (const std::string& line : text) out.push_back(indent + line);
  }

  /// What an import does for one instance: its one call, several, or its side of a hand-over.
  std::vector<std::string> call(std::size_t instance, std::size_t k, const SignatureText& types) const {
    const PortRef import{instance, k};
    for (std::size_t r = 0; r < routes_.size(); ++r)
      if (routes_[r].request.two_roles &&
          (routes_[r].callable.importer == import || routes_[r].callable.exporter == import))
        return handover(r, import, types);
    std::vector<const Binding*> bound;
    for (const Binding& b : bindings_.callables)
      if (b.importer == import) bound.push_back(&b);
    if (bound.size() == 1) return call(*bound.front(), types, true);
    std::vector<std::string> out;
    for (const Binding* b : bound) {  // none returns anything
      out.push_back("{");
      append(out, "  ", call(*b, types, false));
      out.push_back("}");
    }
    return out;
  }

  std::vector<std::string> handover(std::size_t r, PortRef import, const SignatureText& types) const {
    const Route& route = routes_[r];
    const Carried here{"a0", types.parameters.front(),
                       &composition_.contract(import.instance).callables[import.index].parameters.front()};
    const bool gives = route.callable.exporter == import;
    const TransferContext context = transfer_context(plan_, r, gives ? route.role : route.consumer_role, 0);
    return gives ? give_text(route.transfer, context, here) : take_text(route.transfer, context, here);
  }

  std::vector<std::string> call(const Binding& bound, const SignatureText& types, bool last) const {
    const contract::Callable& import =
        composition_.contract(bound.importer.instance).callables[bound.importer.index];
    const contract::Contract& target = composition_.contract(bound.exporter.instance);
    const contract::Callable& export_ = target.callables[bound.exporter.index];
    const std::string symbol = fmt::format("pl__{}__export__{}", target.component, export_.name);
    const SignatureText target_types = signature_text(symbol, export_);
    std::string arguments = fmt::format("pipelink::Self{{{}, self.parameters}}",
                                        composition_.instances[bound.exporter.instance].index);
    std::vector<std::string> out, after;
    for (std::size_t p = 0; p < types.parameters.size(); ++p) {
      const Carried here{fmt::format("a{}", p), types.parameters[p], &import.parameters[p]};
      const Carried there{"", target_types.parameters[p], &export_.parameters[p]};
      const TransferText text = carried(bound, p, here, there);
      append(out, "", text.before);
      append(after, "", text.after);
      arguments += ", " + text.argument;
    }
    const std::string callee = fmt::format("{}({})", symbol, arguments);
    if (!last) {
      out.push_back(callee + ";");
      append(out, "", after);
      return out;
    }
    if (after.empty()) {
      out.push_back("return " + callee + ";");
      return out;
    }
    const bool returns = types.result != "void";
    out.push_back((returns ? "auto result = " : "") + callee + ";");
    out.insert(out.end(), after.begin(), after.end());
    out.push_back(returns ? "return result;" : "return;");
    return out;
  }

  /// The parameter of the call, and what must be done for the tile that it carries.
  TransferText carried(const Binding& call, std::size_t parameter, Carried here, Carried there) const {
    for (std::size_t r = 0; r < routes_.size(); ++r) {
      const Route& route = routes_[r];
      if (route.callable.importer != call.importer || route.callable.exporter != call.exporter ||
          route.parameter != static_cast<int>(parameter))
        continue;
      const TransferContext context = transfer_context(plan_, r, route.role, parameter);
      if (route.tensor.exporter.instance != call.importer.instance)
        return transfer_text_on_return(route.transfer, context, there, here);
      return transfer_text(route.transfer, context, here, there,
                           there.type->name.find("const") == std::string::npos);
    }
    return {{}, {}, fmt::format("static_cast<{}>({})", here.alias, here.argument)};
  }

  const Composition& composition_;
  const Bindings& bindings_;
  const Plan& plan_;
  const std::vector<Route>& routes_;
};

json mbarrier_list(const Composition& composition, const Plan& plan) {
  struct Row {
    std::int64_t offset, count, arrivals;
    std::string claim;
  };
  std::vector<Row> rows;
  for (std::size_t i = 0; i < plan.instances.size(); ++i) {
    const contract::Contract& c = composition.contract(i);
    const std::string prefix = composition.instances[i].name + ".";
    for (std::size_t k = 0; k < c.rings.size(); ++k) {
      if (c.rings[k].direction != Direction::kExport) continue;
      const PlacedRing& r = plan.instances[i].rings[k];
      rows.push_back({r.full, r.stages, r.full_arrivals, prefix + c.rings[k].name + ".full"});
      rows.push_back({r.empty, r.stages, r.empty_arrivals, prefix + c.rings[k].name + ".empty"});
    }
    for (std::size_t k = 0; k < c.mbarriers.size(); ++k) {
      const PlacedMbarriers& m = plan.instances[i].mbarriers[k];
      rows.push_back({m.offset, m.count, m.arrivals, prefix + c.mbarriers[k].name});
    }
  }
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.offset < b.offset; });
  json out = json::array();
  for (const Row& r : rows)
    out.push_back({{"offset", std::to_string(r.offset)},
                   {"count", std::to_string(r.count)},
                   {"arrivals", std::to_string(r.arrivals)},
                   {"claim", r.claim}});
  return out;
}

/// What the threads of a role do before it is called.
std::vector<std::string> before_role(const Plan& plan, const std::vector<Route>& routes, PortRef role) {
  std::vector<std::string> out;
  for (std::size_t r = 0; r < routes.size(); ++r) {
    if (routes[r].consumer_role != role) continue;
    const std::vector<std::string> text =
        prearrive_text(routes[r].transfer, transfer_context(plan, r, role, out.size()));
    out.insert(out.end(), text.begin(), text.end());
  }
  return out;
}

/// One branch for each run of warpgroups that have the same roles and budget.
json warpgroup_list(const Composition& composition, const Plan& plan, const std::vector<Route>& routes,
                    const PortRef* probe) {
  struct Use {
    int first, end;
    std::string call;
    std::vector<std::string> before;
  };
  std::vector<Use> uses;
  for (std::size_t i = 0; i < plan.instances.size(); ++i) {
    const contract::Contract& c = composition.contract(i);
    for (std::size_t k = 0; k < c.roles.size(); ++k) {
      const int first = plan.instances[i].roles[k];
      if (probe != nullptr && (probe->instance != i || probe->index != k)) continue;
      uses.push_back({first, first + c.roles[k].warps,
                      fmt::format("pl__{}__role__{}(pipelink::Self{{{}, parameters.bytes}});", c.component,
                                  c.roles[k].name, composition.instances[i].index),
                      before_role(plan, routes, {i, k})});
    }
  }
  std::sort(uses.begin(), uses.end(), [](const Use& a, const Use& b) { return a.first < b.first; });
  const int warps = plan.threads / 32;
  json out = json::array();
  for (int begin = 0; begin < warps;) {
    int end = begin + 4;
    for (const Use& use : uses)
      if (use.first >= begin && use.first < end) end = std::max(end, (use.end + 3) / 4 * 4);
    const bool last = end >= warps;
    json branch;
    branch["branch"] =
        fmt::format("{}{}{{", begin == 0 ? "" : "} else ", last ? "" : fmt::format("if (warp < {}) ", end));
    const int budget = plan.solution.warpgroup_registers[static_cast<std::size_t>(begin / 4)];
    branch["setmaxnreg"] = json::array();
    if (probe == nullptr && budget != plan.solution.entry_registers)
      branch["setmaxnreg"].push_back({{"direction", budget < plan.solution.entry_registers ? "dec" : "inc"},
                                      {"count", std::to_string(budget)}});
    std::vector<std::string> calls;
    int covered = begin;
    for (const Use& use : uses) {
      if (use.first < begin || use.first >= end) continue;
      const bool from_start = use.first == begin, to_end = use.end == end;
      std::string condition = from_start && to_end       ? ""
                              : use.end == use.first + 1 ? fmt::format("if (warp == {}) ", use.first)
                              : from_start               ? fmt::format("if (warp < {}) ", use.end)
                              : to_end                   ? fmt::format("if (warp >= {}) ", use.first)
                                       : fmt::format("if (warp >= {} && warp < {}) ", use.first, use.end);
      const std::string lead = (covered != begin ? "else " : "") + condition;
      if (use.before.empty()) {
        calls.push_back(lead + use.call);
      } else {
        calls.push_back(lead + "{");
        for (const std::string& line : use.before) calls.push_back("  " + line);
        calls.push_back("  " + use.call);
        calls.push_back("}");
      }
      covered = use.end;
    }
    branch["roles"] = lines(calls);
    out.push_back(std::move(branch));
    begin = end;
  }
  return out;
}

Outcome<std::string> guard_text(const Composition& composition, const Plan& plan) {
  using namespace runtime_internal;
  json bands = json::array();
  for (const GuardBand& b : plan.guard->bands)
    bands.push_back({{"begin", std::to_string(b.begin)}, {"end", std::to_string(b.end)}});
  if (bands.empty()) bands.push_back({{"begin", "0"}, {"end", "0"}});
  json values;
  values["milliseconds"] = std::to_string(composition.options.guard_ms);
  values["head_bytes"] = std::to_string(kGuardBytes);
  values["band_count"] = std::to_string(bands.size());
  values["bands"] = std::move(bands);
  values["threads"] = std::to_string(plan.threads);
  values["warps"] = std::to_string(plan.threads / 32);
  values["records"] = std::to_string(kGuardRecords);
  values["kind_mbarrier"] = std::to_string(kGuardMbarrier);
  values["kind_barrier"] = std::to_string(kGuardBarrier);
  values["kind_band"] = std::to_string(kGuardOverrun);
  values["kind_stuck"] = std::to_string(kGuardStuck);
  values["kind_also"] = std::to_string(kGuardAlso);
  values["traps"] = plan.tensor_columns != 0;
  return render_template("guard.cu", values);
}

}  // namespace

Outcome<std::string> glue(const Composition& composition, const Bindings& bindings, const Plan& plan,
                          const std::vector<Route>& routes, const PortRef* probe) {
  const std::vector<Group> all = groups(composition);
  json components = json::array(), calls = json::array();
  for (const Group& group : all) {
    std::vector<std::size_t> called;
    for (std::size_t k = 0; k < group.contract->callables.size(); ++k) {
      const bool used =
          std::any_of(bindings.callables.begin(), bindings.callables.end(), [&](const Binding& b) {
            return composition.instances[b.exporter.instance].package ==
                       composition.instances[group.instances.front()].package &&
                   b.exporter.index == k;
          });
      if (used) called.push_back(k);
    }
    std::vector<std::string> types, declarations;
    declare(group, called, types, declarations);
    std::string names;
    for (std::size_t i : group.instances)
      names += (names.empty() ? "" : ", ") + composition.instances[i].name;
    components.push_back({{"component", group.contract->component},
                          {"instances", names},
                          {"types", lines(types)},
                          {"declarations", lines(declarations)},
                          {"handles", lines(handles(group, bindings, plan))}});
  }
  const Trampoline trampoline(composition, bindings, plan, routes);
  for (const Group& group : all)
    for (std::size_t k = 0; k < group.contract->callables.size(); ++k)
      if (group.contract->callables[k].direction == Direction::kImport)
        calls.push_back({{"caption", fmt::format("{} calls {}", group.contract->component,
                                                 group.contract->callables[k].name)},
                         {"lines", lines(trampoline.text(group, k))}});

  const auto& cluster = composition.launch.cluster;
  const bool clustered = cluster[0] * cluster[1] * cluster[2] > 1;
  const std::string cluster_sync =
      "asm volatile(\"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\" ::: \"memory\");";
  json values;
  values["name"] = composition.name;
  values["arch"] = composition.arch;
  values["version"] = kVersion;
  values["self"] = std::string(self_header_text());
  values["shared_align"] = std::to_string(plan.shared_align);
  values["shared_bytes"] = std::to_string(plan.shared_bytes);
  values["parameter_align"] = std::to_string(plan.parameter_align);
  values["parameter_bytes"] = std::to_string(plan.parameter_bytes);
  values["guard"] = json::array();
  if (plan.guard) {
    Outcome<std::string> guard = guard_text(composition, plan);
    if (!guard) return guard.diagnostics;
    values["guard"].push_back({{"text", std::move(*guard)},
                               {"head_words", std::to_string(kGuardBytes / 4)},
                               {"parameter", std::to_string(plan.guard->parameter)}});
  }
  const bool transfers = std::any_of(routes.begin(), routes.end(), [](const Route& r) {
    return r.transfer.kind != transfer::Kind::kSame && r.transfer.kind != transfer::Kind::kInPlace;
  });
  values["transfers"] = json::array();
  if (transfers) values["transfers"].push_back({{"helpers", transfer_helpers()}});
  values["components"] = std::move(components);
  values["calls"] = std::move(calls);
  values["threads"] = std::to_string(plan.threads);
  values["registers"] = std::to_string(plan.solution.entry_registers);
  values["bounds"] = probe != nullptr ? std::string()
                                      : fmt::format("__launch_bounds__({}, {})", plan.threads,
                                                    composition.launch.blocks_per_sm);
  values["cluster"] =
      clustered ? fmt::format("__cluster_dims__({}, {}, {}) ", cluster[0], cluster[1], cluster[2]) : "";
  values["mbarriers"] = mbarrier_list(composition, plan);
  values["sync"] = clustered ? cluster_sync : "__syncthreads();";
  values["warpgroups"] = warpgroup_list(composition, plan, routes, probe);
  const bool tensor_memory = plan.tensor_columns != 0;
  values["tensor_memory"] = json::array();
  if (tensor_memory)
    values["tensor_memory"].push_back({{"columns", std::to_string(plan.tensor_columns)},
                                       {"word", std::to_string(plan.tensor_memory_word)}});
  values["end_sync"] = clustered       ? lines({cluster_sync})
                       : tensor_memory ? lines({"__syncthreads();"})
                                       : json::array();
  return render_template("glue.cu", values);
}

}  // namespace pipelink
