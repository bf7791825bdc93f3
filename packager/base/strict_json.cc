#include "packager/base/strict_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "packager/base/words.h"

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

/// Goes over the text before it is parsed. (The library's parser with a callback takes quadratic time on long
/// arrays, and its objects with their keys in order take quadratic time on many keys.)
class Watch : public nlohmann::json_sax<Json> {
 public:
  std::string fault;       ///< what is wrong; empty: nothing
  bool too_large = false;  ///< it is JSON, with a number that no double holds

  explicit Watch(std::string_view text) : text_(text) {}

  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool start_object(std::size_t) override {
    open_.emplace_back();
    return true;
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool key(string_t& name) override {
    std::set<std::string>& keys = open_.back();
    if (!keys.insert(name).second) fault = fmt::format("the key '{}' stands twice in one object", name);
    if (keys.size() > kMaxKeys) fault = fmt::format("an object has more than {} keys", kMaxKeys);
    return fault.empty();
  }
  bool parse_error(std::size_t byte, const std::string& token,
                   const nlohmann::detail::exception& error) override {
    constexpr int kNumberOverflow = 406;  // as the library numbers its exceptions
    if (error.id == kNumberOverflow) {
      too_large = true;
      fault = fmt::format("{}: {} is beyond all 64-bit floats", position(text_, byte - token.size() + 1),
                          shortened(token));
      return false;
    }
    const bool syntax = std::string_view(error.what()).find("syntax error") != std::string_view::npos;
    fault = syntax ? fmt::format("{}: {}", position(text_, byte), explanation(error.what()))
                   : std::string(explanation(error.what()));
    return false;
  }

 private:
  static constexpr std::size_t kMaxKeys = 8192;

  std::string_view text_;
  std::vector<std::set<std::string>> open_;  ///< keys of the objects around the current position
};

}  // namespace

Outcome<Json> parse_json(std::string_view text, std::string_view name) {
  if (depth_of(text) > kMaxJsonDepth)
    return malformed(name, fmt::format("it is nested more than {} deep", kMaxJsonDepth));
  if (text.find('\0') != std::string_view::npos) return malformed(name, "it holds a NUL character");
  Watch watch(text);
  if (!Json::sax_parse(text.begin(), text.end(), &watch) || !watch.fault.empty())
    return make_error("I-JSON",
                      fmt::format("'{}' {}", name,
                                  watch.too_large ? "has a number that is too large" : "is not valid JSON"),
                      {}, watch.fault);
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

std::string json_text(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace pipelink
