// The link map: what was placed where, and why. JSON for tools, a summary for a terminal.
#pragma once

#include <string>

#include "linker/link.h"

namespace pipelink {

struct MapTexts {
  std::string json;     ///< NAME.ARCH.map.json (schema 1)
  std::string summary;  ///< the same for a terminal
};

/// No time, no path: the same inputs give the same bytes.
MapTexts map_texts(const Linked& linked);

/// The part that needs no link: `pipelink check` prints it.
std::string placement_text(const Checked& checked);

/// A map.json as its summary, for `pipelink inspect`; I-JSON.
Outcome<std::string> summary_of_map(const std::string& json, const std::string& file);

}  // namespace pipelink
