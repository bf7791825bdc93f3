// Warps and their registers, named barriers, rings.
#include <fmt/format.h>

#include <algorithm>

#include "linker/codegen/render_template.h"
#include "linker/report/page_parts.h"

namespace pipelink::page {

using nlohmann::json;

namespace {

std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text;
}

constexpr double kTall = 220;  // pixels of the registers' axis

std::string warp_range(const MapRole& r) {
  return r.warps == 1 ? fmt::format("warp {}", r.first_warp)
                      : fmt::format("warps {}–{}", r.first_warp, r.first_warp + r.warps - 1);
}

/// Bars: as wide as the role has warps, as tall as its budget, so that areas are parts of the register file.
json role_bars(const Context& context, double warps, double most) {
  json out = json::array();
  const auto y = [&](double registers) { return kTall * (1 - registers / most); };
  for (const MapRole& r : context.map.roles) {
    const double fraction = r.warps / warps, tall = kTall * r.registers / most;
    const std::string own = short_name(r.name);
    json text = json::array(), above = json::array();
    constexpr double kUpright = 18, kNever = 1e9;
    const auto fits = [&](const std::string& name, double height) {
      return height >= text_width(name) ? kUpright : kNever;
    };
    // Across, upright, and upright over a bar that is too low for that.
    for (const Label& l : labels({{r.name, tall >= 16 ? text_width(r.name) : kNever},
                                  {own, tall >= 16 ? text_width(own) : kNever},
                                  {r.name, fits(r.name, tall)},
                                  {own, fits(own, tall)},
                                  {own, fits(own, kTall - tall)}},
                                 fraction)) {
      if (l.variant == 4) {
        above.push_back({{"text", l.text},
                         {"classes", l.classes},
                         {"above_y", fmt::format("{:.1f}", y(r.registers) - 6)}});
        continue;
      }
      json second = json::array();
      if (l.variant < 2 && tall >= 52) second.push_back({{"size", fmt::format("{} regs", r.registers)}});
      text.push_back({{"text", l.text},
                      {"classes", l.classes},
                      {"across", l.variant < 2},
                      {"upright", l.variant >= 2},
                      {"second", std::move(second)}});
    }
    out.push_back({{"id", context.roles.at(r.name)},
                   {"colour", context.colour(r.owner)},
                   {"x", percent(r.first_warp, warps)},
                   {"width", percent(r.warps, warps)},
                   {"middle", percent(r.first_warp + r.warps / 2.0, warps)},
                   {"y", fmt::format("{:.1f}", y(r.registers))},
                   {"height", fmt::format("{:.1f}", tall)},
                   {"text_y", fmt::format("{:.1f}", y(r.registers) + std::min(tall / 2 + 4, 30.0))},
                   {"second_y", fmt::format("{:.1f}", y(r.registers) + std::min(tall / 2 + 4, 30.0) + 16)},
                   {"least_y", fmt::format("{:.1f}", y(r.least))},
                   {"most_y", fmt::format("{:.1f}", y(std::min<double>(r.most, most)))},
                   {"mark_x", percent(r.first_warp + r.warps, warps)},
                   {"title", fmt::format("{}: {}, {} registers for each thread, asked for {} to {}", r.name,
                                         warp_range(r), r.registers, r.least, r.most)},
                   {"above", std::move(above)},
                   {"text", std::move(text)}});
  }
  return out;
}

/// Runs of warps that no role has, and whose registers are given all the same.
json idle_bars(const LinkMap& map, double most) {
  const int warps = map.threads / 32;
  std::vector<bool> taken(static_cast<std::size_t>(warps), false);
  for (const MapRole& r : map.roles)
    for (int w = r.first_warp; w < r.first_warp + r.warps; ++w) taken[static_cast<std::size_t>(w)] = true;
  json out = json::array();
  for (int w = 0; w < warps;) {
    int end = w;
    while (end < warps && !taken[static_cast<std::size_t>(end)] && (end == w || end % 4 != 0)) ++end;
    if (end == w) {
      ++w;
      continue;
    }
    const int registers = map.warpgroup_registers[static_cast<std::size_t>(w / 4)];
    out.push_back({{"x", percent(w, warps)},
                   {"width", percent(end - w, warps)},
                   {"y", fmt::format("{:.1f}", kTall * (1 - registers / most))},
                   {"height", fmt::format("{:.1f}", kTall * registers / most)},
                   {"title", fmt::format("{} without a role, {} registers for each thread",
                                         plural(end - w, "warp"), registers)}});
    w = end;
  }
  return out;
}

}  // namespace

