// Shared memory: addresses across, phases down. And what shares bytes.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "linker/codegen/render_template.h"
#include "linker/report/page_parts.h"

namespace pipelink::page {

using nlohmann::json;

namespace {

constexpr double kTop = 20;  // pixels above the first row, for the axis

/// A row of the picture: a phase with the callees' phases that it holds, or all time if there are no phases.
struct Lane {
  std::string name, owner;
};

struct Lanes {
  std::vector<Lane> list;
  std::map<std::string, std::size_t> of;  ///< phase → lane
};

/// A callee's phase goes into its caller's row if it is the only one of its owner there: two of one owner may
/// be ordered, and then what they use may lie in the same place.
Lanes lanes_of(const LinkMap& map) {
  std::map<std::string, const MapPhase*> phases;
  std::map<std::pair<std::string, std::string>, int> inside;  // (outer phase, owner) → how many
  for (const MapPhase& p : map.phases) {
    phases[p.name] = &p;
    if (p.called_in.size() == 1) ++inside[{p.called_in.front(), p.owner}];
  }
  Lanes out;
  const auto root = [&](const MapPhase& p) {
    const MapPhase* at = &p;
    for (std::size_t steps = 0; steps < phases.size() && at->called_in.size() == 1; ++steps) {
      const auto outer = phases.find(at->called_in.front());
      if (outer == phases.end() || inside[{outer->first, at->owner}] != 1) break;
      at = outer->second;
    }
    return at->name;
  };
  std::map<std::string, std::size_t> lane;
  for (const MapPhase& p : map.phases)
    if (root(p) == p.name) {
      lane[p.name] = out.list.size();
      out.list.push_back({short_name(p.name), p.owner});
    }
  std::map<std::string, int> names;
  for (const Lane& l : out.list) ++names[l.name];
  for (Lane& l : out.list)
    if (names[l.name] > 1) l.name = l.owner + "." + l.name;
  for (const MapPhase& p : map.phases)
    if (const auto it = lane.find(root(p)); it != lane.end()) out.of[p.name] = it->second;
  if (out.list.empty()) out.list.push_back({"always", ""});
  return out;
}

/// Ascending; all lanes for what is always live.
std::vector<std::size_t> lanes_of(const Lanes& lanes, const MapClaim& claim) {
  std::set<std::size_t> found;
  for (const std::string& phase : claim.live)
    if (const auto it = lanes.of.find(phase); it != lanes.of.end()) found.insert(it->second);
  if (found.empty())
    for (std::size_t n = 0; n < lanes.list.size(); ++n) found.insert(n);
  return {found.begin(), found.end()};
}

std::int64_t covered(std::vector<std::pair<std::int64_t, std::int64_t>> spans) {
  std::sort(spans.begin(), spans.end());
  std::int64_t sum = 0, end = 0;
  for (const auto& [from, to] : spans) {
    sum += std::max<std::int64_t>(0, to - std::max(from, end));
    end = std::max(end, to);
  }
  return sum;
}

std::string life(const MapClaim& claim) {
  return claim.live.empty() ? "always" : joined(claim.live);
}

class Picture {
 public:
  explicit Picture(const Context& context)
      : context_(context),
        lanes_(lanes_of(context.map)),
        span_(static_cast<double>(context.map.shared_capacity)) {
    const double n = static_cast<double>(lanes_.list.size());
    height_ = n == 1 ? 92 : std::clamp(340 / n, 38.0, 60.0);
    for (const MapReuse& r : context_.map.reuse) {
      const auto first = context_.shared.find(r.first), second = context_.shared.find(r.second);
      if (r.barrier || first == context_.shared.end() || second == context_.shared.end()) continue;
      shares_[r.first] += (shares_[r.first].empty() ? "" : " ") + second->second;
      shares_[r.second] += (shares_[r.second].empty() ? "" : " ") + first->second;
    }
  }

