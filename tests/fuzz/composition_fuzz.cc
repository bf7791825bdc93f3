// A composition and the contracts of its packages, from the bytes of the packages to the glue: whatever they
// say, a value or diagnostics with clauses of the catalog. An input is one JSON text, {"composition": …,
// "contracts": […]}.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "linker/codegen/glue.h"
#include "linker/codegen/host_header.h"
#include "linker/codegen/launch.h"
#include "linker/compose/composition_file.h"
#include "linker/link.h"
#include "packager/base/catalog.h"
#include "packager/base/render.h"
#include "packager/contract/json.h"
#include "packager/package/package.h"
#include "tests/fuzz/json_mutator.h"

namespace {

using namespace pipelink;
using nlohmann::json;

[[noreturn]] void broken(const std::string& what) {
  std::fprintf(stderr, "broken: %s\n", what.c_str());
  std::abort();
}

/// Diagnostics are complete, and can be shown in every form.
void judge(const Diagnostics& diagnostics, bool failed) {
  if (failed != has_error(diagnostics)) broken("a failure without an error, or the reverse");
  for (const Diagnostic& d : diagnostics)
    if (find_clause(d.clause) == nullptr) broken("clause `" + d.clause + "` is not in the catalog");
  render_text(diagnostics);
  render_json(diagnostics);
  render_sarif(diagnostics);
}

template <class T>
bool ok(const Outcome<T>& outcome) {
  judge(outcome.diagnostics, !outcome);
  return static_cast<bool>(outcome);
}

/// Reads what was written; the packages' code is not looked at here.
bool read_packages(const json& contracts, std::vector<PackageInput>& packages) {
  for (const json& text : contracts) {
    const Outcome<contract::Contract> contract = contract::from_json(text.dump(), "fuzz.plk");
    if (!ok(contract)) return false;
    const Outcome<std::string> bytes = package_bytes(*contract, {"code"});
    if (!ok(bytes)) return false;
    const Outcome<Package> package = parse_package(*bytes, "fuzz.plk");
    if (!ok(package)) return false;
    packages.push_back({"fuzz.plk", "fuzz.plk", package->sha256, package->contract});
  }
  return true;
}

void run(const json& input) {
  std::vector<PackageInput> packages;
  const Outcome<CompositionFile> file =
      parse_composition(input.value("composition", json::object()).dump(), "fuzz.json");
  if (!ok(file) || !read_packages(input.value("contracts", json::array()), packages)) return;
  if (packages.size() != file->components.size()) return;
  const Outcome<Composition> assembled = assemble(*file, packages);
  if (!ok(assembled)) return;
  Composition composition = *assembled;
  composition.options.limit = std::min<std::uint64_t>(composition.options.limit, 20'000);
  Timings timings;
  const Outcome<Checked> checked = check_composition(composition, timings);
  if (!ok(checked)) return;
  ok(glue(checked->composition, checked->bindings, checked->plan, checked->routes));
  ok(launch_text(launch_description(checked->composition, checked->bindings, checked->plan)));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const json input = pipelink::fuzz::parsed(data, size);
  if (input.is_object()) run(input);
  return 0;
}
