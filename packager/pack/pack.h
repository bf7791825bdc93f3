// `pipelink pack` and `pipelink inspect`, without a command line.
#pragma once

#include <string>
#include <vector>

#include "packager/base/outcome.h"
#include "packager/package/package.h"

namespace pipelink {

struct PackOptions {
  std::string name;
  std::string version;
  std::string arch;                  ///< "sm_90a"
  std::string output;                ///< NAME.ARCH.plk
  std::vector<std::string> objects;  ///< fatbin files or host objects
  std::string host_library;          ///< the provider's static library; empty if none
  std::string source_root;           ///< stripped from the files that records name
};

struct PackResult {
  contract::Contract contract;
  std::string sha256;  ///< of the file written
};

/// U-USAGE, I-FILE, I-OBJECT, I-WRITE and all clauses P-*. Writes nothing if there is an error.
Outcome<PackResult> pack(const PackOptions& options);

/// For people: one block for each kind of entry, aligned columns.
std::string inspect_text(const Package& package);

/// {"file","sha256","format","contract":{…},"code":[{"size","sha256"}…]}
std::string inspect_json(const Package& package);

/// What differs between two contracts, one line each, for `pipelink diff`; empty if nothing.
std::vector<std::string> contract_differences(const contract::Contract& a, const contract::Contract& b);

}  // namespace pipelink
