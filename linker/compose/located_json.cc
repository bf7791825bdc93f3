#include "linker/compose/located_json.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

namespace pipelink::compose {
namespace {

constexpr std::size_t kMaxDepth = 16;

bool in_number(char c) {
  return (c >= '0' && c <= '9') || c == 'e' || c == 'E' || c == '+' || c == '-' || c == '.';
}

/// The library refuses a number that no double holds, though only its key tells what it has to fit. Of such a
/// number the library is shown two digits of each run of digits, then blanks: the same syntax at the same
/// place. Its text is that of the original.
std::string with_small_numbers(std::string_view text) {
  std::string shown(text);
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string && text[i] == '\\') {
      ++i;
    } else if (text[i] == '"') {
      in_string = !in_string;
    } else if (!in_string && in_number(text[i])) {
      const std::size_t begin = i;
      while (i + 1 < text.size() && in_number(text[i + 1])) ++i;
      const std::string_view number = text.substr(begin, i + 1 - begin);
      double value = 0;
      if (std::from_chars(number.data(), number.data() + number.size(), value).ec !=
          std::errc::result_out_of_range)
        continue;
      std::size_t out = begin, run = 0;
      for (const char c : number) {
        run = c >= '0' && c <= '9' ? run + 1 : 0;
        if (run <= 2) shown[out++] = c;
      }
      while (out <= i) shown[out++] = ' ';
    }
  }
  return shown;
}

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
  /// `shown`: what the library reads of the text, character by character at the same place.
  Handler(std::string_view text, const char* shown, const std::string& file)
      : text_(text), shown_(shown), file_(file), seen_(shown) {}

  const char** seen() { return &seen_; }
  JsonValue root;
  std::optional<Diagnostic> error;

  bool null() { return add(scalar(JsonValue::Kind::kNull)); }
  bool boolean(bool value) {
    JsonValue v = scalar(JsonValue::Kind::kBoolean);
    v.boolean = value;
    return add(std::move(v));
  }
  bool number_integer(std::int64_t) { return number(); }
  bool number_unsigned(std::uint64_t) { return number(); }
  bool number_float(double, const std::string&) { return number(); }
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
      place(static_cast<std::size_t>(seen_ - shown_), line, column);
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
    std::size_t at = static_cast<std::size_t>(seen_ - shown_) - 1;
    for (bool found = false; !found && at > 0;) {
      --at;
      std::size_t slashes = 0;
      while (slashes < at && text_[at - 1 - slashes] == '\\') ++slashes;
      found = text_[at] == '"' && slashes % 2 == 0;
    }
    place(at, line, column);
  }

  /// As written: the library gives -0 as 0, and has seen less of a large one.
  bool number() {
    JsonValue v = scalar(JsonValue::Kind::kReal);
    const std::size_t begin = line_start_ + static_cast<std::size_t>(v.column) - 1;
    std::size_t end = begin;
    while (end < text_.size() && in_number(text_[end])) ++end;
    v.text = text_.substr(begin, end - begin);
    const char* const last = v.text.data() + v.text.size();
    const auto [at, status] = std::from_chars(v.text.data(), last, v.integer);
    if (status == std::errc() && at == last) v.kind = JsonValue::Kind::kInteger;
    return add(std::move(v));
  }

  /// A number or a word. After a number the lexer has read one character more.
  JsonValue scalar(JsonValue::Kind kind) {
    const auto part = [](char c) { return in_number(c) || (c >= 'a' && c <= 'z'); };
    std::size_t at = static_cast<std::size_t>(seen_ - shown_);
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
    place(static_cast<std::size_t>(seen_ - shown_) - 1, v.line, v.column);
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
  const char* shown_;
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
  const std::string shown = with_small_numbers(text);
  Handler handler(text, shown.data(), file);
  const char* begin = shown.data();
  const bool done = nlohmann::json::sax_parse(Cursor(begin, handler.seen()),
                                              Cursor(begin + shown.size(), handler.seen()), &handler);
  if (handler.error) return *handler.error;
  if (!done) return fault(file, 1, 1, "no value");
  return std::move(handler.root);
}

}  // namespace pipelink::compose
