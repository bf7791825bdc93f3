// Which thread and register, or which offset, each element of a tile has on either side of a route.
#include <fmt/format.h>

#include <algorithm>

#include "linker/codegen/render_template.h"
#include "linker/report/page_parts.h"
#include "packager/layout/text.h"

namespace pipelink::page {
namespace {

using nlohmann::json;

constexpr int kRows = 16, kColumns = 16;         // that are drawn
constexpr std::int64_t kMostElements = 1 << 18;  // of a layout that is drawn
constexpr int kColours = 10, kRun = 4;

struct Cell {
  std::string text, title;
  int colour = 0;
};

/// What each element of the tile, by its row-major index, is drawn as; empty if the layout is not drawn.
std::vector<Cell> cells(const layout::Layout& map, const std::string& space, std::int64_t size) {
  std::vector<Cell> out(static_cast<std::size_t>(size));
  if (space == "shared") {
    for (std::int64_t i = 0; i < size; ++i) {
      const std::int64_t columns = map.rank() > 1 ? map.size(map.rank() - 1) : size;
      const std::int64_t coordinate[] = {i / columns, i % columns};
      const std::int64_t at = map.rank() > 1 ? map(std::span<const std::int64_t>(coordinate)) : map(i);
      out[static_cast<std::size_t>(i)] = {std::to_string(at), fmt::format("offset {}", at),
                                          static_cast<int>(at / kRun % kColours)};
    }
    return out;
  }
  const char* who = space == "registers" ? "thread" : "lane";
  const std::vector<std::int64_t> indices = layout::thread_value_indices(map);
  const std::int64_t values = map.values();
  for (std::size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= size) continue;
    const std::int64_t thread = static_cast<std::int64_t>(i) / values,
                       value = static_cast<std::int64_t>(i) % values;
    Cell& cell = out[static_cast<std::size_t>(indices[i])];
    if (cell.text.empty())
      cell = {fmt::format("{}.{}", thread, value), fmt::format("{} {}, value {}", who, thread, value),
              static_cast<int>(thread % kColours)};
    else
      cell.title += fmt::format("; {} {}, value {}", who, thread, value);
  }
  return out;
}

/// Empty if there is nothing to draw.
json grid(const std::string& caption, const std::string& text, const std::string& space,
          const std::vector<int>& shape) {
  const layout::Result<layout::Layout> map = layout::parse_layout(text);
  if (!map || space.empty() || shape.empty() || shape.size() > 2) return {};
  std::int64_t size = 1;
  for (const int extent : shape) size *= extent;
  const bool fits = space != "shared" || (map->rank() == shape.size() && map->size() == size);
  if (size > kMostElements || map->size() > kMostElements || !fits) return {};
  const int width = shape.back(), height = shape.size() > 1 ? shape.front() : 1;
  const std::vector<Cell> all = cells(*map, space, size);
  json columns = json::array(), rows = json::array();
  for (int c = 0; c < std::min(width, kColumns); ++c) columns.push_back({{"column", c}});
  for (int r = 0; r < std::min(height, kRows); ++r) {
    json line = json::array();
    for (int c = 0; c < std::min(width, kColumns); ++c) {
      const Cell& cell = all[static_cast<std::size_t>(std::int64_t{r} * width + c)];
      line.push_back({{"text", cell.text},
                      {"title", fmt::format("row {}, column {}: {}", r, c, cell.title)},
                      {"colour", fmt::format("c{}", cell.colour)}});
    }
    rows.push_back({{"row", r}, {"cells", std::move(line)}});
  }
  return {{"caption", caption}, {"columns", std::move(columns)}, {"rows", std::move(rows)}};
}

}  // namespace

Outcome<std::string> tiles(const Context& context) {
  json list = json::array();
  for (const MapBinding& b : context.map.bindings) {
    if (!b.tile) continue;
    json grids = json::array();
    const MapTile& tile = *b.tile;
    for (const auto& [owner, text, space] : {std::tuple{b.exported, tile.from_layout, tile.from_space},
                                             std::tuple{b.import, tile.layout, tile.space}}) {
      json one = grid(fmt::format("{}, in {}: {}", owner, space, text), text, space, tile.shape);
      if (!one.is_null()) grids.push_back(std::move(one));
    }
    if (grids.empty()) continue;
    std::string route;
    for (const MapRoute& r : context.map.routes)
      if (r.from == b.exported && r.to == b.import)
        route = fmt::format("By {}{}.", r.route, r.method.empty() ? "" : ": " + r.method);
    const bool partial =
        tile.shape.back() > kColumns || (tile.shape.size() > 1 && tile.shape.front() > kRows);
    list.push_back({{"id", fmt::format("tile{}", list.size())},
                    {"from", b.exported},
                    {"to", b.import},
                    {"from_colour", context.colour(owner_of(b.exported))},
                    {"to_colour", context.colour(owner_of(b.import))},
                    {"route", route},
                    {"partial", partial},
                    {"grids", std::move(grids)}});
  }
  if (list.empty()) return std::string();
  return render_html("report_tiles.html", {{"tiles", std::move(list)}});
}

}  // namespace pipelink::page
