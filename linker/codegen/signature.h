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

/// `symbol` is the function's. A type that only its owner's headers define is named as such in the control,
/// where they are included, and replaced by a pointer or reference in the link; none of them may need its
/// definition.
SignatureText signature_text(const std::string& symbol, const contract::Callable& callable);

}  // namespace pipelink
