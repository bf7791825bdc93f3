#include "packager/base/ids.h"

#include <algorithm>
#include <array>

namespace pipelink {
namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string quoted(char c) {
  if (c >= 0x20 && c < 0x7f) return std::string{'\''} + c + '\'';
  constexpr char kHex[] = "0123456789abcdef";
  const auto byte = static_cast<unsigned char>(c);
  return std::string{"0x"} + kHex[byte >> 4] + kHex[byte & 15];
}

/// Of C++20, sorted.
constexpr std::array<std::string_view, 92> kKeywords{
    "alignas",     "alignof",  "and",        "and_eq",    "asm",       "auto",         "bitand",
    "bitor",       "bool",     "break",      "case",      "catch",     "char",         "char16_t",
    "char32_t",    "char8_t",  "class",      "co_await",  "co_return", "co_yield",     "compl",
    "concept",     "const",    "const_cast", "consteval", "constexpr", "constinit",    "continue",
    "decltype",    "default",  "delete",     "do",        "double",    "dynamic_cast", "else",
    "enum",        "explicit", "export",     "extern",    "false",     "float",        "for",
    "friend",      "goto",     "if",         "inline",    "int",       "long",         "mutable",
    "namespace",   "new",      "noexcept",   "not",       "not_eq",    "nullptr",      "operator",
    "or",          "or_eq",    "private",    "protected", "public",    "register",     "reinterpret_cast",
    "requires",    "return",   "short",      "signed",    "sizeof",    "static",       "static_assert",
    "static_cast", "struct",   "switch",     "template",  "this",      "thread_local", "throw",
    "true",        "try",      "typedef",    "typeid",    "typename",  "union",        "unsigned",
    "using",       "virtual",  "void",       "volatile",  "wchar_t",   "while",        "xor",
    "xor_eq"};
static_assert(std::is_sorted(kKeywords.begin(), kKeywords.end()));

}  // namespace

std::string name_fault(std::string_view name) {
  if (name.empty()) return "is empty";
  if (name.size() > kMaxNameLength) return "has more than " + std::to_string(kMaxNameLength) + " characters";
  for (const char c : name)
    if (!is_lower(c) && !is_digit(c) && c != '_') return "has the character " + quoted(c);
  if (!is_lower(name[0])) return "does not begin with a letter";
  if (name.find("__") != std::string_view::npos) return "has '__'";
  if (name.back() == '_') return "ends in '_'";
  return {};
}

bool valid_name(std::string_view name) {
  return name_fault(name).empty();
}

bool is_keyword(std::string_view name) {
  return std::binary_search(kKeywords.begin(), kKeywords.end(), name);
}

bool valid_cpp_name(std::string_view name) {
  bool begin = true;  // of an identifier
  for (std::size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    if (c == ':' && !begin && i + 2 < name.size() && name[i + 1] == ':') {
      ++i;
      begin = true;
    } else if (is_lower(c) || is_upper(c) || c == '_' || (is_digit(c) && !begin)) {
      begin = false;
    } else {
      return false;
    }
  }
  return !begin;
}

bool valid_arch(std::string_view arch) {
  if (!arch.starts_with("sm_")) return false;
  arch.remove_prefix(3);
  if (!arch.empty() && (arch.back() == 'a' || arch.back() == 'f')) arch.remove_suffix(1);
  return arch.size() >= 2 && arch.size() <= 4 && std::all_of(arch.begin(), arch.end(), is_digit);
}

}  // namespace pipelink
