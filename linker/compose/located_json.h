// JSON with the place of every key and value, so that a message about a composition file names line and
// column.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "packager/base/outcome.h"

namespace pipelink::compose {

struct JsonMember;

struct JsonValue {
  enum class Kind { kNull, kBoolean, kInteger, kReal, kText, kArray, kObject };
  Kind kind = Kind::kNull;
  int line = 0, column = 0;  ///< of its first character, 1-based
  bool boolean = false;
  std::int64_t integer = 0;
  std::string text;  ///< kText; for kInteger and kReal the number as written, of any size
  std::vector<JsonValue> items;
  std::vector<JsonMember> members;  ///< in the order of the file

  const JsonMember* find(std::string_view key) const;
};

struct JsonMember {
  std::string key;
  int line = 0, column = 0;
  JsonValue value;
};

/// "an object", "a number", …
std::string_view kind_word(JsonValue::Kind kind);

/// I-JSON for text that is no JSON, nested deeper than 16, or with a key twice in one object. `file` is what
/// messages call the text.
Outcome<JsonValue> parse_json(std::string_view text, const std::string& file);

}  // namespace pipelink::compose
