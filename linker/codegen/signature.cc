#include "linker/codegen/signature.h"

#include <fmt/format.h>

#include <array>
#include <cctype>
#include <string_view>

namespace pipelink {
namespace {

bool is_builtin_word(std::string_view word) {
  static constexpr std::array<std::string_view, 16> kWords = {
      "void",   "bool",  "__nv_bool", "char",  "short",    "int",          "long",           "unsigned",
      "signed", "float", "double",    "const", "volatile", "__restrict__", "pipelink::Self", "__int128"};
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

/// nvcc's front end spells `bool` as `__nv_bool` in the names of types.
std::string spelt(const std::string& name) {
  static constexpr std::string_view kBool = "__nv_bool";
  std::string out = name;
  for (std::size_t at = out.find(kBool); at != std::string::npos; at = out.find(kBool))
    out.replace(at, kBool.size(), "bool");
  return out;
}

bool is_reference(const contract::Type& type) {
  return type.name.find('&') != std::string::npos;
}

bool is_pointer(const contract::Type& type) {
  std::string_view name = type.name;
  if (name.ends_with("__restrict__")) name.remove_suffix(std::string_view("__restrict__").size());
  while (name.ends_with(' ')) name.remove_suffix(1);
  return name.ends_with('*') || name.ends_with("*const") || name.find("*)") != std::string_view::npos;
}

/// The stand-in for a type that the glue cannot see, passed the same way.
std::string opaque(const contract::Type& type) {
  return is_reference(type) ? "unsigned char&" : "void*";
}

void add(SignatureText& text, const std::string& alias, const contract::Type& type) {
  if (is_builtin_type(type.name)) {
    text.aliases.push_back(fmt::format("using {} = {};", alias, spelt(type.name)));
    return;
  }
  text.aliases.push_back("#ifdef PIPELINK_CONTROL");
  text.aliases.push_back(fmt::format("using {} = {};", alias, spelt(type.name)));
  text.aliases.push_back("#else");
  text.aliases.push_back(fmt::format("using {} = {};", alias, opaque(type)));
  text.aliases.push_back("#endif");
}

}  // namespace

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

bool needs_definition(const contract::Type& type) {
  return !is_builtin_type(type.name) && !is_reference(type) && !is_pointer(type);
}

SignatureText signature_text(const std::string& symbol, const contract::Callable& callable) {
  SignatureText text;
  if (is_builtin_type(callable.result.name)) {
    text.result = spelt(callable.result.name);
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
