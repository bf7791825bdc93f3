// Callable signatures as C++ text.
#pragma once

#include <string>
#include <vector>

#include "packager/contract/model.h"

namespace pipelink {

/// A callable's types under names of their own, so that any type can be a parameter: `using NAME_p0 = float
/// (&)[128];`
struct SignatureText {
  std::vector<std::string> aliases;  ///< lines
  std::string result;                ///< a type name
  std::vector<std::string> parameters;
};

/// Whether a value of this type cannot be passed on by code that does not see the type's definition. A
/// stand-in of the same size will not do: the two functions then differ in type, and the vendor linker
/// inlines no such call.
bool needs_definition(const contract::Type& type);

/// `symbol` is the function's. A type that only its owner's headers define is named as such in the control,
/// where they are included, and replaced by a pointer or reference in the link; none of them may need its
/// definition.
SignatureText signature_text(const std::string& symbol, const contract::Callable& callable);

/// Whether a type's text names nothing but what the language itself knows.
bool is_builtin_type(const std::string& name);

}  // namespace pipelink
