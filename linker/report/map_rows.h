// The link map in parts; map.cc puts them together.
#pragma once

#include <nlohmann/json.hpp>

#include "linker/link.h"
#include "linker/report/glue_index.h"

namespace pipelink {

/// What the rows are made of. `glue` is empty before there is any; then no row points at its lines.
struct MapSource {
  const Checked& in;
  const GlueIndex& glue;
  bool reasons = true;  ///< also why rings are not deeper and what allows reuse, which takes time to find
};

/// {"file", "line"} of a declaration, added to `row`.
nlohmann::ordered_json with_place(nlohmann::ordered_json row, const SourceSpan& where);

/// `row` with the lines of the glue, if there are some.
nlohmann::ordered_json with_glue(nlohmann::ordered_json row, std::vector<int> lines);

/// A link map read back; I-JSON if it is none. Its rows are not checked.
Outcome<nlohmann::ordered_json> read_map(const std::string& text, const std::string& file);

/// The key "placement": shared memory, rings, barriers, roles, phases, what is reused and why it may be.
nlohmann::ordered_json placement_rows(const MapSource& source);

/// The keys "bindings", "routes", "facts" and "dropped".
nlohmann::ordered_json binding_rows(const MapSource& source);
nlohmann::ordered_json route_rows(const MapSource& source);
nlohmann::ordered_json fact_rows(const MapSource& source);
nlohmann::ordered_json dropped_rows(const MapSource& source);

/// The key "protocol_order": whose waits were found to be met, and whose were not looked at, with the reason.
nlohmann::ordered_json protocol_order_rows(const MapSource& source);

}  // namespace pipelink
