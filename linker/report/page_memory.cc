// Shared memory and tensor memory: pictures and tables.
#include <fmt/format.h>

#include "linker/codegen/render_template.h"
#include "linker/report/page_plot.h"

namespace pipelink::page {

using nlohmann::json;

namespace {

/// By claim, the ids of those that have bytes, or columns, in common with it.
std::map<std::string, std::string> sharers(const Context& context, MapReuse::Of of,
                                           const std::map<std::string, std::string>& ids) {
  std::map<std::string, std::string> out;
  for (const MapReuse& r : context.map.reuse) {
    const auto first = ids.find(r.first), second = ids.find(r.second);
    if (r.of != of || first == ids.end() || second == ids.end()) continue;
    out[r.first] += (out[r.first].empty() ? "" : " ") + second->second;
    out[r.second] += (out[r.second].empty() ? "" : " ") + first->second;
  }
  return out;
}

json table(const Context& context) {
  json out = json::array();
  for (std::size_t n = 0; n < context.map.shared.size(); ++n) {
    const MapShared& c = context.map.shared[n];
    std::string kind = c.kind.empty() ? "claim" : c.kind;
    if (c.arrivals > 0) kind += fmt::format(", {}", plural(c.arrivals, "arrival"));
    for (const MapRing& r : context.map.rings)
      if (r.name == c.name) kind = fmt::format("ring, {} × {}", r.stages, bytes(r.stage_bytes));
    out.push_back({{"n", n + 1},
                   {"id", context.shared.at(c.name)},
                   {"colour", context.colour(c.owner)},
                   {"name", c.name},
                   {"kind", kind},
                   {"offset", grouped(c.offset)},
                   {"hex", fmt::format("{:#x}", c.offset)},
                   {"bytes", grouped(c.bytes)},
                   {"align", grouped(c.align)},
                   {"live", life(c)},
                   {"source", source(c.where)},
                   {"glue", glue_links(context, c.glue)}});
  }
  return out;
}

}  // namespace

Outcome<std::string> memory(const Context& context) {
  const LinkMap& map = context.map;
  std::map<std::string, std::string> shares = sharers(context, MapReuse::Of::kShared, context.shared);
  Plot plot;
  plot.id = "shared-plot";
  plot.title = "Shared memory by address and phase";
  plot.capacity = map.shared_capacity;
  plot.taken = map.shared_bytes;
  plot.free = map.free;
  plot.brief = kibibytes;
  plot.exact = bytes;
  for (const MapShared& c : map.shared)
    plot.items.push_back({&c, context.shared.at(c.name), c.kind == "ring" ? "ring" : "plain", c.offset,
                          c.bytes, shares[c.name]});
  Outcome<std::string> picture = draw(context, plot);
  if (!picture) return picture.diagnostics;
  json values;
  values["plot"] = *picture;
  values["used"] = bytes(map.shared_bytes);
  values["capacity"] = bytes(map.shared_capacity);
  values["free_bytes"] = bytes(map.free);
  values["owners"] = legend(context);
  values["rows"] = table(context);
  values["phased"] = !map.phases.empty();
  values["parameter_bytes"] = bytes(map.parameter_bytes);
  values["parameters"] = !map.regions.empty();
  values["regions"] = json::array();
  for (const MapRegion& r : map.regions)
    values["regions"].push_back({{"instance", r.instance},
                                 {"type", r.type},
                                 {"offset", grouped(r.offset)},
                                 {"bytes", grouped(r.bytes)}});
  return render_html("report_memory.html", values);
}

Outcome<std::string> tensor_memory(const Context& context) {
  const LinkMap& map = context.map;
  if (map.tensor_memory.empty()) return std::string();
  std::map<std::string, std::string> shares = sharers(context, MapReuse::Of::kColumns, context.tensor_memory);
  const auto columns = [](std::int64_t n) { return plural(n, "column"); };
  Plot plot;
  plot.id = "columns-plot";
  plot.title = "Tensor memory by column and phase";
  plot.capacity = map.column_capacity;
  plot.taken = map.columns;
  plot.free = map.column_capacity - map.columns;
  plot.brief = [](std::int64_t n) { return grouped(n); };
  plot.exact = columns;
  json rows = json::array();
  for (const MapColumns& c : map.tensor_memory) {
    plot.items.push_back(
        {&c, context.tensor_memory.at(c.name), "plain", c.column, c.columns, shares[c.name]});
    rows.push_back({{"id", context.tensor_memory.at(c.name)},
                    {"n", rows.size() + 1},
                    {"colour", context.colour(c.owner)},
                    {"name", c.name},
                    {"column", c.column},
                    {"columns", c.columns},
                    {"live", life(c)},
                    {"source", source(c.where)},
                    {"glue", glue_links(context, c.glue)}});
  }
  Outcome<std::string> picture = draw(context, plot);
  if (!picture) return picture.diagnostics;
  return render_html("report_tensor_memory.html", {{"plot", *picture},
                                                   {"allocated", columns(map.columns)},
                                                   {"capacity", grouped(map.column_capacity)},
                                                   {"owners", legend(context)},
                                                   {"rows", std::move(rows)}});
}

}  // namespace pipelink::page
