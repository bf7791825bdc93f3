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
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "linker/codegen/glue.h"
#include "linker/codegen/host_header.h"
#include "linker/codegen/launch.h"
#include "linker/compose/composition_file.h"
#include "linker/link.h"
#include "packager/base/catalog.h"
#include "packager/base/render.h"
#include "packager/base/sha256.h"
#include "packager/contract/json.h"
#include "packager/package/archive.h"
#include "packager/package/package.h"
#include "tests/fuzz/composition_edits.h"
#include "tests/fuzz/slowest.h"

namespace {

using namespace pipelink;
using nlohmann::json;

constexpr std::uint64_t kWork = 2'000;  // of placement: claims are placed and verified, and less is proven

constexpr unsigned kOneOf = 4;  // inputs that are placed, one is generated, too
constexpr const char* kHeading[] = {"component", "version", "arch", "toolkit"};  // also in the manifest

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

std::optional<PackageInput> read_bytes(std::string_view bytes) {
  Outcome<Package> package = parse_package(bytes, "fuzz.plk");
  if (!ok(package)) return std::nullopt;
  return PackageInput{"fuzz.plk", "fuzz.plk", package->sha256, std::move(package->contract)};
}

/// The bytes of the contract's package; the packages' code is not looked at here.
std::string written(const json& value) {
  const Outcome<contract::Contract> contract = contract::from_json(text_of(value), "fuzz.plk");
  if (!ok(contract)) return {};
  const Outcome<std::string> bytes = package_bytes(*contract, {"code"});
  return ok(bytes) ? *bytes : std::string();
}

std::optional<PackageInput> package_of(const json& value) {
  const std::string bytes = written(value);
  if (bytes.empty()) return std::nullopt;
  return read_bytes(bytes);
}

bool same_heading(const json& a, const json& b) {
  return a.is_object() && b.is_object() &&
         std::all_of(std::begin(kHeading), std::end(kHeading), [&](const char* key) {
           return a.contains(key) && b.contains(key) && a.at(key) == b.at(key);
         });
}

/// A package with another contract in the place of its own, and the digest of it: it is parsed once.
std::optional<PackageInput> package_with(const std::vector<ArchiveMember>& members, const json& value) {
  std::vector<ArchiveMember> changed = members;
  std::string& manifest = changed[0].bytes;
  const std::string before = std::move(changed[1].bytes);
  changed[1].bytes = text_of(value);
  const auto replace = [&](const std::string& old, const std::string& with) {
    const std::size_t at = manifest.find(old);
    if (at == std::string::npos) broken("a manifest without `" + old + "`");
    manifest.replace(at, old.size(), with);
  };
  replace(sha256_hex(before), sha256_hex(changed[1].bytes));
  replace("\"size\": " + std::to_string(before.size()),
          "\"size\": " + std::to_string(changed[1].bytes.size()));
  return read_bytes(write_archive(changed));
}

/// What seeds are read to, once.
struct ReadSeed {
  std::optional<CompositionFile> file;
  std::vector<std::optional<PackageInput>> packages;
  std::vector<std::vector<ArchiveMember>> members;  ///< of the packages
};

const std::vector<ReadSeed>& read_seeds() {
  static const std::vector<ReadSeed> all = [] {
    std::vector<ReadSeed> read;
    for (const fuzz::Seed& seed : fuzz::seeds()) {
      ReadSeed& to = read.emplace_back();
      to.file = *parse_composition(text_of(seed.composition), "fuzz.json");
      for (const json& contract : seed.contracts) {
        const std::string bytes = written(contract);
        to.packages.push_back(read_bytes(bytes));
        std::string fault;
        if (!to.packages.back() || !read_archive(bytes, {}, to.members.emplace_back(), fault))
          broken("a seed is no package: " + fault);
      }
    }
    return read;
  }();
  return all;
}

enum Stage { kRun, kRead, kAssembled, kPlaced, kGenerated, kStages };
std::array<std::uint64_t, kStages> reached{};

void run(const fuzz::Case& input, bool generates) {
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
    if (c.edited && input.of_seed && same_heading(*c.value, fuzz::seeds()[c.seed].contracts[c.index]))
      package = package_with(read_seeds()[c.seed].members[c.index], *c.value);
    else if (c.edited)
      package = package_of(*c.value);
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
  if (!generates) return;
  if (!ok(glue(checked->composition, checked->bindings, checked->plan, checked->routes))) return;
  if (ok(launch_text(launch_description(checked->composition, checked->bindings, checked->plan))))
    ++reached[kGenerated];
}

void report() {
  std::fprintf(
      stderr,
      "stat::runs: %llu\nstat::read: %llu\nstat::assembled: %llu\nstat::placed: "
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
    run(input, !input.of_seed || data[size - 1] % kOneOf == 0);
  return 0;
}
