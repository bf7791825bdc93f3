// The subcommands. Each prints results on standard output and diagnostics on standard error, and returns the
// exit status: 0 done, 1 rejected by a contract, 2 usage, input or toolchain failure.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "packager/base/outcome.h"
#include "packager/base/render.h"
#include "packager/pack/pack.h"

namespace pipelink::cli {

struct CommandFiles;
struct ToolModel;

struct Common {
  Format format = Format::kText;  ///< of diagnostics
};

/// On standard output. Text of packages and maps may hold anything; a terminal obeys control characters. Ends
/// the process with 2 if standard output takes no more: what reads it must not take half a result for a whole
/// one.
void print(std::string text);

/// Diagnostics go to standard error, in the format asked for; the exit status follows from them.
int finish(const Common& common, const Diagnostics& diagnostics);

int pack(const Common& common, const PackOptions& options);

/// What is told of a composition that holds.
struct Why {
  std::vector<std::string> names;
  bool steps = false;  ///< each step of a route
};

struct LinkArguments {
  std::string composition;
  std::string output = ".";
  std::string timings;           ///< a file for them; empty: none
  unsigned seconds = 600;        ///< for the vendor's compiler and linker
  unsigned memory_mib = 16'384;  ///< of address space, for each of them
  bool quiet = false;
  Why why;
};
int link(const Common& common, const LinkArguments& arguments);

int check(const Common& common, const std::string& composition, const Why& why);
int page(const Common& common, const std::string& map, const std::string& output);
int inspect(const Common& common, const std::string& file, bool json);
int explain(const Common& common, const std::string& clause, bool list);
int diff(const Common& common, const std::string& a, const std::string& b);
int doctor(const Common& common);
/// Of a package, or of every package of a composition.
int audit(const Common& common, const std::string& file, bool json);
int place(const Common& common, const std::string& file, bool json, std::uint64_t limit);

/// Launch descriptions of one composition's architectures → its host header and source.
int host(const Common& common, const std::vector<std::string>& launches, const std::string& output);

/// Writes the archive to `output`, or to its own name if that is empty, and prints where.
int repro(const Common& common, const std::string& composition, const std::string& output);

/// Prints them as JSON: files.h.
int list_files(const Common& common, const Outcome<CommandFiles>& files);

int completion(const Common& common, const ToolModel& tool, const std::string& shell);
int manual(const ToolModel& tool);

}  // namespace pipelink::cli
