#include "linker/compose/composition.h"

#include <map>

#include "linker/compose/composition_file.h"
#include "packager/base/file.h"
#include "packager/package/package.h"

namespace pipelink {
namespace {

/// `relative` as written in the file at `base`.
std::string beside(const std::string& base, const std::string& relative) {
  const auto slash = base.rfind('/');
  if (relative.starts_with('/') || slash == std::string::npos) return relative;
  return base.substr(0, slash + 1) + relative;
}

}  // namespace

Outcome<Composition> read_composition(const std::string& path) {
  Outcome<std::string> text = read_file(path, kMaxCompositionSize);
  if (!text) return std::move(text.diagnostics);
  Outcome<CompositionFile> file = parse_composition(*text, file_name(path));
  if (!file) return std::move(file.diagnostics);

  std::map<std::string, PackageInput> read;  // by path: each once, in one order
  for (const ComponentUse& use : file->components) read[beside(path, use.package)];
  Diagnostics faults;
  for (auto& [package_path, input] : read) {
    Outcome<Package> package = read_package(package_path);
    faults.insert(faults.end(), package.diagnostics.begin(), package.diagnostics.end());
    if (!package) continue;
    input = {package_path, package->file, package->sha256, std::move(package->contract)};
  }
  if (has_error(faults)) return faults;

  std::vector<PackageInput> packages;
  for (const ComponentUse& use : file->components) packages.push_back(read.at(beside(path, use.package)));
  Outcome<Composition> composition = assemble(*file, packages);
  composition.diagnostics.insert(composition.diagnostics.begin(), faults.begin(), faults.end());
  return composition;
}

}  // namespace pipelink
