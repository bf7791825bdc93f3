// What a command reads and writes, said without running it: for launchers that cache it or run it elsewhere.
#pragma once

#include <string>
#include <vector>

#include "linker/cli/commands.h"
#include "linker/codegen/host_header.h"
#include "packager/base/outcome.h"

namespace pipelink::cli {

/// Paths as the command opens them: relative where they were given so.
struct CommandFiles {
  std::vector<std::string> inputs, outputs;
  bool vendor = false;  ///< whether it loads NVRTC and nvJitLink
};

/// What a link writes into its folder: glue, launch description, map, summary, cubin.
std::vector<std::string> link_outputs(const std::string& name, const std::string& arch);

/// What `host` writes into its folder: header, source.
std::vector<std::string> host_outputs(const std::string& composition);

/// I-FILE, I-LAUNCH.
Outcome<HostHeaderInput> read_launches(const std::vector<std::string>& files);

CommandFiles files_of_pack(const PackOptions& options);
/// The composition file is read; its packages need not be there yet. I-FILE, I-JSON, I-FORMAT, I-COMPOSITION.
Outcome<CommandFiles> files_of_link(const LinkArguments& arguments);
Outcome<CommandFiles> files_of_check(const std::string& composition);
/// The launch descriptions are read.
Outcome<CommandFiles> files_of_host(const std::vector<std::string>& launches, const std::string& output);

/// U-USAGE for an output that is one of the inputs, or another output.
Diagnostics overwritten(const CommandFiles& files);

/// {"inputs":[…],"outputs":[…],"toolchain":[…]}, each sorted, once; `toolchain` is the tool with the
/// libraries that it loads. I-FILE for a name that is no UTF-8; T-TOOLKIT, T-CHILD.
Outcome<std::string> files_json(const CommandFiles& files);

}  // namespace pipelink::cli
