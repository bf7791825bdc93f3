// A composition and the contracts of its packages, from the bytes of the packages to the glue: whatever they
// say, a value or diagnostics with clauses of the catalog. composition_edits.h says what an input is.
//
// What a reader refuses is judged and then taken as the seed has it, so that the passes behind it have work
// in nearly every run; how many runs came how far is printed at the end. PIPELINK_FUZZ_SHOW=1 prints the
// inputs as JSON and runs none.
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include "linker/codegen/glue.h"
#include "linker/codegen/host_header.h"
#include "linker/codegen/launch.h"
#include "linker/compose/composition_file.h"
#include "linker/link.h"
#include "packager/base/catalog.h"
#include "packager/base/render.h"
#include "packager/contract/json.h"
#include "packager/package/package.h"
#include "tests/fuzz/composition_edits.h"
#include "tests/fuzz/slowest.h"

namespace {

using namespace pipelink;
using nlohmann::json;

constexpr std::uint64_t kWork = 2'000;  // of placement: claims are placed and verified, and less is proven

[[noreturn]] void broken(const std::string& what) {
  std::fprintf(stderr, "broken: %s\n", what.c_str());
  std::abort();
}

/// Diagnostics are complete, and can be shown in every form.
void judge(const Diagnostics& diagnostics, bool failed) {
  if (failed != has_error(diagnostics)) broken("a failure without an error, or the reverse");
  if (diagnostics.empty()) return;
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

std::string text_of(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

/// Writes a package of the contract and reads it; the packages' code is not looked at here.
std::optional<PackageInput> package_of(const json& value) {
  const Outcome<contract::Contract> contract = contract::from_json(text_of(value), "fuzz.plk");
  if (!ok(contract)) return std::nullopt;
  const Outcome<std::string> bytes = package_bytes(*contract, {"code"});
  if (!ok(bytes)) return std::nullopt;
  Outcome<Package> package = parse_package(*bytes, "fuzz.plk");
  if (!ok(package)) return std::nullopt;
  return PackageInput{"fuzz.plk", "fuzz.plk", package->sha256, std::move(package->contract)};
}

/// What seeds are read to, once.
struct ReadSeed {
  std::optional<CompositionFile> file;
  std::vector<std::optional<PackageInput>> packages;
};

const std::vector<ReadSeed>& read_seeds() {
  static const std::vector<ReadSeed> all = [] {
    std::vector<ReadSeed> read;
    for (const fuzz::Seed& seed : fuzz::seeds()) {
      ReadSeed& to = read.emplace_back();
      to.file = *parse_composition(text_of(seed.composition), "fuzz.json");
      for (const json& contract : seed.contracts) to.packages.push_back(package_of(contract));
    }
    return read;
  }();
  return all;
}

enum Stage { kRun, kRead, kAssembled, kPlaced, kGenerated, kStages };
std::array<std::uint64_t, kStages> reached{};

void run(const fuzz::Case& input) {
  ++reached[kRun];
  const ReadSeed* seed = input.of_seed ? &read_seeds()[input.seed] : nullptr;
  bool changed = !input.of_seed || input.contracts.size() != seed->packages.size();
  std::optional<CompositionFile> file;
  if (seed == nullptr || input.composition_edited) {
    Outcome<CompositionFile> read = parse_composition(text_of(*input.composition), "fuzz.json");
    if (ok(read)) {
      file = std::move(*read.value);
      changed = true;
    }
  }
  if (!file) {
    if (seed == nullptr) return;
    file = seed->file;
  }
  std::vector<PackageInput> packages;
  for (const fuzz::ContractCase& c : input.contracts) {
    std::optional<PackageInput> package;
    if (c.edited) package = package_of(*c.value);
    changed = changed || package;
    if (!package) {
      if (!input.of_seed) return;
      package = read_seeds()[c.seed].packages[c.index];
    }
    packages.push_back(std::move(*package));
  }
  if (!changed || packages.size() != file->components.size()) return;
  ++reached[kRead];
  const Outcome<Composition> assembled = assemble(*file, packages);
  if (!ok(assembled)) return;
  ++reached[kAssembled];
  Composition composition = *assembled;
  composition.options.limit = std::min<std::uint64_t>(composition.options.limit, kWork);
  Timings timings;
  const Outcome<Checked> checked = check_composition(std::move(composition), timings);
  if (!ok(checked)) return;
  ++reached[kPlaced];
  if (!ok(glue(checked->composition, checked->bindings, checked->plan, checked->routes))) return;
  if (ok(launch_text(launch_description(checked->composition, checked->bindings, checked->plan))))
    ++reached[kGenerated];
}

void report() {
  std::fprintf(
      stderr,
      "stat::runs: %llu\nstat::bound_and_checked: %llu\nstat::assembled: %llu\nstat::placed: "
      "%llu\nstat::generated: %llu\n",
      static_cast<unsigned long long>(reached[kRun]), static_cast<unsigned long long>(reached[kRead]),
      static_cast<unsigned long long>(reached[kAssembled]), static_cast<unsigned long long>(reached[kPlaced]),
      static_cast<unsigned long long>(reached[kGenerated]));
}

bool shows = false;

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  pipelink::fuzz::load_seeds(PIPELINK_FUZZ_SEEDS);
  read_seeds();
  shows = std::getenv("PIPELINK_FUZZ_SHOW") != nullptr;
  std::atexit(report);
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const pipelink::fuzz::Timed timed;
  pipelink::fuzz::Case input;
  if (!pipelink::fuzz::make_case(data, size, input)) return 0;
  if (shows)
    std::puts(input.text().c_str());
  else
    run(input);
  return 0;
}
