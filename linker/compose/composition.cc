#include "linker/compose/composition.h"

#include <map>

#include "linker/compose/composition_file.h"
#include "packager/base/file.h"
#include "packager/package/package.h"

namespace pipelink {

std::string package_path(const std::string& composition, const std::string& package) {
  const auto slash = composition.rfind('/');
  if (package.starts_with('/') || slash == std::string::npos) return package;
  return composition.substr(0, slash + 1) + package;
}

Outcome<CompositionFile> read_composition_file(const std::string& path) {
  Outcome<std::string> text = read_file(path, kMaxCompositionSize);
  if (!text) return std::move(text.diagnostics);
  return parse_composition(*text, file_name(path));
}

Outcome<Composition> read_composition(const std::string& path) {
  Outcome<CompositionFile> file = read_composition_file(path);
  if (!file) return std::move(file.diagnostics);

  std::map<std::string, PackageInput> read;  // by path: each once, in one order
  for (const ComponentUse& use : file->components) read[package_path(path, use.package)];
  Diagnostics faults;
  for (auto& [opened, input] : read) {
    Outcome<Package> package = read_package(opened);
    faults.insert(faults.end(), package.diagnostics.begin(), package.diagnostics.end());
    if (!package) continue;
    input = {opened, package->file, package->sha256, std::move(package->contract)};
  }
  if (has_error(faults)) return faults;

  std::vector<PackageInput> packages;
  for (const ComponentUse& use : file->components)
    packages.push_back(read.at(package_path(path, use.package)));
  Outcome<Composition> composition = assemble(*file, packages);
  composition.diagnostics.insert(composition.diagnostics.begin(), faults.begin(), faults.end());
  return composition;
}

}  // namespace pipelink
