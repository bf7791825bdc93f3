#include "linker/report/map.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "linker/report/summary.h"
#include "linker/version.h"
#include "packager/base/sha256.h"
#include "packager/contract/expression.h"

namespace pipelink {
namespace {

using json = nlohmann::ordered_json;
using contract::Direction;

json place_of(const SourceSpan& where) {
  return {{"file", where.file}, {"line", where.line}};
}

json with_place(json row, const SourceSpan& where) {
  row.update(place_of(where));
  return row;
}

json shared_rows(const Checked& in) {
  json rows = json::array();
  for (const place::Buffer& b : in.plan.problem.buffers) {
    const place::BufferPlacement& at = *in.plan.solution.buffer(b.name);
    json row = {{"claim", b.name},   {"owner", b.owner}, {"offset", at.offset},
                {"bytes", at.bytes}, {"align", b.align}, {"live", b.live}};
    if (!b.ring.empty()) row["ring"] = b.ring;
    rows.push_back(with_place(std::move(row), b.where));
  }
  std::sort(rows.begin(), rows.end(), [](const json& a, const json& b) {
    return std::pair(a["offset"].get<std::int64_t>(), a["claim"].get<std::string>()) <
           std::pair(b["offset"].get<std::int64_t>(), b["claim"].get<std::string>());
  });
  return rows;
}

json ring_rows(const Checked& in) {
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
                                 {"empty_arrivals", at.empty_arrivals}},
                                c.rings[r].where));
    }
  }
  return rows;
}

json barrier_rows(const Checked& in) {
  json rows = json::array();
  for (const place::NamedBarrier& b : in.plan.problem.barriers)
    rows.push_back(with_place({{"claim", b.name},
                               {"owner", b.owner},
                               {"id", in.plan.solution.barrier(b.name)->id},
                               {"live", b.live}},
                              b.where));
  std::sort(rows.begin(), rows.end(), [](const json& a, const json& b) {
    return std::pair(a["id"].get<int>(), a["claim"].get<std::string>()) <
           std::pair(b["id"].get<int>(), b["claim"].get<std::string>());
  });
  return rows;
}

json tensor_memory_rows(const Checked& in) {
  json rows = json::array();
  for (const place::TensorColumns& t : in.plan.problem.tensor_columns)
    rows.push_back(with_place({{"claim", t.name},
                               {"owner", t.owner},
                               {"column", in.plan.solution.columns(t.name)->column},
                               {"columns", t.columns},
                               {"live", t.live}},
                              t.where));
  std::sort(rows.begin(), rows.end(), [](const json& a, const json& b) {
    return std::pair(a["column"].get<int>(), a["claim"].get<std::string>()) <
           std::pair(b["column"].get<int>(), b["claim"].get<std::string>());
  });
  return rows;
}

json role_rows(const Checked& in) {
  json rows = json::array();
  for (const place::Role& r : in.plan.problem.roles) {
    const place::RolePlacement& at = *in.plan.solution.role(r.name);
    rows.push_back(with_place({{"claim", r.name},
                               {"owner", r.owner},
                               {"first_warp", at.first_warp},
                               {"warps", at.warps},
                               {"registers", at.registers},
                               {"registers_min", r.min_registers},
                               {"registers_max", r.max_registers}},
                              r.where));
  }
  std::sort(rows.begin(), rows.end(), [](const json& a, const json& b) {
    return a["first_warp"].get<int>() < b["first_warp"].get<int>();
  });
  return rows;
}

json placement(const Checked& in) {
  json regions = json::array();
  for (std::size_t i = 0; i < in.composition.instances.size(); ++i)
    if (const auto& region = in.composition.contract(i).parameters)
      regions.push_back({{"instance", in.composition.instances[i].name},
                         {"offset", in.plan.instances[i].parameters},
                         {"bytes", region->size},
                         {"type", region->type}});
  return {{"shared_bytes", in.plan.shared_bytes},
          {"shared_capacity", in.plan.solution.capacity},
          {"shared_align", in.plan.shared_align},
          {"shared", shared_rows(in)},
          {"rings", ring_rows(in)},
          {"named_barriers", barrier_rows(in)},
          {"tensor_memory",
           {{"allocated", in.plan.tensor_columns},
            {"capacity", in.plan.problem.target.tensor_columns},
            {"claims", tensor_memory_rows(in)}}},
          {"threads", in.plan.threads},
          {"entry_registers", in.plan.solution.entry_registers},
          {"warpgroup_registers", in.plan.solution.warpgroup_registers},
          {"roles", role_rows(in)},
          {"parameters",
           {{"bytes", in.plan.parameter_bytes},
            {"align", in.plan.parameter_align},
            {"regions", std::move(regions)}}}};
}

std::string port(const Checked& in, PortRef ref, const std::string& name) {
  return in.composition.instances[ref.instance].name + "." + name;
}

json binding_rows(const Checked& in) {
  json rows = json::array();
  const auto add = [&](const char* kind, const std::vector<Binding>& list, auto&& name) {
    for (const Binding& b : list)
      rows.push_back({{"kind", kind},
                      {"import", port(in, b.importer, name(b.importer))},
                      {"export", port(in, b.exporter, name(b.exporter))}});
  };
  add("callable", in.bindings.callables,
      [&](PortRef p) { return in.composition.contract(p.instance).callables[p.index].name; });
  add("ring", in.bindings.rings,
      [&](PortRef p) { return in.composition.contract(p.instance).rings[p.index].name; });
  add("tensor", in.bindings.tensors,
      [&](PortRef p) { return in.composition.contract(p.instance).tensors[p.index].name; });
  return rows;
}