  json values() {
    json out;
    out["blocks"] = json::array();
    std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> used(lanes_.list.size());
    for (std::size_t n = 0; n < context_.map.shared.size(); ++n) {
      const MapShared& claim = context_.map.shared[n];
      const std::vector<std::size_t> live = lanes_of(lanes_, claim);
      for (std::size_t lane : live) used[lane].emplace_back(claim.offset, claim.end());
      for (std::size_t i = 0; i < live.size();) {
        std::size_t k = i + 1;
        while (k < live.size() && live[k] == live[k - 1] + 1) ++k;
        out["blocks"].push_back(block(n, live[i], live[k - 1] + 1, i == 0));
        i = k;
      }
    }
    out["lanes"] = json::array();
    for (std::size_t n = 0; n < lanes_.list.size(); ++n)
      out["lanes"].push_back({{"name", lanes_.list[n].name},
                              {"colour", context_.colour(lanes_.list[n].owner)},
                              {"live", kibibytes(covered(used[n]))},
                              {"y", fmt::format("{:.0f}", kTop + static_cast<double>(n) * height_)}});
    const double bottom = kTop + height_ * static_cast<double>(lanes_.list.size());
    out["lane_height"] = fmt::format("{:.0f}", height_);
    out["bottom"] = fmt::format("{:.0f}", bottom);
    out["ground_height"] = fmt::format("{:.0f}", bottom - kTop);
    ticks(out);
    callouts(out, bottom);
    const LinkMap& map = context_.map;
    out["free"] = json::array();
    if (map.free > 0) {
      const double fraction = static_cast<double>(map.free) / span_;
      json text = json::array();
      for (const Label& l : labels({{bytes(map.free) + " free", text_width("123,456 B free")}}, fraction))
        text.push_back({{"text", l.text}, {"classes", l.classes}});
      out["free"].push_back(
          {{"x", percent(static_cast<double>(map.shared_bytes), span_)},
           {"width", percent(static_cast<double>(map.free), span_)},
           {"middle",
            percent(static_cast<double>(map.shared_bytes) + static_cast<double>(map.free) / 2, span_)},
           {"text_y", fmt::format("{:.0f}", (kTop + bottom) / 2 + 4)},
           {"text", std::move(text)}});
    }
    return out;
  }

 private:
  json block(std::size_t n, std::size_t from, std::size_t to, bool first) {
    const MapShared& claim = context_.map.shared[n];
    const double fraction = static_cast<double>(claim.bytes) / span_;
    const double top = kTop + static_cast<double>(from) * height_ + 2,
                 tall = static_cast<double>(to - from) * height_ - 4;
    const std::string own = short_name(claim.name);
    // Across: the whole name, the name without its owner; upright; else the number in the table.
    const std::string number = std::to_string(n + 1);
    const bool upright = tall >= text_width(own);
    std::vector<Wanted> wanted = {
        {claim.name, std::max(text_width(claim.name), text_width(kibibytes(claim.bytes)))},
        {own, text_width(own)},
        {own, upright ? 17 : 1e9},
        {number, text_width(number) - 6}};
    json text = json::array();
    const std::vector<Label> shown = labels(wanted, fraction);
    for (const Label& l : shown) {
      json row = {{"text", l.text},
                  {"classes", l.classes},
                  {"across", l.variant != 2},
                  {"upright", l.variant == 2},
                  {"second", json::array()}};
      row["text_y"] =
          fmt::format("{:.1f}", l.variant == 0 && tall >= 34 ? top + tall / 2 - 3 : top + tall / 2 + 4);
      if (l.variant == 0 && tall >= 34)
        row["second"].push_back(
            {{"size", kibibytes(claim.bytes)}, {"second_y", fmt::format("{:.1f}", top + tall / 2 + 12)}});
      text.push_back(std::move(row));
    }
    if (first && (shown.empty() || shown.front().classes == "w960") && shown.size() < 2)
      unlabelled_.push_back(n);
    return {
        {"id", context_.shared.at(claim.name)},
        {"colour", context_.colour(claim.owner)},
        {"kind", claim.kind == "ring"                               ? "ring"
                 : claim.kind.find("barriers") != std::string::npos ? "sync"
                                                                    : "plain"},
        {"x", percent(static_cast<double>(claim.offset), span_)},
        {"width", percent(static_cast<double>(claim.bytes), span_)},
        {"middle", percent(static_cast<double>(claim.offset) + static_cast<double>(claim.bytes) / 2, span_)},
        {"y", fmt::format("{:.1f}", top)},
        {"height", fmt::format("{:.1f}", tall)},
        {"shares", shares_[claim.name]},
        {"title", fmt::format("#{} {}: {} at {} to {}, live: {}", n + 1, claim.name, bytes(claim.bytes),
                              grouped(claim.offset), grouped(claim.end()), life(claim))},
        {"text", std::move(text)}};
  }

