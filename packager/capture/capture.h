// Objects → contract and code, with everything checked that the objects can tell.
#pragma once

#include <string>
#include <vector>

#include "packager/base/outcome.h"
#include "packager/contract/model.h"

namespace pipelink {

struct CaptureOptions {
  std::string component;    ///< expected name; empty: as the records say
  std::string version;      ///< overrides the records' if not empty
  std::string arch;         ///< "sm_90a"
  std::string source_root;  ///< stripped from the files that records name
};

struct Captured {
  contract::Contract contract;     ///< validated
  std::vector<std::string> ltoir;  ///< one for each object, in the order given
};

/// I-FILE, I-OBJECT and all clauses P-*: every error of every object.
Outcome<Captured> capture(const std::vector<std::string>& objects, const CaptureOptions& options);

/// The handles that the glue defines for this contract: every symbol pl__C__… that the component may call.
std::vector<std::string> handle_symbols(const contract::Contract& contract);

/// The symbols that the component must define: roles and exports.
std::vector<std::string> defined_symbols(const contract::Contract& contract);

}  // namespace pipelink
