#include "packager/contract/type_text.h"

#include <array>
#include <cctype>
#include <charconv>
#include <limits>
#include <string_view>
#include <vector>

namespace pipelink::contract {
namespace {

bool is_builtin_word(std::string_view word) {
  static constexpr std::array<std::string_view, 15> kWords = {
      "void",  "bool",   "char",  "short",    "int",          "long",           "unsigned", "signed",
      "float", "double", "const", "volatile", "__restrict__", "pipelink::Self", "__int128"};
  for (std::string_view known : kWords)
    if (word == known) return true;
  // float4, uint2, longlong1 …: the vector types that every CUDA compiler defines.
  static constexpr std::array<std::string_view, 12> kVectors = {"char",     "uchar",     "short", "ushort",
                                                                "int",      "uint",      "long",  "ulong",
                                                                "longlong", "ulonglong", "float", "double"};
  if (word.size() < 2 || word.back() < '1' || word.back() > '4') return false;
  for (std::string_view base : kVectors)
    if (word.substr(0, word.size() - 1) == base) return true;
  return false;
}

/// Bytes of a built-in type by its words, qualifiers left out; 0: it is none.
std::int64_t bytes_of_words(const std::vector<std::string_view>& words) {
  struct Row {
    std::string_view word;
    std::int64_t bytes;
  };
  static constexpr std::array<Row, 15> kRows = {{{"bool", 1},
                                                 {"char", 1},
                                                 {"short", 2},
                                                 {"int", 4},
                                                 {"float", 4},
                                                 {"double", 8},
                                                 {"__int128", 16},
                                                 {"char16_t", 2},
                                                 {"char32_t", 4},
                                                 {"wchar_t", 4},
                                                 {"pipelink::Self", 16},
                                                 {"uchar", 1},
                                                 {"ushort", 2},
                                                 {"uint", 4},
                                                 {"ulong", 8}}};
  const auto row = [&](std::string_view word) -> std::int64_t {
    for (const Row& known : kRows)
      if (known.word == word) return known.bytes;
    return word == "long" || word == "longlong" || word == "ulonglong" ? 8 : 0;
  };
  std::int64_t bytes = 0;
  bool any_sign = false;
  for (const std::string_view word : words) {
    if (word == "signed" || word == "unsigned") {
      any_sign = true;
    } else if (word == "int" && bytes != 0) {  // short int, long int
    } else if (word.size() > 1 && word.back() >= '1' && word.back() <= '4' && words.size() == 1 &&
               is_builtin_word(word)) {
      bytes = row(word.substr(0, word.size() - 1)) * (word.back() - '0');
    } else if (!is_builtin_word(word) && word != "char16_t" && word != "char32_t" && word != "wchar_t") {
      return 0;
    } else {
      bytes = row(word);
    }
  }
  return bytes == 0 && any_sign ? 4 : bytes;
}

bool is_pointer(const Type& type) {
  std::string_view name = type.name;
  if (name.ends_with("__restrict__")) name.remove_suffix(std::string_view("__restrict__").size());
  while (name.ends_with(' ')) name.remove_suffix(1);
  return name.ends_with('*') || name.ends_with("*const") || name.find("*)") != std::string_view::npos;
}

}  // namespace

std::string spelt_type(std::string name) {
  static constexpr std::string_view kBool = "__nv_bool";
  for (std::size_t at = name.find(kBool); at != std::string::npos; at = name.find(kBool, at + 4))
    name.replace(at, kBool.size(), "bool");
  return name;
}

bool is_reference(const Type& type) {
  return type.name.find('&') != std::string::npos;
}

bool is_builtin_type(const std::string& name) {
  for (std::size_t i = 0; i < name.size();) {
    const auto is_word = [&](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':';
    };
    if (!is_word(name[i])) {
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < name.size() && is_word(name[end])) ++end;
    const std::string_view word = std::string_view(name).substr(i, end - i);
    i = end;
    if (std::isdigit(static_cast<unsigned char>(word.front())) == 0 && !is_builtin_word(word)) return false;
  }
  return true;
}

std::optional<IntegerRange> integer_range(std::string_view type) {
  struct Row {
    std::string_view type;
    IntegerRange range;
  };
  using Int = std::numeric_limits<std::int32_t>;
  using Long = std::numeric_limits<std::int64_t>;
  constexpr std::int64_t kUnsigned = std::numeric_limits<std::uint32_t>::max();
  static constexpr Row kRows[] = {
      {"bool", {0, 1}},
      {"char", {-128, 127}},
      {"signed char", {-128, 127}},
      {"unsigned char", {0, 255}},
      {"short", {-32768, 32767}},
      {"unsigned short", {0, 65535}},
      {"char16_t", {0, 65535}},
      {"int", {Int::min(), Int::max()}},
      {"wchar_t", {Int::min(), Int::max()}},
      {"unsigned", {0, kUnsigned}},
      {"unsigned int", {0, kUnsigned}},
      {"char32_t", {0, kUnsigned}},
      {"long", {Long::min(), Long::max()}},
      {"long long", {Long::min(), Long::max()}},
      {"unsigned long", {0, Long::max()}},
      {"unsigned long long", {0, Long::max()}},
  };
  for (const Row& row : kRows)
    if (row.type == type) return row.range;
  return std::nullopt;
}

std::optional<TextSize> size_by_text(std::string_view type) {
  constexpr std::int64_t kPointer = 8;
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  std::vector<std::string_view> words;
  std::string declarator;  // all but words
  bool known = true;
  for (std::size_t i = 0; i < type.size();) {
    const auto is_word = [&](std::size_t at) {
      return std::isalnum(static_cast<unsigned char>(type[at])) != 0 || type[at] == '_' || type[at] == ':';
    };
    if (!is_word(i)) {
      if (type[i] == '<') known = false;
      if (type[i] != ' ') declarator += type[i];
      ++i;
      continue;
    }
    std::size_t end = i;
    while (end < type.size() && is_word(end)) ++end;
    const std::string_view word = type.substr(i, end - i);
    i = end;
    if (word == "const" || word == "volatile" || word == "__restrict__") continue;
    if (std::isdigit(static_cast<unsigned char>(word.front())) != 0)
      declarator += word;
    else if (declarator.empty())
      words.push_back(word);
    else
      known = false;
  }
  if (!known || words.empty()) return std::nullopt;
  std::string_view rest = declarator;
  TextSize out{bytes_of_words(words), 1};
  std::size_t stars = 0;
  while (rest.starts_with('*')) {
    rest.remove_prefix(1);
    ++stars;
  }
  if (stars > 0) out.bytes = kPointer;
  if (rest.starts_with("(*"))
    return rest.starts_with("(*)") ? std::optional(TextSize{kPointer, 1}) : std::nullopt;
  for (const std::string_view reference : {"(&&)", "(&)", "&&", "&"})
    if (rest.starts_with(reference)) {
      rest.remove_prefix(reference.size());
      break;
    }
  while (!rest.empty()) {
    std::int64_t extent = 0;
    const auto [end, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), extent);
    if (rest.front() != '[' || error != std::errc{} || end == rest.data() + rest.size() || *end != ']' ||
        extent < 1 || extent > kMost || out.count > kMost / extent)
      return std::nullopt;
    out.count *= extent;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
  }
  out.bytes *= out.count;
  return out;
}

bool needs_definition(const Type& type) {
  return !is_builtin_type(type.name) && !is_reference(type) && !is_pointer(type);
}

}  // namespace pipelink::contract
