// What shares bytes, columns or ids, and the orders that allow it.
#include <fmt/format.h>

#include "linker/codegen/render_template.h"
#include "linker/report/page_parts.h"

namespace pipelink::page {

using nlohmann::json;

namespace {

/// Chains of phases, each of which is declared to come after the one before it.
json chains(const Context& context, const std::vector<MapOrder>& orders) {
  json out = json::array();
  for (const MapOrder& order : orders) {
    json steps = json::array();
    for (std::size_t n = 0; n < order.path.size(); ++n) {
      const auto it = context.phases.find(order.path[n]);
      steps.push_back({{"phase", order.path[n]},
                       {"id", it == context.phases.end() ? "phases-h" : it->second},
                       {"colour", context.colour(owner_of(order.path[n]))},
                       {"then", n > 0 && n != order.next_iteration_at},
                       {"next", n > 0 && n == order.next_iteration_at}});
    }
    out.push_back({{"steps", std::move(steps)}});
  }
  return out;
}

}  // namespace

Outcome<std::string> reuse(const Context& context) {
  // Pairs that are allowed by the same orders are told of together, in the order of the first of them.
  struct Group {
    const MapReuse* reason;
    std::vector<const MapReuse*> pairs;
  };
  std::vector<Group> groups;
  std::map<std::string, std::size_t> known;
  for (const MapReuse& r : context.map.reuse) {
    std::string key;
    for (const auto* list : {&r.within, &r.across})
      for (const MapOrder& o : *list)
        key += joined(o.path, "\n") + fmt::format("\n\n{}\n\n", o.next_iteration_at);
    const auto [it, fresh] = known.emplace(key, groups.size());
    if (fresh) groups.push_back({&r, {}});
    groups[it->second].pairs.push_back(&r);
  }
  json rows = json::array();
  std::int64_t pairs = 0;
  for (const Group& g : groups) {
    json list = json::array();
    for (const MapReuse* r : g.pairs) {
      const auto& ids = r->of == MapReuse::Of::kBarrier   ? context.barriers
                        : r->of == MapReuse::Of::kColumns ? context.tensor_memory
                                                          : context.shared;
      const auto first = ids.find(r->first), second = ids.find(r->second);
      if (first == ids.end() || second == ids.end()) continue;
      ++pairs;
      list.push_back({{"first", r->first},
                      {"second", r->second},
                      {"first_id", first->second},
                      {"second_id", second->second},
                      {"what", r->of == MapReuse::Of::kBarrier ? fmt::format("barrier {}", r->offset)
                               : r->of == MapReuse::Of::kColumns
                                   ? fmt::format("{} at {}", plural(r->size, "column"), r->offset)
                                   : fmt::format("{} at {}", bytes(r->size), grouped(r->offset))}});
    }
    json across = chains(context, g.reason->across);
    const bool again = !across.empty();
    rows.push_back({{"pairs", std::move(list)},
                    {"within", chains(context, g.reason->within)},
                    {"again", again},
                    {"across", std::move(across)}});
  }
  json phases = json::array();
  for (const MapPhase& p : context.map.phases)
    phases.push_back({{"id", context.phases.at(p.name)},
                      {"phase", p.name},
                      {"colour", context.colour(p.owner)},
                      {"after", joined(p.after)},
                      {"after_previous", joined(p.after_previous)},
                      {"called_in", joined(p.called_in)},
                      {"source", source(p.where)}});
  const bool some = !rows.empty();
  return render_html("report_reuse.html", {{"groups", std::move(rows)},
                                           {"some", some},
                                           {"pairs", plural(pairs, "pair")},
                                           {"phased", !context.map.phases.empty()},
                                           {"phases", std::move(phases)}});
}

}  // namespace pipelink::page
