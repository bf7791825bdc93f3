#include "linker/report/map.h"

#include <algorithm>

#include "linker/report/map_rows.h"
#include "linker/report/summary.h"
#include "linker/version.h"
#include "packager/base/sha256.h"
#include "packager/base/strict_json.h"

namespace pipelink {
namespace {

using json = nlohmann::ordered_json;

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

/// Claims with the width of their bands; what waits with a limit; what the guard does not see.
json guard_rows(const Checked& in) {
  json claims = json::array(), waits = json::array(), not_guarded = json::array();
  for (const GuardedClaim& c : guarded_claims(in.plan.solution, in.plan.guard->bands))
    claims.push_back({{"claim", c.name}, {"before", c.before}, {"after", c.after}});
  for (std::size_t i = 0; i < in.composition.instances.size(); ++i) {
    const contract::Contract& c = in.composition.contract(i);
    const std::string prefix = in.composition.instances[i].name + ".";
    for (const contract::Ring& r : c.rings) {
      if (r.direction != contract::Direction::kExport) continue;
      waits.push_back(prefix + r.name + ".full");
      waits.push_back(prefix + r.name + ".empty");
    }
    for (const contract::Mbarriers& m : c.mbarriers) waits.push_back(prefix + m.name);
    for (const contract::NamedBarrier& b : c.named_barriers) waits.push_back(prefix + b.name);
  }
  for (const NotGuarded& n : in.plan.guard->not_guarded)
    not_guarded.push_back({{"owner", n.owner}, {"what", n.what}, {"why", n.why}});
  return {{"milliseconds", in.composition.options.guard_ms},
          {"claims", std::move(claims)},
          {"waits", std::move(waits)},
          {"not_guarded", std::move(not_guarded)}};
}

json scratch_rows(const Checked& in) {
  json rows = json::array();
  for (std::size_t i = 0; i < in.composition.instances.size(); ++i) {
    const std::vector<contract::Scratch>& claims = in.composition.contract(i).scratch;
    for (std::size_t k = 0; k < claims.size(); ++k)
      rows.push_back(with_place({{"claim", in.composition.instances[i].name + "." + claims[k].name},
                                 {"bytes", in.plan.instances[i].scratch[k].bytes},
                                 {"per_block", claims[k].per_block},
                                 {"align", claims[k].align},
                                 {"zeroed", claims[k].zeroed},
                                 {"field", claims[k].field}},
                                claims[k].where));
  }
  return rows;
}

json head(const MapSource& source) {
  const Checked& in = source.in;
  json instances = json::array(), inputs = json::array();
  for (const Instance& instance : in.composition.instances)
    instances.push_back(
        {{"name", instance.name}, {"component", instance.component}, {"index", instance.index}});
  for (const PackageInput& p : in.composition.packages)
    inputs.push_back({{"package", p.file},
                      {"component", p.contract.component},
                      {"version", p.contract.version},
                      {"sha256", p.sha256}});
  const Launch& launch = in.composition.launch;
  json map = {{"schema", 1},
              {"name", in.composition.name},
              {"arch", in.composition.arch},
              {"pipelink", kVersion},
              {"instances", std::move(instances)},
              {"launch", {{"cluster", launch.cluster}, {"blocks_per_sm", launch.blocks_per_sm}}},
              {"placement", placement_rows(source)},
              {"free", in.plan.solution.capacity - in.plan.shared_bytes},
              {"solver", solver(in.plan.solution)},
              {"bindings", binding_rows(source)},
              {"routes", route_rows(source)},
              {"facts", fact_rows(source)},
              {"dropped", dropped_rows(source)},
              {"protocol_order", protocol_order_rows(source)},
              {"inputs", std::move(inputs)}};
  if (json scratch = scratch_rows(in); !scratch.empty()) map["scratch"] = std::move(scratch);
  if (in.plan.guard) map["guard"] = guard_rows(in);
  return map;
}

json whole(const Linked& linked) {
  const GlueIndex index(linked.glue);
  json map = head({linked.checked, index, true});
  json gate = json::array();
  for (const GateRow& row : linked.gate.rows)
    gate.push_back({{"what", row.what}, {"planned", row.planned}, {"found", row.found}});
  map["gate"] = std::move(gate);
  if (!linked.measured_registers.empty()) map["measured_registers"] = linked.measured_registers;
  map["cubin"] = {{"toolkit", linked.facts.toolkit},
                  {"sha256", sha256_hex(linked.cubin)},
                  {"text_sha256", sha256_hex(linked.facts.text)},
                  {"text_bytes", linked.facts.text.size()},
                  {"stack_bytes", linked.facts.stack_bytes}};
  map["glue"] = {{"sha256", sha256_hex(linked.glue)}, {"lines", index.lines()}};
  return map;
}

Diagnostic no_map(const std::string& file, std::string reason, std::string help = {}) {
  return make_error("I-JSON", file + " is no link map", {}, std::move(reason), std::move(help));
}

}  // namespace

json with_place(json row, const SourceSpan& where) {
  row["file"] = where.file;
  row["line"] = where.line;
  return row;
}

json with_glue(json row, std::vector<int> lines) {
  std::sort(lines.begin(), lines.end());
  lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
  if (!lines.empty()) row["glue"] = std::move(lines);
  return row;
}

MapTexts map_texts(const Linked& linked) {
  const json map = whole(linked);
  return {map.dump(1) + "\n", render_summary(map)};
}

std::string placement_text(const Checked& checked) {
  return render_summary(head({checked, GlueIndex(), false}));
}

Outcome<json> read_map(const std::string& text, const std::string& file) {
  Outcome<json> map = parse_json(text, file);
  if (!map) return no_map(file, map.diagnostics.front().reason);
  if (map->is_object() && map->contains("components") && !map->contains("placement"))
    return no_map(
        file, "it is a composition",
        "the link map is NAME.ARCH.map.json, which a link writes; `pipelink check` places a composition");
  if (!map->is_object() || !map->contains("schema") || (*map)["schema"] != 1 || !map->contains("placement"))
    return no_map(file, "it has no placement of schema 1");
  return map;
}

Outcome<std::string> summary_of_map(const std::string& text, const std::string& file) {
  const Outcome<json> map = read_map(text, file);
  if (!map) return map.diagnostics;
  try {
    return render_summary(*map);
  } catch (const json::exception& e) {
    return no_map(file, e.what());
  }
}

}  // namespace pipelink
