#include "linker/backend/loaded.h"

#include <link.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>

#include "linker/backend/child.h"
#include "linker/backend/lower.h"
#include "linker/backend/vendor.h"

namespace pipelink {
namespace {

using nlohmann::json;

int note_file(dl_phdr_info* info, std::size_t, void* files) {
  const std::string name = info->dlpi_name == nullptr ? "" : info->dlpi_name;
  if (name.find('/') != std::string::npos)  // neither the executable nor what the kernel itself maps
    static_cast<std::set<std::string>*>(files)->insert(name);
  return 0;
}

}  // namespace

Outcome<std::vector<std::string>> loaded_files(bool vendor) {
  const ChildResult child = run_in_child({60, 0}, [vendor] {
    Nvrtc nvrtc;
    NvJitLink nvjitlink;
    std::string error;
    if (vendor && !(Nvrtc::load(nvrtc, error) && NvJitLink::load(nvjitlink, error)))
      return json{{"error", error}}.dump();
    std::set<std::string> files;
    std::error_code unknown;
    files.insert(std::filesystem::read_symlink("/proc/self/exe", unknown).string());
    if (unknown) return json{{"error", "the executable's own path is unknown: " + unknown.message()}}.dump();
    dl_iterate_phdr(note_file, &files);
    return json{{"files", files}}.dump();
  });
  const json reply = json::parse(child.bytes, nullptr, false);
  if (!child.finished || !reply.is_object())
    return make_error("T-CHILD", "the files that the tool loads cannot be listed", {}, child.death);
  if (reply.contains("error"))
    return make_error("T-TOOLKIT", "the CUDA toolkit's libraries cannot be used", {},
                      reply.value("error", ""), "`pipelink doctor` shows what was found");
  return reply.at("files").get<std::vector<std::string>>();
}

}  // namespace pipelink
