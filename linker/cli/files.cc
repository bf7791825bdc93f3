#include "linker/cli/files.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "linker/backend/loaded.h"
#include "linker/compose/composition_file.h"
#include "packager/base/file.h"

namespace pipelink::cli {
namespace {

/// Of what the composition file at `path` names. No outputs yet.
CommandFiles files_of(const std::string& path, const CompositionFile& file, bool vendor) {
  CommandFiles files{{path}, {}, vendor};
  for (const ComponentUse& use : file.components) files.inputs.push_back(package_path(path, use.package));
  return files;
}

}  // namespace

std::vector<std::string> link_outputs(const std::string& name, const std::string& arch) {
  std::vector<std::string> names;
  for (const char* suffix : {".glue.cu", ".launch", ".map.json", ".summary.txt", ".cubin"})
    names.push_back(name + "." + arch + suffix);
  return names;
}

std::vector<std::string> host_outputs(const std::string& composition) {
  return {"pipelink/" + composition + ".h", composition + ".host.cc"};
}

Outcome<HostHeaderInput> read_launches(const std::vector<std::string>& files) {
  HostHeaderInput input;
  for (const std::string& file : files) {
    Outcome<std::string> text = read_file(file);
    if (!text) return text.diagnostics;
    Result<LaunchDescription> launch = parse_launch(*text);
    if (!launch)
      return make_error("I-LAUNCH", file_name(file) + " is no launch description", {},
                        launch.error().message);
    input.composition = launch->composition;
    input.images.push_back(*launch);
  }
  return input;
}

CommandFiles files_of_pack(const PackOptions& options) {
  CommandFiles files{options.objects, {options.output}};
  if (!options.host_library.empty()) files.inputs.push_back(options.host_library);
  return files;
}

Outcome<CommandFiles> files_of_link(const LinkArguments& arguments) {
  const Outcome<CompositionFile> file = read_composition_file(arguments.composition);
  if (!file) return file.diagnostics;
  CommandFiles files = files_of(arguments.composition, *file, true);
  for (const std::string& name : link_outputs(file->name, file->arch))
    files.outputs.push_back(arguments.output + "/" + name);
  if (!arguments.timings.empty()) files.outputs.push_back(arguments.timings);
  return files;
}

Outcome<CommandFiles> files_of_check(const std::string& composition) {
  const Outcome<CompositionFile> file = read_composition_file(composition);
  if (!file) return file.diagnostics;
  return files_of(composition, *file, false);
}

Outcome<CommandFiles> files_of_host(const std::vector<std::string>& launches, const std::string& output) {
  const Outcome<HostHeaderInput> input = read_launches(launches);
  if (!input) return input.diagnostics;
  CommandFiles files{launches, {}};
  for (const std::string& name : host_outputs(input->composition))
    files.outputs.push_back(output + "/" + name);
  return files;
}

Diagnostics overwritten(const CommandFiles& files) {
  Diagnostics wrong;
  std::map<std::filesystem::path, std::string> taken;  // where links lead to → what the caller calls it
  const auto place = [](const std::string& name) {
    std::error_code lost;
    const std::filesystem::path found = std::filesystem::weakly_canonical(name, lost);
    return lost ? std::filesystem::path(name) : found;  // such as a link to itself, which writing refuses
  };
  for (const std::string& input : files.inputs) taken.emplace(place(input), "the input '" + input + "'");
  for (const std::string& output : files.outputs)
    if (const auto [other, free] = taken.emplace(place(output), "the output '" + output + "'"); !free)
      wrong.push_back(make_error("U-USAGE", "the output '" + output + "' is also " + other->second, {},
                                 "writing it would destroy the other", "give it another name or folder"));
  return wrong;
}

Outcome<std::string> files_json(const CommandFiles& files) {
  const Outcome<std::vector<std::string>> toolchain = loaded_files(files.vendor);
  if (!toolchain) return toolchain.diagnostics;
  const auto once = [](const std::vector<std::string>& names) {
    return std::set(names.begin(), names.end());
  };
  const nlohmann::ordered_json all = {
      {"inputs", once(files.inputs)}, {"outputs", once(files.outputs)}, {"toolchain", once(*toolchain)}};
  try {
    return all.dump(2) + "\n";
  } catch (const nlohmann::json::type_error&) {
    return make_error("I-FILE", "a file's name cannot be listed", {}, "it is not UTF-8", "rename the file");
  }
}

}  // namespace pipelink::cli
