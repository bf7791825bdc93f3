#include "linker/report/page_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "linker/codegen/render_template.h"

namespace pipelink::page {

using nlohmann::json;

namespace {

constexpr int kColours = 10;
constexpr int kWidths[] = {240, 360, 520, 720, 960};  // of a drawing, in pixels; report.css has the same

template <class T>
std::map<std::string, std::string> ids(const char* kind, const std::vector<T>& list) {
  std::map<std::string, std::string> out;
  for (const T& item : list) out.emplace(item.name, fmt::format("{}-{}", kind, out.size() + 1));
  return out;
}

}  // namespace

Context::Context(const LinkMap& link_map)
    : map(link_map),
      shared(ids("shared", map.shared)),
      tensor_memory(ids("columns", map.tensor_memory)),
      barriers(ids("barrier", map.barriers)),
      roles(ids("role", map.roles)),
      rings(ids("ring", map.rings)),
      facts(ids("fact", map.facts)),
      phases(ids("phase", map.phases)) {
  for (const LinkMap::Instance& i : map.instances)
    colours.emplace(i.name, static_cast<int>(colours.size()) % kColours);
}

std::string Context::colour(const std::string& owner) const {
  const auto it = colours.find(owner);
  return fmt::format("c{}", it == colours.end() ? 7 : it->second);
}

std::string bytes(std::int64_t value) {
  return grouped(value) + "\u00a0B";
}

std::string kibibytes(std::int64_t value) {
  if (value < 1024) return bytes(value);
  return value % 1024 == 0 ? fmt::format("{}\u00a0KiB", grouped(value / 1024))
                           : fmt::format("{:.1f}\u00a0KiB", static_cast<double>(value) / 1024);
}

std::string life(const MapClaim& claim) {
  return claim.live.empty() ? "always" : joined(claim.live);
}

std::string percent(double part, double whole) {
  return fmt::format("{:.3f}", whole > 0 ? 100 * part / whole : 0);
}

std::string plural(std::int64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", grouped(n), noun, n == 1 ? "" : "s");
}

json source(const SourceSpan& where) {
  json out = json::array();
  if (where.file.empty()) return out;
  const std::string text = where.line > 0 ? fmt::format("{}:{}", where.file, where.line) : where.file;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('/', begin), text.size() - 1) + 1;
    out.push_back({{"part", text.substr(begin, end - begin)}});
    begin = end;
  }
  return out;
}

std::string owner_of(const std::string& claim) {
  return claim.substr(0, claim.find('.'));
}

std::string short_name(const std::string& claim) {
  const std::size_t dot = claim.find('.');
  return dot == std::string::npos ? claim : claim.substr(dot + 1);
}

json glue_links(const Context& context, const std::vector<int>& lines) {
  json out = json::array();
  for (int n : lines)
    if (n <= static_cast<int>(context.map.glue.size())) out.push_back({{"n", n}});
  return out;
}

json legend(const Context& context) {
  json out = json::array();
  for (const LinkMap::Instance& i : context.map.instances)
    out.push_back({{"colour", context.colour(i.name)},
                   {"name", i.name == i.component ? i.name : fmt::format("{} ({})", i.name, i.component)}});
  return out;
}

double text_width(std::string_view text) {
  std::size_t characters = 0;
  for (const char c : text) characters += (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  return 7.1 * static_cast<double>(characters) + 12;
}

std::vector<Label> labels(const std::vector<Wanted>& wanted, double fraction) {
  std::vector<Label> out;
  int above = 0;  // the width from which a better one is shown; 0: none is
  for (std::size_t v = 0; v < wanted.size(); ++v) {
    const auto* from = std::find_if(std::begin(kWidths), std::end(kWidths),
                                    [&](int width) { return width * fraction >= wanted[v].pixels; });
    if (from == std::end(kWidths) || (above != 0 && *from >= above)) continue;
    out.push_back(
        {wanted[v].text, fmt::format("w{}{}", *from, above == 0 ? "" : fmt::format(" u{}", above)), v});
    above = *from;
  }
  return out;
}

}  // namespace pipelink::page
