// What a composition file says, with the contracts of the packages that it names.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "packager/base/outcome.h"
#include "packager/contract/model.h"

namespace pipelink {

/// One use of a package. Two instances of one package share its code and differ in `index`, the value of
/// Self::instance, which folds every handle to this instance's placement.
struct Instance {
  std::string name;       ///< `as` of the composition file, else the component's name
  std::string component;  ///< the contract's component
  int index = 0;          ///< 0, 1, … among the instances of one component, in order of name
  std::size_t package = 0;
};

struct PackageInput {
  std::string path;    ///< as opened; never printed into outputs
  std::string file;    ///< file name, for messages and the map
  std::string sha256;  ///< of the whole .plk
  contract::Contract contract;
};

struct RingPreference {
  int tier = 0;
  int weight = 1;
};

struct Launch {
  int cluster[3] = {1, 1, 1};
  int blocks_per_sm = 1;
};

struct LinkOptions {
  bool guard = false;
  std::int64_t guard_ms = 2000;      ///< how long a guarded link waits
  std::uint64_t limit = 64'000'000;  ///< placement work limit, units of linker/place
};

/// A composition file's own entries, as messages and users write them: "BIND a.port=b.port", "SET
/// owner.fact", "RING owner.ring" → line of the file. Empty for a composition made in code.
using EntryLines = std::map<std::string, int>;

struct Composition {
  std::string name;
  std::string arch;
  std::string file;                    ///< the composition file's name, for messages
  std::vector<PackageInput> packages;  ///< sorted by component name
  std::vector<Instance> instances;     ///< sorted by name
  std::vector<std::pair<std::string, std::string>>
      bind;                                     ///< ("instance.port", "instance.port"), sorted, once each
  std::map<std::string, std::string> set;       ///< "instance.fact" → value text
  std::map<std::string, RingPreference> rings;  ///< "instance.ring"
  Launch launch;
  LinkOptions options;
  EntryLines lines;
  std::optional<SourceSpan> declared;  ///< the call of pipelink_add_composition of which the file was made

  const contract::Contract& contract(std::size_t instance) const {
    return packages[instances[instance].package].contract;
  }

  /// Where the user, else the file, says `entry`, or what has no entry.
  SourceSpan where(const std::string& entry = {}) const {
    if (declared) return *declared;
    const auto it = lines.find(entry);
    return {file, it == lines.end() ? 0 : it->second};
  }
};

/// Reads `path` and every package that it names (digests verified): parse_composition, read_package,
/// assemble. Errors: I-FILE, I-PACKAGE, I-DIGEST and those of composition_file.h.
Outcome<Composition> read_composition(const std::string& path);

}  // namespace pipelink