  void ticks(json& out) const {
    out["ticks"] = json::array();
    const std::int64_t capacity = context_.map.shared_capacity;
    const auto near_end = [&](std::int64_t at) { return capacity - at < capacity / 5; };
    std::int64_t step = 1024;
    while (capacity / step > 8) step *= 2;
    for (std::int64_t at = 0; at <= capacity - step / 2; at += step)
      out["ticks"].push_back({{"x", percent(static_cast<double>(at), span_)},
                              {"label", at == 0 ? std::string("0") : kibibytes(at)},
                              {"anchor", at == 0 ? "start" : "middle"},
                              {"classes", at / step % 2 != 0 ? "w720"
                                          : near_end(at)     ? "w360"
                                                             : ""}});
    out["ticks"].push_back(
        {{"x", "100"}, {"label", kibibytes(capacity)}, {"anchor", "end"}, {"classes", ""}});
  }

  /// Names under the axis for what is too narrow to hold one, in up to four rows.
  void callouts(json& out, double y) {
    struct Note {
      double from, to;
      std::vector<std::size_t> claims;
    };
    constexpr double kWidth = 960;
    std::vector<Note> notes;
    for (std::size_t n : unlabelled_) {
      const MapShared& claim = context_.map.shared[n];
      const double from = static_cast<double>(claim.offset) / span_ * kWidth,
                   to = static_cast<double>(claim.end()) / span_ * kWidth;
      if (!notes.empty() && from - notes.back().to < 10) {
        notes.back().claims.push_back(n);
        notes.back().to = std::max(notes.back().to, to);
      } else {
        notes.push_back({from, to, {n}});
      }
    }
    out["callouts"] = json::array();
    double rows[4] = {-1, -1, -1, -1};
    int deepest = -1;
    for (const Note& note : notes) {
      std::int64_t sum = 0;
      for (std::size_t n : note.claims) sum += context_.map.shared[n].bytes;
      const MapShared& only = context_.map.shared[note.claims.front()];
      const std::string text =
          note.claims.size() == 1
              ? fmt::format("#{} {}", note.claims.front() + 1, only.name)
              : fmt::format("{} small claims, {} ({})", note.claims.size(), bytes(sum), numbers(note.claims));
      const double x = (note.from + note.to) / 2, width = text_width(text);
      const bool left = x + width > kWidth;
      const double begin = left ? x - width : x - 6;
      for (int row = 0; row < 4; ++row) {
        if (begin < rows[row]) continue;
        rows[row] = begin + width;
        deepest = std::max(deepest, row);
        out["callouts"].push_back({{"id", context_.shared.at(only.name)},
                                   {"x", percent(x, kWidth)},
                                   {"anchor", left ? "end" : "start"},
                                   {"dx", left ? "-5" : "5"},
                                   {"text", text},
                                   {"from", fmt::format("{:.0f}", y - 2)},
                                   {"to", fmt::format("{:.0f}", y + 15 + 17 * row)},
                                   {"text_y", fmt::format("{:.0f}", y + 15 + 17 * row)}});
        break;
      }
    }
    out["height"] = fmt::format("{:.0f}", deepest < 0 ? y + 2 : y + 21 + 17 * deepest);
  }

  /// "#3–5, #9" of ascending indices.
  static std::string numbers(const std::vector<std::size_t>& list) {
    std::string out;
    for (std::size_t i = 0; i < list.size();) {
      std::size_t k = i;
      while (k + 1 < list.size() && list[k + 1] == list[k] + 1) ++k;
      out += (out.empty() ? "#" : ", #") + std::to_string(list[i] + 1);
      if (k > i) out += "–" + std::to_string(list[k] + 1);
      i = k + 1;
    }
    return out;
  }

  const Context& context_;
  Lanes lanes_;
  double span_, height_;
  std::map<std::string, std::string> shares_;  ///< claim → ids of those that have bytes in common with it
  std::vector<std::size_t> unlabelled_;
};

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
  json values = Picture(context).values();
  values["used"] = bytes(map.shared_bytes);
  values["capacity"] = bytes(map.shared_capacity);
  values["free_bytes"] = bytes(map.free);
  values["owners"] = legend(context);
  values["rows"] = table(context);
  values["count"] = plural(static_cast<std::int64_t>(map.shared.size()), "claim");
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
      const auto& ids = r->barrier ? context.barriers : context.shared;
      const auto first = ids.find(r->first), second = ids.find(r->second);
      if (first == ids.end() || second == ids.end()) continue;
      ++pairs;
      list.push_back({{"first", r->first},
                      {"second", r->second},
                      {"first_id", first->second},
                      {"second_id", second->second},
                      {"what", r->barrier ? fmt::format("barrier {}", r->offset)
                                          : fmt::format("{} at {}", bytes(r->bytes), grouped(r->offset))}});
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
