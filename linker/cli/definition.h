// The command line: what each subcommand takes, and what its help says. Completions and the manual page are
// made of the same definition.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "linker/cli/commands.h"
#include "linker/place/solve.h"

namespace pipelink::cli {

/// What was given. Each subcommand sets `action`, which does it.
struct Arguments {
  std::string format = "text";
  PackOptions pack;
  LinkArguments link;
  std::string file, other;
  std::vector<std::string> files;
  Why why;
  bool json = false, list = false, list_files = false;
  std::uint64_t limit = place::kDefaultLimit;
  std::function<int(const Common&)> action;
};

/// Both live as long as the parse and the action.
void define(CLI::App& app, Arguments& arguments);

}  // namespace pipelink::cli
