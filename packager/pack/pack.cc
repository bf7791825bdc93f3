#include "packager/pack/pack.h"

#include <fmt/format.h>

#include "packager/base/file.h"
#include "packager/base/ids.h"
#include "packager/base/sha256.h"
#include "packager/capture/capture.h"

namespace pipelink {
namespace {

Diagnostics usage(const PackOptions& options) {
  Diagnostics found;
  const auto need = [&](bool there, std::string_view what) {
    if (!there)
      found.push_back(
          make_error("U-USAGE", fmt::format("pack needs {}", what), {}, {}, "see `pipelink pack --help`"));
  };
  need(!options.name.empty(), "the component's name (--name)");
  need(!options.version.empty(), "the component's version (--version)");
  need(!options.arch.empty(), "an architecture (--arch)");
  need(!options.output.empty(), "an output file (-o)");
  need(!options.objects.empty(), "an object");
  if (!options.arch.empty() && !valid_arch(options.arch))
    found.push_back(make_error("U-USAGE", fmt::format("'{}' is not an architecture", options.arch), {}, {},
                               "use a name such as sm_90a"));
  return found;
}

/// The provider's library goes into the contract by name and digest.
Diagnostics add_host(contract::Contract& contract, const std::string& library) {
  if (!contract.host && library.empty()) return {};
  if (!contract.host)
    return {
        make_error("P-HOST", "a host library is given but no host provider is declared",
                   {{contract.component, fmt::format("its host library is '{}'", file_name(library)), {}}},
                   {}, "declare PIPELINK_HOST, or leave the library out")};
  if (library.empty())
    return {make_error(
        "P-HOST", "a host provider is declared but its library is not given",
        {{contract.component, fmt::format("host provider {}", contract.host->symbol), contract.host->where}},
        {}, "give HOST_SOURCES to pipelink_add_component, or --host-library to pack")};
  Outcome<std::string> bytes = read_file(library);
  if (!bytes) return bytes.diagnostics;
  contract.host->library = file_name(library);
  contract.host->sha256 = sha256_hex(*bytes);
  return {};
}

}  // namespace

Outcome<PackResult> pack(const PackOptions& options) {
  if (Diagnostics found = usage(options); !found.empty()) return found;
  Outcome<Captured> captured =
      capture(options.objects, {options.name, options.version, options.arch, options.source_root});
  if (!captured) return captured.diagnostics;
  if (Diagnostics found = add_host(captured->contract, options.host_library); !found.empty()) return found;
  Outcome<std::string> digest = write_package(options.output, captured->contract, captured->ltoir);
  if (!digest) return digest.diagnostics;
  return {PackResult{std::move(captured->contract), std::move(*digest)}, std::move(captured.diagnostics)};
}

}  // namespace pipelink
