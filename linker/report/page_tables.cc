// The overview at the top, and the verdicts: gate, solver, inputs.
#include <fmt/format.h>

#include <algorithm>

#include "linker/codegen/render_template.h"
#include "linker/report/page_parts.h"

namespace pipelink::page {

using nlohmann::json;

Outcome<std::string> overview(const Context& context) {
  const LinkMap& map = context.map;
  std::int64_t registers = 0;
  for (int budget : map.warpgroup_registers) registers += 128LL * budget;
  const std::int64_t pool = map.register_pool / map.blocks_per_sm;
  int barriers = 1;
  for (const MapBarrier& b : map.barriers) barriers = std::max(barriers, b.id + 1);
  const bool clustered = map.cluster[0] * map.cluster[1] * map.cluster[2] > 1;
  const std::size_t claims = map.shared.size() + map.barriers.size() + map.roles.size();
  json tiles = json::array();
  const auto tile = [&](const char* target, const char* what, std::string value, std::string note,
                        double part, double whole) {
    json meter = json::array();
    if (whole > 0) meter.push_back({{"part", percent(std::min(part, whole), whole)}});
    tiles.push_back({{"target", target},
                     {"what", what},
                     {"value", std::move(value)},
                     {"note", std::move(note)},
                     {"meter", std::move(meter)}});
  };
  tile("memory", "Shared memory", bytes(map.shared_bytes),
       fmt::format("of {}, {} free", bytes(map.shared_capacity), bytes(map.free)),
       static_cast<double>(map.shared_bytes), static_cast<double>(map.shared_capacity));
  tile("warps", "Registers", grouped(registers),
       fmt::format("of {} for a block, {} spare", grouped(pool), grouped(pool - registers)),
       static_cast<double>(registers), static_cast<double>(pool));
  tile("warps", "Threads", grouped(map.threads),
       fmt::format("{}, {}", plural(map.threads / 32, "warp"),
                   plural(static_cast<std::int64_t>(map.roles.size()), "role")),
       map.threads, 1024);
  tile("barriers", "Named barriers", std::to_string(barriers),
       fmt::format("of {} ids, 0 is the kernel's own", map.max_barriers), barriers, map.max_barriers);
  tile("solver", "Placement", map.optimal ? "optimal" : "not proven optimal",
       map.optimal ? "every objective is proven" : fmt::format("at most {} from it", bytes(map.gap_bytes)), 0,
       0);
  tile("gate", "Gate", map.gate.empty() ? "not run" : "passed",
       map.gate.empty() ? "this map has no cubin" : fmt::format("{} checks of the cubin", map.gate.size()), 0,
       0);
  const Outcome<std::string> drawn = page::tiles(context);
  return render_html(
      "report_overview.html",
      {{"name", map.name},
       {"arch", map.arch},
       {"lede", fmt::format("{} in one kernel: {}{}",
                            plural(static_cast<std::int64_t>(map.instances.size()), "component instance"),
                            plural(static_cast<std::int64_t>(claims), "claim"),
                            clustered ? fmt::format(", clusters of {} × {} × {} blocks", map.cluster[0],
                                                    map.cluster[1], map.cluster[2])
                                      : "")},
       {"blocks", plural(map.blocks_per_sm, "block")},
       {"columns", !map.tensor_memory.empty()},
       {"handed", drawn && !drawn->empty()},
       {"tiles", std::move(tiles)}});
}

Outcome<std::string> verdict(const Context& context) {
  const LinkMap& map = context.map;
  const std::map<std::string, std::pair<const char*, const char*>> meaning = {
      {"depths", {"Stages of all rings", "more is better"}},
      {"registers", {"Registers of all warpgroup budgets", "more is better"}},
      {"footprint", {"Bytes of shared memory", "less is better"}},
      {"columns", {"Columns of tensor memory", "less is better"}},
      {"barriers", {"Ids of named barriers", "less is better"}}};
  json objectives = json::array(), gate = json::array(), inputs = json::array(), cubin = json::array();
  for (const MapObjective& o : map.objectives) {
    const auto it = meaning.find(o.name);
    objectives.push_back({{"what", it == meaning.end() ? o.name : it->second.first},
                          {"direction", it == meaning.end() ? "" : it->second.second},
                          {"value", grouped(o.value)},
                          {"bound", grouped(o.bound)},
                          {"proven", o.proven}});
  }
  for (const LinkMap::GateRow& g : map.gate)
    gate.push_back(
        {{"what", g.what}, {"planned", g.planned}, {"found", g.found}, {"same", g.planned == g.found}});
  for (const LinkMap::Input& i : map.inputs)
    inputs.push_back(
        {{"package", i.package}, {"component", i.component}, {"version", i.version}, {"sha256", i.sha256}});
  if (map.cubin)
    cubin.push_back({{"toolkit", map.cubin->toolkit},
                     {"sha256", map.cubin->sha256},
                     {"text_sha256", map.cubin->text_sha256},
                     {"text_bytes", bytes(map.cubin->text_bytes)},
                     {"stack_bytes", bytes(map.cubin->stack_bytes)}});
  const bool gated = !gate.empty();
  return render_html("report_verdict.html", {{"optimal", map.optimal},
                                             {"gap", bytes(map.gap_bytes)},
                                             {"work_used", grouped(map.work_used)},
                                             {"work_limit", grouped(map.work_limit)},
                                             {"objectives", std::move(objectives)},
                                             {"gated", gated},
                                             {"gate", std::move(gate)},
                                             {"inputs", std::move(inputs)},
                                             {"cubin", std::move(cubin)},
                                             {"version", map.version}});
}

}  // namespace pipelink::page
