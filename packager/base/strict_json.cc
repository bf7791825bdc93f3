#include "packager/base/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

namespace pipelink {
namespace {

using Json = nlohmann::ordered_json;

Diagnostic malformed(std::string_view name, std::string what) {
  return make_error("I-JSON", fmt::format("'{}' is not valid JSON", name), {}, std::move(what));
}

/// The deepest nesting of brackets outside strings.
int depth_of(std::string_view text) {
  int depth = 0, deepest = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\')
        ++i;
      else if (c == '"')
        in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      deepest = std::max(deepest, ++depth);
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return deepest;
}

std::string position(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, std::min(byte > 0 ? byte - 1 : 0, text.size()));
  const auto line = std::count(before.begin(), before.end(), '\n') + 1;
  const std::size_t newline = before.rfind('\n');
  const std::size_t column = newline == std::string_view::npos ? before.size() + 1 : before.size() - newline;
  return fmt::format("line {}, column {}", line, column);
}

/// "…: syntax error while parsing value - invalid literal; last read: 'x'" without the library's own prefix.
std::string_view explanation(std::string_view message) {
  const std::size_t colon = message.rfind(": ", message.find("syntax error"));
  const std::size_t error = message.find("syntax error");
  if (error != std::string_view::npos) return message.substr(error);
  return colon == std::string_view::npos ? message : message.substr(colon + 2);
}

}  // namespace

Outcome<Json> parse_json(std::string_view text, std::string_view name) {
  if (depth_of(text) > kMaxJsonDepth)
    return malformed(name, fmt::format("it is nested more than {} deep", kMaxJsonDepth));
  if (text.find('\0') != std::string_view::npos) return malformed(name, "it holds a NUL character");
  std::vector<std::set<std::string>> open;  // keys of the objects around the current position
  std::string duplicate;
  const Json::parser_callback_t watch = [&](int, Json::parse_event_t event, Json& value) {
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end && !open.empty()) open.pop_back();
    if (event == Json::parse_event_t::key && !open.empty() && duplicate.empty()) {
      const auto& key = value.get_ref<const std::string&>();
      if (!open.back().insert(key).second) duplicate = key;
    }
    return true;
  };
  try {
    Json value = Json::parse(text.begin(), text.end(), watch);
    if (!duplicate.empty())
      return malformed(name, fmt::format("the key '{}' stands twice in one object", duplicate));
    return value;
  } catch (const Json::parse_error& error) {
    return malformed(name, fmt::format("{}: {}", position(text, error.byte), explanation(error.what())));
  } catch (const Json::exception& error) {
    return malformed(name, std::string(explanation(error.what())));
  }
}

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace pipelink
