// What lies where and why: the key "placement" of the link map.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "linker/bind/words.h"
#include "linker/place/explain.h"
#include "linker/place/reuse.h"
#include "linker/report/map_rows.h"

namespace pipelink {
namespace {

using binding::dotted;
using json = nlohmann::ordered_json;
using contract::Direction;

/// What a stretch of shared memory is to the component that claims it.
struct SharedUse {
  const char* kind = "buffer";  ///< or "ring", "full barriers", "empty barriers", "barriers"
  std::int64_t arrivals = 0;
  std::vector<int> lines;
};

void append_lines(std::vector<int>& all, const std::vector<int>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

/// By claim. A ring's lines are those of all instances that have an end of it.
std::map<std::string, SharedUse> shared_uses(const MapSource& source) {
  std::map<std::string, SharedUse> out;
  const Composition& composition = source.in.composition;
  const GlueIndex& glue = source.glue;
  for (std::size_t i = 0; i < composition.instances.size(); ++i) {
    const contract::Contract& c = composition.contract(i);
    const std::string prefix = composition.instances[i].name + ".", symbol = "pl__" + c.component + "__";
    for (const contract::Buffer& b : c.buffers)
      out[prefix + b.name] = {"buffer", 0, glue.of(symbol + "buffer__" + b.name)};
    for (std::size_t m = 0; m < c.mbarriers.size(); ++m) {
      SharedUse& use = out[prefix + c.mbarriers[m].name];
      use = {"barriers", source.in.plan.instances[i].mbarriers[m].arrivals,
             glue.of(symbol + "mbarriers__" + c.mbarriers[m].name)};
      append_lines(use.lines, glue.commented(prefix + c.mbarriers[m].name));
    }
    for (std::size_t r = 0; r < c.rings.size(); ++r) {
      PortRef owner{i, r};
      if (c.rings[r].direction == Direction::kImport) {
        const PortRef* exporter = exporter_of(source.in.bindings.rings, owner);
        if (exporter == nullptr) continue;
        owner = *exporter;
      }
      const std::string ring =
          dotted(composition, owner.instance, composition.contract(owner.instance).rings[owner.index].name);
      const PlacedRing& placed = source.in.plan.instances[i].rings[r];
      const std::string handle = symbol + "ring__" + c.rings[r].name;
      const auto add = [&](const std::string& claim, const char* kind, std::int64_t arrivals,
                           std::initializer_list<const char*> words) {
        SharedUse& use = out[claim];
        use.kind = kind;
        use.arrivals = arrivals;
        for (const char* word : words) append_lines(use.lines, glue.of(handle + word));
        if (owner == PortRef{i, r}) append_lines(use.lines, glue.commented(claim));
      };
      add(ring, "ring", 0, {"__data", "__stages", "__stage_bytes"});
      add(ring + ".full", "full barriers", placed.full_arrivals, {"__full"});
      add(ring + ".empty", "empty barriers", placed.empty_arrivals, {"__empty"});
    }
  }
  out[kTensorMemoryWord].kind = "address of tensor memory";
  out[kGuardClaim].kind = "the guard's own";
  return out;
}

json shared_rows(const MapSource& source) {
  json rows = json::array();
  std::map<std::string, SharedUse> uses = shared_uses(source);
  for (const place::Buffer& b : source.in.plan.problem.buffers) {
    const place::BufferPlacement& at = *source.in.plan.solution.buffer(b.name);
    SharedUse& use = uses[b.name];
    json row = {{"claim", b.name},   {"owner", b.owner}, {"kind", use.kind}, {"offset", at.offset},
                {"bytes", at.bytes}, {"align", b.align}, {"live", b.live}};
    if (!b.ring.empty()) row["ring"] = b.ring;
    if (use.arrivals > 0) row["arrivals"] = use.arrivals;
    rows.push_back(with_glue(with_place(std::move(row), b.where), std::move(use.lines)));
  }
  std::sort(rows.begin(), rows.end(), [](const json& a, const json& b) {
    return std::pair(a["offset"].get<std::int64_t>(), a["claim"].get<std::string>()) <
           std::pair(b["offset"].get<std::int64_t>(), b["claim"].get<std::string>());
  });
  return rows;
}

json reason(const place::Explanation& why) {
  json facts = json::array();
  for (const LabelledFact& fact : why.facts)
    facts.push_back(with_place({{"owner", fact.owner}, {"text", fact.text}}, fact.where));
  return {{"text", why.text}, {"proven", why.proven}, {"facts", std::move(facts)}};
}

json ring_rows(const MapSource& source) {
  const Checked& in = source.in;
  json rows = json::array();
  for (std::size_t i = 0; i < in.composition.instances.size(); ++i) {
    const contract::Contract& c = in.composition.contract(i);
    for (std::size_t r = 0; r < c.rings.size(); ++r) {
      if (c.rings[r].direction != Direction::kExport) continue;
      const PlacedRing& at = in.plan.instances[i].rings[r];
      const std::string name = in.composition.instances[i].name + "." + c.rings[r].name;
      const auto ring = std::find_if(in.plan.problem.rings.begin(), in.plan.problem.rings.end(),
                                     [&](const place::Ring& p) { return p.name == name; });
      rows.push_back(with_place({{"claim", name},
                                 {"stages", at.stages},
                                 {"stages_min", ring->min_depth},
                                 {"stages_max", ring->max_depth},
                                 {"stage_bytes", at.stage_bytes},
                                 {"data", at.data},
                                 {"full", at.full},
                                 {"empty", at.empty},
                                 {"full_arrivals", at.full_arrivals},
                                 {"empty_arrivals", at.empty_arrivals},
                                 {"tier", ring->tier},
                                 {"weight", ring->weight}},
                                c.rings[r].where));
      if (source.reasons)
        rows.back()["why_not_deeper"] =
            reason(place::why_not_deeper(in.plan.problem, in.plan.solution, name));
    }
  }
  return rows;
}

json barrier_rows(const MapSource& source) {
  const Composition& composition = source.in.composition;
  std::map<std::string, std::vector<int>> lines;
  for (std::size_t i = 0; i < composition.instances.size(); ++i)
    for (const contract::NamedBarrier& b : composition.contract(i).named_barriers)
      lines[composition.instances[i].name + "." + b.name] =
          source.glue.of(fmt::format("pl__{}__barrier__{}", composition.contract(i).component, b.name));
  json rows = json::array();
  for (const place::NamedBarrier& b : source.in.plan.problem.barriers)
    rows.push_back(with_glue(with_place({{"claim", b.name},
                                         {"owner", b.owner},
                                         {"id", source.in.plan.solution.barrier(b.name)->id},
                                         {"live", b.live}},
                                        b.where),
                             lines[b.name]));
  std::sort(rows.begin(), rows.end(), [](const json& a, const json& b) {
    return std::pair(a["id"].get<int>(), a["claim"].get<std::string>()) <
           std::pair(b["id"].get<int>(), b["claim"].get<std::string>());
  });
  return rows;
}

json tensor_memory_rows(const MapSource& source) {
  const Composition& composition = source.in.composition;
  std::map<std::string, std::vector<int>> lines;
  for (std::size_t i = 0; i < composition.instances.size(); ++i)
    for (const contract::TensorMemory& t : composition.contract(i).tensor_memory)
      lines[composition.instances[i].name + "." + t.name] =
          source.glue.of(fmt::format("pl__{}__tensor_memory__{}", composition.contract(i).component, t.name));
  json rows = json::array();
  for (const place::TensorColumns& t : source.in.plan.problem.tensor_columns)
    rows.push_back(with_glue(with_place({{"claim", t.name},
                                         {"owner", t.owner},
                                         {"column", source.in.plan.solution.columns(t.name)->column},
                                         {"columns", t.columns},
                                         {"live", t.live}},
                                        t.where),
                             lines[t.name]));
  std::sort(rows.begin(), rows.end(), [](const json& a, const json& b) {
    return std::pair(a["column"].get<int>(), a["claim"].get<std::string>()) <
           std::pair(b["column"].get<int>(), b["claim"].get<std::string>());
  });
  return rows;
}

json role_rows(const MapSource& source) {
  const Composition& composition = source.in.composition;
  std::map<std::string, std::vector<int>> lines;
  for (std::size_t i = 0; i < composition.instances.size(); ++i)
    for (const contract::Role& r : composition.contract(i).roles) {
      const std::string symbol = fmt::format("pl__{}__role__{}", composition.contract(i).component, r.name);
      std::vector<int>& at = lines[composition.instances[i].name + "." + r.name];
      at = source.glue.of(symbol + "__warp");
      append_lines(
          at, source.glue.of(symbol, fmt::format("(pipelink::Self{{{},", composition.instances[i].index)));
    }
  json rows = json::array();
  for (const place::Role& r : source.in.plan.problem.roles) {
    const place::RolePlacement& at = *source.in.plan.solution.role(r.name);
    rows.push_back(with_glue(with_place({{"claim", r.name},
                                         {"owner", r.owner},
                                         {"first_warp", at.first_warp},
                                         {"warps", at.warps},
                                         {"registers", at.registers},
                                         {"registers_min", r.min_registers},
                                         {"registers_max", r.max_registers}},
                                        r.where),
                             lines[r.name]));
    if (source.reasons)
      rows.back()["why_not_larger"] =
          reason(place::why_not_larger(source.in.plan.problem, source.in.plan.solution, r.name));
  }
  std::sort(rows.begin(), rows.end(), [](const json& a, const json& b) {
    return a["first_warp"].get<int>() < b["first_warp"].get<int>();
  });
  return rows;
}

/// In an order that respects every `after`. `called_in` names the callers' phases that hold a callable's.
json phase_rows(const Checked& in) {
  std::map<std::string, SourceSpan> where;
  std::map<std::string, std::string> owner;
  for (std::size_t i = 0; i < in.composition.instances.size(); ++i)
    for (const contract::Phase& p : in.composition.contract(i).phases) {
      where[in.composition.instances[i].name + "." + p.name] = p.where;
      owner[in.composition.instances[i].name + "." + p.name] = in.composition.instances[i].name;
    }
  std::map<std::string, json> callers;
  for (const Binding& b : in.bindings.callables)
    for (const std::string& inner :
         in.composition.contract(b.exporter.instance).callables[b.exporter.index].phases)
      for (const std::string& outer :
           in.composition.contract(b.importer.instance).callables[b.importer.index].phases)
        callers[dotted(in.composition, b.exporter.instance, inner)].push_back(
            dotted(in.composition, b.importer.instance, outer));
  json rows = json::array();
  for (const std::string& name : place::phases_in_order(in.plan.problem)) {
    const auto phase = std::find_if(in.plan.problem.phases.begin(), in.plan.problem.phases.end(),
                                    [&](const place::Phase& p) { return p.name == name; });
    json row = {{"phase", name},
                {"owner", owner[name]},
                {"after", phase->after},
                {"after_previous", phase->after_previous}};
    if (callers.contains(name)) row["called_in"] = callers[name];
    rows.push_back(with_place(std::move(row), where[name]));
  }
  return rows;
}

json order_rows(const std::vector<place::OrderPath>& paths) {
  json rows = json::array();
  for (const place::OrderPath& p : paths) {
    json row = {{"path", p.path}};
    if (p.crossing > 0) row["next_iteration_at"] = p.crossing;
    rows.push_back(std::move(row));
  }
  return rows;
}

json reuse_rows(const MapSource& source) {
  const Checked& in = source.in;
  json rows = json::array();
  if (!source.reasons) return rows;
  const auto orders = [](json row, const place::Reuse& r) {
    row["first"] = r.first;
    row["second"] = r.second;
    row["first_then_second"] = order_rows(r.within);
    row["second_then_first"] = order_rows(r.across);
    return row;
  };
  for (const place::Reuse& r : place::shared_reuse(in.plan.problem, in.plan.solution))
    rows.push_back(orders({{"of", "shared"}, {"offset", r.offset}, {"bytes", r.bytes}}, r));
  for (const place::Reuse& r : place::barrier_reuse(in.plan.problem, in.plan.solution))
    rows.push_back(orders({{"of", "named_barrier"}, {"id", r.offset}}, r));
  for (const place::Reuse& r : place::column_reuse(in.plan.problem, in.plan.solution))
    rows.push_back(orders({{"of", "tensor_memory"}, {"column", r.offset}, {"columns", r.bytes}}, r));
  return rows;
}

}  // namespace

json placement_rows(const MapSource& source) {
  const Checked& in = source.in;
  json regions = json::array();
  for (std::size_t i = 0; i < in.composition.instances.size(); ++i)
    if (const auto& region = in.composition.contract(i).parameters)
      regions.push_back({{"instance", in.composition.instances[i].name},
                         {"offset", in.plan.instances[i].parameters},
                         {"bytes", region->size},
                         {"type", region->type}});
  const place::Target& target = in.plan.problem.target;
  return {{"shared_bytes", in.plan.shared_bytes},
          {"shared_capacity", in.plan.solution.capacity},
          {"shared_align", in.plan.shared_align},
          {"shared", shared_rows(source)},
          {"rings", ring_rows(source)},
          {"named_barriers", barrier_rows(source)},
          {"tensor_memory",
           {{"allocated", in.plan.tensor_columns},
            {"capacity", place::column_capacity(target)},
            {"claims", tensor_memory_rows(source)}}},
          {"threads", in.plan.threads},
          {"entry_registers", in.plan.solution.entry_registers},
          {"warpgroup_registers", in.plan.solution.warpgroup_registers},
          {"roles", role_rows(source)},
          {"parameters",
           {{"bytes", in.plan.parameter_bytes},
            {"align", in.plan.parameter_align},
            {"regions", std::move(regions)}}},
          {"phases", phase_rows(in)},
          {"reuse", reuse_rows(source)},
          {"target",
           {{"registers", target.registers},
            {"max_warps", target.max_warps},
            {"named_barriers", target.named_barriers + 1}}}};
}

}  // namespace pipelink
