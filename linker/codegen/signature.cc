#include "linker/codegen/signature.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <string_view>

namespace pipelink {
namespace {

bool is_builtin_word(std::string_view word) {
  static constexpr std::array<std::string_view, 15> kWords = {
      "void", "bool", "char", "short", "int", "long", "unsigned", "signed", "float", "double", "const", "volatile",
      "__restrict__", "pipelink::Self", "__int128"};
  for (std::string_view known : kWords)
    if (word == known) return true;
  // float4, uint2, longlong1 …: the vector types that every CUDA compiler defines.
  static constexpr std::array<std::string_view, 12> kVectors = {"char", "uchar", "short", "ushort", "int", "uint",
                                                                "long", "ulong", "longlong", "ulonglong", "float", "double"};
  if (word.size() < 2 || word.back() < '1' || word.back() > '4') return false;
  for (std::string_view base : kVectors)
    if (word.substr(0, word.size() - 1) == base) return true;
  return false;
}

/// The stand-in for a type that the glue cannot see: passed the same way, as large and as aligned.
std::string opaque(const contract::Type& type) {
  const char last = type.name.empty() ? ' ' : type.name.back();
  const bool reference = type.name.find('&') != std::string::npos;
  if (reference) return "unsigned char&";
  if (last == '*' || type.name.find("*)") != std::string::npos) return "void*";
  return fmt::format("struct __align__({}) {{ unsigned char bytes[{}]; }}", type.align, type.size);
}

void add(SignatureText& text, const std::string& alias, const contract::Type& type) {
  if (is_builtin_type(type.name)) {
    text.aliases.push_back(fmt::format("using {} = {};", alias, type.name));
    return;
  }
  text.aliases.push_back("#ifdef PIPELINK_CONTROL");
  text.aliases.push_back(fmt::format("using {} = {};", alias, type.name));
  text.aliases.push_back("#else");
  const std::string stand_in = opaque(type);
  text.aliases.push_back(stand_in.starts_with("struct ")
                             ? fmt::format("struct __align__({}) {} {{ unsigned char bytes[{}]; }};", type.align, alias, type.size)
                             : fmt::format("using {} = {};", alias, stand_in));
  text.aliases.push_back("#endif");
}

}  // namespace

bool is_builtin_type(const std::string& name) {
  for (std::size_t i = 0; i < name.size();) {
    const auto is_word = [&](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == ':'; };
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

SignatureText signature_text(const std::string& symbol, const contract::Callable& callable) {
  SignatureText text;
  if (is_builtin_type(callable.result.name)) {
    text.result = callable.result.name;
  } else {
    text.result = symbol + "__result";
    add(text, text.result, callable.result);
  }
  for (std::size_t i = 0; i < callable.parameters.size(); ++i) {
    text.parameters.push_back(fmt::format("{}__p{}", symbol, i));
    add(text, text.parameters.back(), callable.parameters[i]);
  }
  return text;
}

}  // namespace pipelink
