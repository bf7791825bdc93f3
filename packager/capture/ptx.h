// What the PTX twin of an object tells: definitions, externs, variables, records.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "packager/base/outcome.h"
#include "packager/capture/ptx_code.h"

namespace pipelink {

struct PtxFunction {
  std::string name;
  bool entry = false;  ///< a kernel
  bool visible = false;
  bool weak = false;
  bool external = false;                 ///< declared, not defined here
  std::vector<std::int64_t> parameters;  ///< bytes of each
  std::int64_t result = 0;               ///< bytes; 0: none
  std::string
      digest;  ///< weak definitions: SHA-256 of header and body, without names that vary between modules
};

struct PtxVariable {
  std::string name;
  std::string space;  ///< "global", "const", "shared"
  bool visible = false;
  bool weak = false;
  bool external = false;
  bool filled = false;   ///< has an initial value, other than zero
  bool written = false;  ///< code of this twin stores to it, or lets its address out of sight
  std::int64_t align = 1;
  std::int64_t size = 0;  ///< bytes; 0 for an array of open size
  std::string digest;     ///< weak variables: SHA-256 of type and initial value
};

struct PtxFacts {
  std::string version;                 ///< "9.0"
  std::string target;                  ///< "sm_90a"
  std::vector<PtxFunction> functions;  ///< one for each name; a definition hides its declaration
  std::vector<PtxVariable>
      variables;  ///< without records, without the compiler's own constants ($str, __unnamed_…)
  /// Function or variable defined here → functions and variables that its body or its initial value names,
  /// sorted. Those that name none are left out; the compiler's own constants are here too.
  std::map<std::string, std::vector<std::string>> names;
  std::vector<PtxInstruction> code;  ///< of all bodies: what contracts speak of
  std::vector<std::string> records;  ///< bytes of every record object, up to its NUL
};

/// Reads module-level statements, the shared variables within bodies, and what bodies do to variables.
/// I-OBJECT if the text is no PTX.
Outcome<PtxFacts> parse_ptx(std::string_view text, std::string_view name);

}  // namespace pipelink
