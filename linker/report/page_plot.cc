#include "linker/report/page_plot.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "linker/codegen/render_template.h"

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

class Picture {
 public:
  Picture(const Context& context, const Plot& plot)
      : context_(context),
        plot_(plot),
        lanes_(lanes_of(context.map)),
        span_(static_cast<double>(plot.capacity)) {
    const double n = static_cast<double>(lanes_.list.size());
    height_ = n == 1 ? 92 : std::clamp(340 / n, 38.0, 60.0);
  }

  json values() {
    json out;
    out["blocks"] = json::array();
    std::vector<std::vector<std::pair<std::int64_t, std::int64_t>>> used(lanes_.list.size());
    for (std::size_t n = 0; n < plot_.items.size(); ++n) {
      const PlotItem& item = plot_.items[n];
      const std::vector<std::size_t> live = lanes_of(lanes_, *item.claim);
      for (std::size_t lane : live) used[lane].emplace_back(item.offset, item.end());
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
                              {"live", plot_.brief(covered(used[n]))},
                              {"y", fmt::format("{:.0f}", kTop + static_cast<double>(n) * height_)}});
    const double bottom = kTop + height_ * static_cast<double>(lanes_.list.size());
    out["lane_height"] = fmt::format("{:.0f}", height_);
    out["bottom"] = fmt::format("{:.0f}", bottom);
    out["ground_height"] = fmt::format("{:.0f}", bottom - kTop);
    ticks(out);
    callouts(out, bottom);
    out["free"] = json::array();
    if (plot_.free > 0) {
      const double fraction = static_cast<double>(plot_.free) / span_;
      json text = json::array();
      for (const Label& l :
           labels({{plot_.exact(plot_.free) + " free", text_width("123,456 B free")}}, fraction))
        text.push_back({{"text", l.text}, {"classes", l.classes}});
      out["free"].push_back(
          {{"x", percent(static_cast<double>(plot_.taken), span_)},
           {"width", percent(static_cast<double>(plot_.free), span_)},
           {"middle", percent(static_cast<double>(plot_.taken) + static_cast<double>(plot_.free) / 2, span_)},
           {"text_y", fmt::format("{:.0f}", (kTop + bottom) / 2 + 4)},
           {"text", std::move(text)}});
    }
    return out;
  }

 private:
  json block(std::size_t n, std::size_t from, std::size_t to, bool first) {
    const PlotItem& item = plot_.items[n];
    const MapClaim& claim = *item.claim;
    const double fraction = static_cast<double>(item.size) / span_;
    const double top = kTop + static_cast<double>(from) * height_ + 2,
                 tall = static_cast<double>(to - from) * height_ - 4;
    const std::string own = short_name(claim.name);
    // Across: the whole name, the name without its owner; upright; else the number in the table.
    const std::string number = std::to_string(n + 1);
    const bool upright = tall >= text_width(own);
    std::vector<Wanted> wanted = {
        {claim.name, std::max(text_width(claim.name), text_width(plot_.brief(item.size)))},
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
            {{"size", plot_.brief(item.size)}, {"second_y", fmt::format("{:.1f}", top + tall / 2 + 12)}});
      text.push_back(std::move(row));
    }
    if (first && (shown.empty() || shown.front().classes == "w960") && shown.size() < 2)
      unlabelled_.push_back(n);
    return {
        {"id", item.id},
        {"colour", context_.colour(claim.owner)},
        {"kind", item.kind},
        {"x", percent(static_cast<double>(item.offset), span_)},
        {"width", percent(static_cast<double>(item.size), span_)},
        {"middle", percent(static_cast<double>(item.offset) + static_cast<double>(item.size) / 2, span_)},
        {"y", fmt::format("{:.1f}", top)},
        {"height", fmt::format("{:.1f}", tall)},
        {"shares", item.shares},
        {"title", fmt::format("#{} {}: {} at {} to {}, live: {}", n + 1, claim.name, plot_.exact(item.size),
                              grouped(item.offset), grouped(item.end()), life(claim))},
        {"text", std::move(text)}};
  }

  void ticks(json& out) const {
    out["ticks"] = json::array();
    const std::int64_t capacity = plot_.capacity;
    const auto near_end = [&](std::int64_t at) { return capacity - at < capacity / 5; };
    std::int64_t step = 1;
    while (capacity / step > 8) step *= 2;
    for (std::int64_t at = 0; at <= capacity - step / 2; at += step)
      out["ticks"].push_back({{"x", percent(static_cast<double>(at), span_)},
                              {"label", at == 0 ? std::string("0") : plot_.brief(at)},
                              {"anchor", at == 0 ? "start" : "middle"},
                              {"classes", at / step % 2 != 0 ? "w720"
                                          : near_end(at)     ? "w360"
                                                             : ""}});
    out["ticks"].push_back(
        {{"x", "100"}, {"label", plot_.brief(capacity)}, {"anchor", "end"}, {"classes", ""}});
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
      const PlotItem& claim = plot_.items[n];
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
      for (std::size_t n : note.claims) sum += plot_.items[n].size;
      const PlotItem& only = plot_.items[note.claims.front()];
      const std::string text = note.claims.size() == 1
                                   ? fmt::format("#{} {}", note.claims.front() + 1, only.claim->name)
                                   : fmt::format("{} small claims, {} ({})", note.claims.size(),
                                                 plot_.exact(sum), numbers(note.claims));
      const double x = (note.from + note.to) / 2, width = text_width(text);
      const bool left = x + width > kWidth;
      const double begin = left ? x - width : x - 6;
      for (int row = 0; row < 4; ++row) {
        if (begin < rows[row]) continue;
        rows[row] = begin + width;
        deepest = std::max(deepest, row);
        out["callouts"].push_back({{"id", only.id},
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
  const Plot& plot_;
  Lanes lanes_;
  double span_, height_;
  std::vector<std::size_t> unlabelled_;
};

}  // namespace

Outcome<std::string> draw(const Context& context, const Plot& plot) {
  json values = Picture(context, plot).values();
  values["plot"] = plot.id;
  values["title_text"] = plot.title;
  values["count"] = plural(static_cast<std::int64_t>(plot.items.size()), "claim");
  values["used"] = plot.exact(plot.taken);
  values["capacity"] = plot.exact(plot.capacity);
  values["free_text"] = plot.exact(plot.free);
  return render_html("report_plot.html", values);
}

}  // namespace pipelink::page