Outcome<std::string> threads(const Context& context) {
  const LinkMap& map = context.map;
  const int warps = std::max(map.threads / 32, 1);
  const double most = 256;
  const std::int64_t pool = map.register_pool / map.blocks_per_sm;
  std::int64_t used = 0;
  json groups = json::array(), pool_parts = json::array();
  for (std::size_t g = 0; g < map.warpgroup_registers.size(); ++g) {
    const std::int64_t part = 128LL * map.warpgroup_registers[g];
    const double from = static_cast<double>(used);
    used += part;
    groups.push_back({{"x", percent(static_cast<double>(g) * 4, warps)},
                      {"middle", percent(static_cast<double>(g) * 4 + 2, warps)},
                      {"first", g == 0},
                      {"label", fmt::format("{}", g)},
                      {"long_label", fmt::format("warpgroup {}", g)}});
    std::string owner;
    for (const MapRole& r : map.roles)
      if (r.first_warp / 4 == static_cast<int>(g) ||
          (r.first_warp < static_cast<int>(g) * 4 && r.first_warp + r.warps > static_cast<int>(g) * 4))
        if (owner.empty()) owner = r.owner;
    json text = json::array();
    for (const Label& l :
         labels({{fmt::format("{} × 128 = {}", map.warpgroup_registers[g], grouped(part)), 138},
                 {grouped(part), text_width(grouped(part))}},
                static_cast<double>(part) / static_cast<double>(pool)))
      text.push_back({{"text", l.text}, {"classes", l.classes}});
    pool_parts.push_back(
        {{"colour", context.colour(owner)},
         {"x", percent(from, static_cast<double>(pool))},
         {"middle", percent(from + static_cast<double>(part) / 2, static_cast<double>(pool))},
         {"width", percent(static_cast<double>(part), static_cast<double>(pool))},
         {"title", fmt::format("warpgroup {}: {} registers × 128 threads = {}", g, map.warpgroup_registers[g],
                               grouped(part))},
         {"text", std::move(text)}});
  }
  json rows = json::array();
  for (const MapRole& r : map.roles)
    rows.push_back({{"id", context.roles.at(r.name)},
                    {"colour", context.colour(r.owner)},
                    {"name", r.name},
                    {"range", warp_range(r)},
                    {"threads", grouped(32LL * r.warps)},
                    {"registers", r.registers},
                    {"least", r.least},
                    {"most", r.most},
                    {"total", grouped(32LL * r.warps * r.registers)},
                    {"why", r.why ? sentence(r.why->text) + (r.why->proven ? "" : " (not proven)") : ""},
                    {"source", source(r.where)},
                    {"glue", glue_links(context, r.glue)}});
  json ticks = json::array();
  for (int at = 0; at <= 256; at += 64)
    ticks.push_back({{"label", at},
                     {"y", fmt::format("{:.1f}", kTall * (1 - at / most))},
                     {"text_y", fmt::format("{:.1f}", kTall * (1 - at / most) + 4)}});
  return render_html("report_threads.html",
                     {{"threads", plural(map.threads, "thread")},
                      {"warps", plural(warps, "warp")},
                      {"entry", map.entry_registers},
                      {"entry_y", fmt::format("{:.1f}", kTall * (1 - map.entry_registers / most))},
                      {"pool", grouped(pool)},
                      {"used", grouped(used)},
                      {"spare", grouped(pool - used)},
                      {"blocks", plural(map.blocks_per_sm, "block")},
                      {"owners", legend(context)},
                      {"ticks", std::move(ticks)},
                      {"groups", std::move(groups)},
                      {"bars", role_bars(context, warps, most)},
                      {"idle", idle_bars(map, most)},
                      {"parts", std::move(pool_parts)},
                      {"rows", std::move(rows)}});
}

