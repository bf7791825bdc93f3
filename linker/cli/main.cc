// The command line: what each subcommand takes. What they do is in commands.cc.
#include <CLI/CLI.hpp>
#include <functional>

#include "linker/cli/commands.h"
#include "linker/place/solve.h"
#include "linker/version.h"

namespace {

using pipelink::cli::Common;
namespace cli = pipelink::cli;

using Action = std::function<int(const Common&)>;

/// An empty name would mean the root of the file system.
std::string has_a_name(const std::string& folder) {
  return folder.empty() ? "the folder's name is empty" : "";
}

void add_pack(CLI::App& app, pipelink::PackOptions& options, Action& action) {
  CLI::App* command = app.add_subcommand("pack", "Make a package of a component's objects");
  command->add_option("--name", options.name, "The component's name, as in PIPELINK_COMPONENT")->required();
  command->add_option("--version", options.version, "The package's version")->required();
  command->add_option("--arch", options.arch, "A real architecture, e.g. sm_90a")->required();
  command->add_option("-o,--output", options.output, "The package to write: NAME.ARCH.plk")->required();
  command->add_option("--host-library", options.host_library,
                      "The static library of the component's host provider");
  command->add_option("--source-root", options.source_root,
                      "Taken off the file names that annotations recorded");
  command->add_option("objects", options.objects, "What nvcc -fatbin (or -c) made, with LTO-IR and PTX")
      ->required();
  command->callback([&] { action = [&](const Common& common) { return cli::pack(common, options); }; });
}

void add_link(CLI::App& app, cli::LinkArguments& arguments, Action& action) {
  CLI::App* command = app.add_subcommand("link", "Link a composition into one kernel");
  command->add_option("composition", arguments.composition, "COMPOSITION.json")->required();
  command
      ->add_option("-o,--output", arguments.output,
                   "Folder for NAME.ARCH.cubin, .map.json, .glue.cu, .launch and .summary.txt")
      ->check(has_a_name)
      ->capture_default_str();
  command->add_option("--timings", arguments.timings, "Write how long each pass took, as JSON");
  command->add_flag("--quiet", arguments.quiet, "Do not print the link map's summary");
  command->callback([&] { action = [&](const Common& common) { return cli::link(common, arguments); }; });
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app(
      "PipeLink links separately compiled GPU kernel components into one fused kernel, guided by contracts.",
      "pipelink");
  app.set_version_flag("--version", pipelink::kVersion);
  app.require_subcommand(1);
  app.fallthrough();
  app.footer("Exit status: 0 done; 1 rejected by a contract; 2 usage, input or toolchain failure.");
  std::string format = "text";
  app.add_option("--format", format, "Diagnostics, and what explain says, as text, json or sarif")
      ->capture_default_str();

  Action action;
  pipelink::PackOptions pack;
  add_pack(app, pack, action);
  cli::LinkArguments link;
  add_link(app, link, action);

  std::string file, other;
  std::vector<std::string> files, why;
  bool json = false, list = false;
  std::uint64_t limit = pipelink::place::kDefaultLimit;
  CLI::App* check = app.add_subcommand("check", "Bind, check and place a composition, without linking it");
  check->add_option("composition", file, "COMPOSITION.json")->required();
  check->add_option("--why", why,
                    "Say why this ring is not deeper, or why this role has no more registers (OWNER.NAME)");
  check->callback([&] { action = [&](const Common& common) { return cli::check(common, file, why); }; });

  CLI::App* inspect = app.add_subcommand("inspect", "Show a package or a link map");
  inspect->add_option("file", file, "FILE.plk or FILE.map.json")->required();
  CLI::Option* as_json = inspect->add_flag("--json", json, "As JSON");
  inspect->add_option("--html", other, "Write a link map as a page to this file")->excludes(as_json);
  inspect->callback([&] {
    action = [&](const Common& common) {
      return other.empty() ? cli::inspect(common, file, json) : cli::page(common, file, other);
    };
  });

  CLI::App* audit = app.add_subcommand("audit", "Hold contracts against what the code does");
  audit->add_option("file", file, "FILE.plk, or COMPOSITION.json for all its packages")->required();
  audit->add_flag("--json", json, "As JSON");
  audit->callback([&] { action = [&](const Common& common) { return cli::audit(common, file, json); }; });

  CLI::App* explain = app.add_subcommand("explain", "Explain a clause");
  CLI::Option* clause = explain->add_option("clause", file, "An id, e.g. L-REGS");
  explain->add_flag("--list", list, "All clauses")->excludes(clause);
  explain->callback([&] { action = [&](const Common& common) { return cli::explain(common, file, list); }; });

  CLI::App* diff = app.add_subcommand("diff", "What differs between the contracts of two packages");
  diff->add_option("a", file, "A.plk")->required();
  diff->add_option("b", other, "B.plk")->required();
  diff->callback([&] { action = [&](const Common& common) { return cli::diff(common, file, other); }; });

  CLI::App* place = app.add_subcommand("place", "Solve a placement instance alone");
  place->add_option("file", file, "FILE.pl")->required();
  place->add_flag("--json", json, "As JSON");
  place->add_option("--limit", limit, "Work limit, in units")->capture_default_str();
  place->callback(
      [&] { action = [&](const Common& common) { return cli::place(common, file, json, limit); }; });

  CLI::App* host = app.add_subcommand("host", "Make the host header and source of a linked composition");
  host->add_option("launch", files, "NAME.ARCH.launch of each architecture")->required();
  host->add_option("-o,--output", other, "Folder for pipelink/NAME.h and NAME.host.cc")
      ->required()
      ->check(has_a_name);
  host->callback([&] { action = [&](const Common& common) { return cli::host(common, files, other); }; });

  app.add_subcommand("doctor", "Check the toolchain")->callback([&] {
    action = [](const Common& common) { return cli::doctor(common); };
  });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  Common common;
  if (!pipelink::parse_format(format, common.format)) {
    std::fprintf(stderr, "error[U-USAGE]: --format is text, json or sarif, not '%s'\n", format.c_str());
    return 2;
  }
  return action(common);
}
