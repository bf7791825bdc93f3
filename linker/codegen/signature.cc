#include "linker/codegen/signature.h"

#include <fmt/format.h>

#include "packager/contract/type_text.h"

namespace pipelink {
namespace {

/// The stand-in for a type that the glue cannot see, passed the same way.
std::string opaque(const contract::Type& type) {
  return contract::is_reference(type) ? "unsigned char&" : "void*";
}

void add(SignatureText& text, const std::string& alias, const contract::Type& type) {
  if (contract::is_builtin_type(type.name)) {
    text.aliases.push_back(fmt::format("using {} = {};", alias, type.name));
    return;
  }
  text.aliases.push_back("#ifdef PIPELINK_CONTROL");
  text.aliases.push_back(fmt::format("using {} = {};", alias, type.name));
  text.aliases.push_back("#else");
  text.aliases.push_back(fmt::format("using {} = {};", alias, opaque(type)));
  text.aliases.push_back("#endif");
}

}  // namespace

SignatureText signature_text(const std::string& symbol, const contract::Callable& callable) {
  SignatureText text;
  if (contract::is_builtin_type(callable.result.name)) {
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