Outcome<std::string> barriers(const Context& context) {
  json cells = json::array(), rows = json::array();
  int used = 0;
  const int all = context.map.max_barriers;
  for (int id = 0; id < all;) {
    json claims = json::array();
    int end = id + 1;
    const auto taken = [&](int n) {
      return n == 0 || std::any_of(context.map.barriers.begin(), context.map.barriers.end(),
                                   [&](const MapBarrier& b) { return b.id == n; });
    };
    for (const MapBarrier& b : context.map.barriers)
      if (b.id == id)
        claims.push_back(
            {{"id", context.barriers.at(b.name)}, {"colour", context.colour(b.owner)}, {"name", b.name}});
    const bool unused = !taken(id);
    while (unused && end < all && !taken(end)) ++end;  // a run of free ids is one cell
    used += !unused;
    cells.push_back({{"number", end == id + 1 ? std::to_string(id) : fmt::format("{}–{}", id, end - 1)},
                     {"kernel", id == 0},
                     {"unused", unused},
                     {"free", end == id + 1 ? "free" : fmt::format("{} free ids", end - id)},
                     {"shared", claims.size() > 1},
                     {"claims", std::move(claims)}});
    id = end;
  }
  for (const MapBarrier& b : context.map.barriers)
    rows.push_back({{"id", context.barriers.at(b.name)},
                    {"colour", context.colour(b.owner)},
                    {"name", b.name},
                    {"number", b.id},
                    {"live", b.live.empty() ? "always" : joined(b.live)},
                    {"source", source(b.where)},
                    {"glue", glue_links(context, b.glue)}});
  const bool some = !rows.empty();
  return render_html(
      "report_barriers.html",
      {{"used", used}, {"all", all}, {"cells", std::move(cells)}, {"some", some}, {"rows", std::move(rows)}});
}

Outcome<std::string> rings(const Context& context) {
  constexpr std::int64_t kMostDrawn = 32;
  json list = json::array();
  for (const MapRing& r : context.map.rings) {
    const std::int64_t most = std::max(r.most, r.stages), drawn = std::min(most, kMostDrawn);
    json stages = json::array();
    for (std::int64_t n = 0; n < drawn; ++n)
      stages.push_back({{"x", percent(static_cast<double>(n), static_cast<double>(drawn))},
                        {"width", percent(0.94, static_cast<double>(drawn))},
                        {"middle", percent(static_cast<double>(n) + 0.47, static_cast<double>(drawn))},
                        {"number", n},
                        {"kind", n < r.stages ? "taken" : "not-taken"}});
    json why = json::array(), facts = json::array();
    if (r.why) {
      for (const LabelledFact& f : r.why->facts)
        facts.push_back({{"owner", f.owner},
                         {"colour", context.colour(f.owner)},
                         {"text", f.text},
                         {"source", source(f.where)}});
      why.push_back({{"text", sentence(r.why->text)},
                     {"unproven", !r.why->proven},
                     {"has_facts", !facts.empty()},
                     {"facts", facts}});
    }
    std::string producer, consumer, transaction = "not stated";
    for (const MapBinding& b : context.map.bindings)
      if (b.kind == "ring" && b.exported == r.name && b.protocol) {
        producer += (producer.empty() ? "" : ", ") + b.protocol->producer;
        consumer = b.protocol->consumer;
        if (b.protocol->transaction_bytes) transaction = bytes(*b.protocol->transaction_bytes);
      }
    const auto data = context.shared.find(r.name);
    list.push_back({{"id", context.rings.at(r.name)},
                    {"colour", context.colour(r.owner)},
                    {"name", r.name},
                    {"stages", plural(r.stages, "stage")},
                    {"stage_bytes", bytes(r.stage_bytes)},
                    {"total", bytes(r.stages * r.stage_bytes)},
                    {"least", r.least},
                    {"most", r.most},
                    {"cut", most > drawn},
                    {"most_drawn", drawn},
                    {"squares", std::move(stages)},
                    {"least_x", percent(static_cast<double>(std::min(r.least, drawn)) - 0.03,
                                        static_cast<double>(drawn))},
                    {"producer", producer.empty() ? "nobody" : producer},
                    {"consumer", consumer.empty() ? r.owner : consumer},
                    {"full_arrivals", plural(r.full_arrivals, "arrival")},
                    {"empty_arrivals", plural(r.empty_arrivals, "arrival")},
                    {"transaction", transaction},
                    {"data", grouped(r.data)},
                    {"full", grouped(r.full)},
                    {"empty", grouped(r.empty)},
                    {"tier", r.tier},
                    {"weight", r.weight},
                    {"claim", data == context.shared.end() ? "" : data->second},
                    {"source", source(r.where)},
                    {"why", std::move(why)}});
  }
  const bool some = !list.empty();
  return render_html("report_rings.html", {{"some", some}, {"rings", std::move(list)}});
}

}  // namespace pipelink::page