json route_rows(const Checked& in) {
  json rows = json::array();
  for (const Route& r : in.routes) {
    const auto name = [&](PortRef p) {
      return port(in, p, in.composition.contract(p.instance).tensors[p.index].name);
    };
    json row = {{"from", name(r.tensor.exporter)}, {"to", name(r.tensor.importer)}, {"route", r.kind}};
    if (!r.permutation.empty()) row["permutation"] = r.permutation;
    rows.push_back(std::move(row));
  }
  return rows;
}

json fact_rows(const Checked& in) {
  json rows = json::array();
  for (std::size_t f = 0; f < in.bindings.facts.size(); ++f) {
    const FactValue& fact = in.bindings.facts[f];
    const contract::Fact& declared = in.composition.contract(fact.owner).facts[fact.index];
    json readers = json::array();
    for (std::size_t i = 0; i < in.bindings.fact_of.size(); ++i)
      for (std::size_t k = 0; k < in.bindings.fact_of[i].size(); ++k)
        if (in.bindings.fact_of[i][k] == f && i != fact.owner)
          readers.push_back(in.composition.instances[i].name);
    json row = {{"fact", port(in, {fact.owner, fact.index}, declared.name)}};
    if (fact.type == contract::FactType::kInteger)
      row["value"] = fact.integer;
    else if (fact.type == contract::FactType::kBoolean)
      row["value"] = fact.integer != 0;
    else
      row["value"] = fact.text;
    row["settable"] = declared.settable;
    row["set"] = fact.set_by_composition;
    if (declared.settable) row["domain"] = declared.domain;
    row["readers"] = std::move(readers);
    rows.push_back(with_place(std::move(row), declared.where));
  }
  return rows;
}

json solver(const place::Solution& s) {
  json objectives = json::array();
  for (const place::Objective& o : s.objectives)
    objectives.push_back({{"name", o.name}, {"proven", o.proven}, {"value", o.value}, {"bound", o.bound}});
  return {{"optimal", s.optimal},
          {"gap_bytes", s.gap_bytes},
          {"rlimit_used", s.rlimit_used},
          {"rlimit_limit", s.rlimit_limit},
          {"objectives", std::move(objectives)}};
}

json head(const Checked& in) {
  json instances = json::array(), inputs = json::array(), dropped = json::array();
  for (std::size_t i = 0; i < in.composition.instances.size(); ++i) {
    const Instance& instance = in.composition.instances[i];
    instances.push_back(
        {{"name", instance.name}, {"component", instance.component}, {"index", instance.index}});
  }
  for (const PackageInput& p : in.composition.packages)
    inputs.push_back({{"package", p.file},
                      {"component", p.contract.component},
                      {"version", p.contract.version},
                      {"sha256", p.sha256}});
  for (PortRef p : in.bindings.dropped)
    dropped.push_back(port(in, p, in.composition.contract(p.instance).callables[p.index].name));
  const Launch& launch = in.composition.launch;
  return {{"schema", 1},
          {"name", in.composition.name},
          {"arch", in.composition.arch},
          {"pipelink", kVersion},
          {"instances", std::move(instances)},
          {"launch", {{"cluster", launch.cluster}, {"blocks_per_sm", launch.blocks_per_sm}}},
          {"placement", placement(in)},
          {"free", in.plan.solution.capacity - in.plan.shared_bytes},
          {"solver", solver(in.plan.solution)},
          {"bindings", binding_rows(in)},
          {"routes", route_rows(in)},
          {"facts", fact_rows(in)},
          {"dropped", std::move(dropped)},
          {"inputs", std::move(inputs)}};
}

json whole(const Linked& linked) {
  json map = head(linked.checked);
  json gate = json::array();
  for (const GateRow& row : linked.gate.rows)
    gate.push_back({{"what", row.what}, {"planned", row.planned}, {"found", row.found}});
  map["gate"] = std::move(gate);
  map["cubin"] = {{"toolkit", linked.facts.toolkit},
                  {"sha256", sha256_hex(linked.cubin)},
                  {"text_sha256", sha256_hex(linked.facts.text)},
                  {"text_bytes", linked.facts.text.size()},
                  {"stack_bytes", linked.facts.stack_bytes}};
  return map;
}

}  // namespace

std::string map_json(const Linked& linked) {
  return whole(linked).dump(1) + "\n";
}

std::string summary_text(const Linked& linked) {
  return render_summary(whole(linked));
}

std::string placement_text(const Checked& checked) {
  return render_summary(head(checked));
}

Outcome<std::string> summary_of_map(const std::string& text, const std::string& file) {
  Diagnostic d;
  d.clause = "I-JSON";
  d.title = file + " is no link map";
  const json map = json::parse(text, nullptr, false);
  if (map.is_discarded() || !map.is_object() || map.value("schema", 0) != 1 || !map.contains("placement")) {
    d.reason = map.is_discarded() ? "it is not JSON" : "it has no placement of schema 1";
    return d;
  }
  try {
    return render_summary(map);
  } catch (const json::exception& e) {
    d.reason = e.what();
    return d;
  }
}

}  // namespace pipelink
