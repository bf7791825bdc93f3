#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace pipelink {

/// A link map (its JSON) as text for a terminal. Throws nlohmann::json::exception if the map lacks what it
/// must have.
std::string render_summary(const nlohmann::ordered_json& map);

}  // namespace pipelink
