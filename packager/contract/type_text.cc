#include "packager/contract/type_text.h"

#include <array>
#include <cctype>
#include <limits>
#include <string_view>

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

bool needs_definition(const Type& type) {
  return !is_builtin_type(type.name) && !is_reference(type) && !is_pointer(type);
}

}  // namespace pipelink::contract
