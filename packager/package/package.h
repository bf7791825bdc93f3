// The package file, .plk: an ustar archive of manifest.json, contract.json and code.N.ltoir, in this order,
// with all metadata zero. Reading trusts nothing: sizes are bounded and digests verified before anything
// behind the manifest is parsed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "packager/base/outcome.h"
#include "packager/contract/model.h"

namespace pipelink {

inline constexpr int kPackageFormat = 1;

struct Manifest {
  int format = kPackageFormat;
  std::string name, version, arch, toolkit;  ///< the contract's own; they must agree
};

struct Package {
  Manifest manifest;
  contract::Contract contract;
  std::vector<std::string> ltoir;
  std::string sha256;  ///< of the whole file; set by reading and writing
  std::string file;    ///< file name, without directories
};

/// I-FILE, I-PACKAGE (no such archive, or damaged), I-DIGEST (a member is not what the manifest says),
/// I-FORMAT (another format version), I-JSON (contract).
Outcome<Package> read_package(const std::string& path);

/// As read_package, for bytes at hand; `name` is what messages call them.
Outcome<Package> parse_package(std::string_view bytes, std::string_view name);

/// The file's bytes: the same package gives the same bytes. The manifest is made from the contract.
Outcome<std::string> package_bytes(const contract::Contract& contract, const std::vector<std::string>& ltoir);

/// Written atomically; an equal file is left alone. Value: SHA-256 of the file. I-WRITE.
Outcome<std::string> write_package(const std::string& path, const contract::Contract& contract,
                                   const std::vector<std::string>& ltoir);

/// Only the contract; the same checks, since digests need the whole file read anyway.
Outcome<contract::Contract> read_contract(const std::string& path);

}  // namespace pipelink
