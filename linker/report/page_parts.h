// The sections of the link map's page. Each turns a part of the map into values for its template; geometry is
// worked out here, markup is in templates/report_*.mustache. Names of claims are from packages that nobody
// has looked at: they go into pages only through the escaping of render_html, and ids are made of numbers.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "linker/report/link_map.h"
#include "packager/base/words.h"

namespace pipelink::page {

/// What all sections need: a number for each owner's colour, an id for each thing that can be linked to.
struct Context {
  explicit Context(const LinkMap& link_map);

  const LinkMap& map;
  std::map<std::string, std::string> shared, tensor_memory, barriers, roles, rings, facts,
      phases;                          ///< name → id
  std::map<std::string, int> colours;  ///< instance → 0…9

  std::string colour(const std::string& owner) const;  ///< "c3"
};

std::string bytes(std::int64_t value);                      ///< "196,608 B"
std::string kibibytes(std::int64_t value);                  ///< "192 KiB", "1.5 KiB", "640 B"
std::string life(const MapClaim& claim);                    ///< its phases, or "always"
std::string percent(double part, double whole);             ///< "12.345", of 100; what an SVG position takes
std::string plural(std::int64_t n, std::string_view noun);  ///< "3 stages"

/// [{"part": "dir/"}, {"part": "file:line"}]: where it may be broken.
nlohmann::json source(const SourceSpan& where);
std::string owner_of(const std::string& claim);    ///< before the first dot
std::string short_name(const std::string& claim);  ///< after the first dot

/// [{"n": 12}, …]: lines that the glue has.
nlohmann::json glue_links(const Context& context, const std::vector<int>& lines);

/// [{"colour", "name"}] of owners, for legends.
nlohmann::json legend(const Context& context);

/// Labels of a block that is `fraction` of a drawing as wide as its container, best first. Each is shown from
/// the least width in which it fits up to the one from which a better one does. Classes w360 and u720 say so.
struct Label {
  std::string text, classes;
  std::size_t variant = 0;  ///< index of what was asked for
};
struct Wanted {
  std::string text;
  double pixels = 0;  ///< what it needs in the direction of the drawing's width
};
std::vector<Label> labels(const std::vector<Wanted>& wanted, double fraction);
double text_width(std::string_view text);  ///< pixels of a label, with room at both ends

Outcome<std::string> overview(const Context& context);
Outcome<std::string> memory(const Context& context);
/// Empty if nothing claims tensor memory.
Outcome<std::string> tensor_memory(const Context& context);
Outcome<std::string> reuse(const Context& context);
Outcome<std::string> threads(const Context& context);
Outcome<std::string> barriers(const Context& context);
Outcome<std::string> rings(const Context& context);
Outcome<std::string> connections(const Context& context);
/// Empty if no tile is handed over whose layouts can be drawn.
Outcome<std::string> tiles(const Context& context);
Outcome<std::string> facts(const Context& context);
Outcome<std::string> verdict(const Context& context);  ///< gate, solver, inputs, dropped exports
/// Empty if the link is not guarded.
Outcome<std::string> guard(const Context& context);
Outcome<std::string> glue(const Context& context);

}  // namespace pipelink::page
