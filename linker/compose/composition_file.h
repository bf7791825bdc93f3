// The two halves of reading a composition, without files: the text by itself, and the text with its packages.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linker/compose/composition.h"

namespace pipelink {

inline constexpr int kCompositionSchema = 1;
inline constexpr std::uint64_t kMaxCompositionSize = 1 << 20;  ///< bytes
inline constexpr std::size_t kMaxComponents = 256;             ///< uses of packages
inline constexpr std::size_t kMaxEntries = 4096;               ///< of bind, set and rings, each

/// One entry of "components".
struct ComponentUse {
  std::string package;  ///< path as written
  std::string as;       ///< empty: the component's name
  SourceSpan where;
  int package_line = 0, package_column = 0;  ///< of the path's opening quote, 1-based
};

/// What a composition file says, before any package is read.
struct CompositionFile {
  std::string name;
  std::string arch;
  std::string file;
  std::vector<ComponentUse> components;
  std::vector<std::pair<std::string, std::string>> bind;
  std::map<std::string, std::string> set;
  std::map<std::string, RingPreference> rings;
  Launch launch;
  LinkOptions options;
  EntryLines lines;
  std::optional<SourceSpan> declared;  ///< the call of pipelink_add_composition of which the file was made
};

/// Every fault with line and column. I-JSON for what is no JSON; I-FORMAT for another schema; I-COMPOSITION
/// for unknown, reserved, missing and malformed keys.
Outcome<CompositionFile> parse_composition(std::string_view text, const std::string& file);

/// The file at `path`, without its packages. I-FILE, and those of parse_composition.
Outcome<CompositionFile> read_composition_file(const std::string& path);

/// `package`, as a composition file at `composition` writes it, as it is opened: a relative path is beside
/// that file.
std::string package_path(const std::string& composition, const std::string& package);

/// `packages[i]` is what `file.components[i]` names. The order of components does not matter; a package that
/// is there twice (equal digests) is kept once. L-ARCH, L-TOOLKIT, L-NAME, P-STATE, L-SET (a ring preference
/// without its ring).
Outcome<Composition> assemble(const CompositionFile& file, const std::vector<PackageInput>& packages);

}  // namespace pipelink
