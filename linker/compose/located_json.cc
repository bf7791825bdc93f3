#include "linker/compose/located_json.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace pipelink::compose {
namespace {

constexpr std::size_t kMaxDepth = 16;

/// Reads characters and leaves its position where the handler sees it.
class Cursor {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  Cursor(const char* at, const char** seen) : at_(at), seen_(seen) {}
  reference operator*() const { return *at_; }
  Cursor& operator++() {
    *seen_ = ++at_;
    return *this;
  }
  Cursor operator++(int) {
    Cursor before = *this;
    ++*this;
    return before;
  }
  bool operator==(const Cursor& other) const { return at_ == other.at_; }
  bool operator!=(const Cursor& other) const { return at_ != other.at_; }

 private:
  const char* at_;
  const char** seen_;
};

Diagnostic fault(const std::string& file, int line, int column, const std::string& what) {
  Diagnostic d;
  d.clause = "I-JSON";
  d.title = "the composition file is not valid JSON";
  d.facts.push_back({"composition", "column " + std::to_string(column) + ": " + what, {file, line}});
  return d;
}

class Handler {
 public:
  Handler(std::string_view text, const std::string& file) : text_(text), file_(file), seen_(text.data()) {}

  const char** seen() { return &seen_; }
  JsonValue root;
  std::optional<Diagnostic> error;

  bool null() { return add(scalar(JsonValue::Kind::kNull)); }
  bool boolean(bool value) {
    JsonValue v = scalar(JsonValue::Kind::kBoolean);
    v.boolean = value;
    return add(std::move(v));
  }
  bool number_integer(std::int64_t value) {
    JsonValue v = scalar(JsonValue::Kind::kInteger);
    v.integer = value;
    return add(std::move(v));
  }
  bool number_unsigned(std::uint64_t value) {
    const bool fits = value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    JsonValue v = scalar(fits ? JsonValue::Kind::kInteger : JsonValue::Kind::kReal);
    if (!fits) {  // as the parser gives still larger ones
      v.text = std::to_string(value);
      return add(std::move(v));
    }
    v.integer = static_cast<std::int64_t>(value);
    return add(std::move(v));
  }
  bool number_float(double, const std::string& written) {
    JsonValue v = scalar(JsonValue::Kind::kReal);
    v.text = written;
    return add(std::move(v));
  }
  bool string(std::string& value) {
    JsonValue v;
    v.kind = JsonValue::Kind::kText;
    place_string(v.line, v.column);
    v.text = std::move(value);
    return add(std::move(v));
  }
  bool binary(std::vector<std::uint8_t>&) { return false; }
  bool start_object(std::size_t) { return open(JsonValue::Kind::kObject); }
  bool start_array(std::size_t) { return open(JsonValue::Kind::kArray); }
  bool end_object() { return close(); }
  bool end_array() { return close(); }
  bool key(std::string& value) {
    JsonMember member;
    place_string(member.line, member.column);
    if (open_.back().find(value))
      return refuse(member.line, member.column, "key `" + value + "` is there twice");
    member.key = std::move(value);
    open_.back().members.push_back(std::move(member));
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::json::exception& e) {
    // "[…] parse error at line 2, column 7: syntax error while …"
    std::string what = e.what();
    int line = 0, column = 0;
    if (const auto at = what.find("at line "); at != std::string::npos) {
      std::sscanf(what.c_str() + at, "at line %d, column %d", &line, &column);
      if (const auto colon = what.find(": ", at); colon != std::string::npos) what.erase(0, colon + 2);
    } else {
      place(static_cast<std::size_t>(seen_ - text_.data()), line, column);
      if (const auto bracket = what.find("] "); bracket != std::string::npos) what.erase(0, bracket + 2);
    }
    return refuse(line, column, what);
  }

 private:
  bool refuse(int line, int column, const std::string& what) {
    if (!error) error = fault(file_, line, column, what);
    return false;
  }

  void place(std::size_t offset, int& line, int& column) {
    for (; placed_ < offset && placed_ < text_.size(); ++placed_) {
      if (text_[placed_] == '\n') {
        ++line_;
        line_start_ = placed_ + 1;
      }
    }
    line = line_;
    column = static_cast<int>(offset - line_start_) + 1;
  }

  /// The lexer has just read the closing quote: back to the opening one.
  void place_string(int& line, int& column) {
    std::size_t at = static_cast<std::size_t>(seen_ - text_.data()) - 1;
    for (bool found = false; !found && at > 0;) {
      --at;
      std::size_t slashes = 0;
      while (slashes < at && text_[at - 1 - slashes] == '\\') ++slashes;
      found = text_[at] == '"' && slashes % 2 == 0;
    }
    place(at, line, column);
  }

  /// A number or a word. After a number the lexer has read one character more.
  JsonValue scalar(JsonValue::Kind kind) {
    const auto part = [](char c) {
      return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || c == 'E' || c == '+' || c == '-' || c == '.';
    };
    std::size_t at = static_cast<std::size_t>(seen_ - text_.data());
    while (at > 0 && !part(text_[at - 1])) --at;
    while (at > 0 && part(text_[at - 1])) --at;
    JsonValue v;
    v.kind = kind;
    place(at, v.line, v.column);
    return v;
  }

  bool open(JsonValue::Kind kind) {
    JsonValue v;
    v.kind = kind;
    place(static_cast<std::size_t>(seen_ - text_.data()) - 1, v.line, v.column);
    if (open_.size() >= kMaxDepth) {
      return refuse(v.line, v.column, "nested deeper than " + std::to_string(kMaxDepth));
    }
    open_.push_back(std::move(v));
    return true;
  }

  bool close() {
    JsonValue v = std::move(open_.back());
    open_.pop_back();
    return add(std::move(v));
  }

  bool add(JsonValue value) {
    if (open_.empty()) {
      root = std::move(value);
    } else if (open_.back().kind == JsonValue::Kind::kArray) {
      open_.back().items.push_back(std::move(value));
    } else {
      open_.back().members.back().value = std::move(value);
    }
    return true;
  }

  std::string_view text_;
  const std::string& file_;
  const char* seen_;
  std::vector<JsonValue> open_;
  std::size_t placed_ = 0, line_start_ = 0;
  int line_ = 1;
};

}  // namespace

const JsonMember* JsonValue::find(std::string_view key) const {
  const auto it =
      std::find_if(members.begin(), members.end(), [&](const JsonMember& m) { return m.key == key; });
  return it == members.end() ? nullptr : &*it;
}

std::string_view kind_word(JsonValue::Kind kind) {
  switch (kind) {
    case JsonValue::Kind::kNull:
      return "null";
    case JsonValue::Kind::kBoolean:
      return "a boolean";
    case JsonValue::Kind::kInteger:
      return "an integer";
    case JsonValue::Kind::kReal:
      return "a real number";
    case JsonValue::Kind::kText:
      return "a string";
    case JsonValue::Kind::kArray:
      return "an array";
    case JsonValue::Kind::kObject:
      return "an object";
  }
  return "?";
}

Outcome<JsonValue> parse_json(std::string_view text, const std::string& file) {
  if (const std::size_t at = text.find('\0'); at != std::string_view::npos)
    return fault(
        file,
        1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n')),
        1, "a NUL character");
  Handler handler(text, file);
  const char* begin = text.data();
  const bool done = nlohmann::json::sax_parse(Cursor(begin, handler.seen()),
                                              Cursor(begin + text.size(), handler.seen()), &handler);
  if (handler.error) return *handler.error;
  if (!done) return fault(file, 1, 1, "no value");
  return std::move(handler.root);
}

}  // namespace pipelink::compose
