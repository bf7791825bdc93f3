// JSON text as a value, strictly: no duplicate keys, bounded nesting, no exception.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "packager/base/outcome.h"

namespace pipelink {

inline constexpr int kMaxJsonDepth = 32;

/// `name` is what messages call the text. I-JSON with line and column.
Outcome<nlohmann::ordered_json> parse_json(std::string_view text, std::string_view name);

/// Indented by two, keys in the order given, one final newline; bytes that are not UTF-8 are replaced.
std::string json_text(const nlohmann::ordered_json& json);

}  // namespace pipelink
