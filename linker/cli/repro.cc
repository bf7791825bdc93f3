#include "linker/cli/repro.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "linker/backend/lower.h"
#include "linker/compose/composition_file.h"
#include "linker/version.h"
#include "packager/base/file.h"
#include "packager/package/archive.h"

namespace pipelink::cli {
namespace {

constexpr std::size_t kMaxName = 100;  // bytes, of a member of an ustar archive without its folder

/// `text` with the paths of packages replaced by those in the archive; everything else stays where it is.
std::string with_paths(const std::string& text, const std::string& composition, const CompositionFile& file,
                       const std::map<std::string, std::string>& inside) {
  std::string out;
  std::size_t at = 0, line_start = 0;
  int line = 1;
  for (const ComponentUse& use : file.components) {  // in the order of the file
    for (; line < use.package_line; ++line) line_start = text.find('\n', line_start) + 1;
    const std::size_t open = line_start + static_cast<std::size_t>(use.package_column) - 1;
    std::size_t close = open + 1;
    while (text[close] != '"') close += text[close] == '\\' ? 2 : 1;
    out += text.substr(at, open + 1 - at) + inside.at(package_path(composition, use.package));
    at = close;
  }
  return out + text.substr(at);
}

Diagnostic unfit(const std::string& path, const std::string& reason) {
  return make_error("I-FILE", fmt::format("'{}' cannot be put into an archive", path), {}, reason,
                    "rename the file");
}

/// What an archive can hold, and what needs no escapes in JSON.
Diagnostics unfit_names(const std::vector<std::string>& paths) {
  Diagnostics faults;
  for (const std::string& path : paths) {
    const std::string name = file_name(path);
    const auto plain = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\'; };
    if (name.size() > kMaxName)
      faults.push_back(
          unfit(path, fmt::format("its name has {} bytes, the bound is {}", name.size(), kMaxName)));
    else if (!std::all_of(name.begin(), name.end(), plain))
      faults.push_back(unfit(path, "its name has a quote, a backslash or a control character"));
  }
  return faults;
}

std::string shell_word(const std::string& text) {
  std::string word = "'";
  for (char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

}  // namespace

Outcome<Repro> reproduction(const std::string& composition) {
  const Outcome<std::string> text = read_file(composition, kMaxCompositionSize);
  if (!text) return text.diagnostics;
  const std::string name = file_name(composition);
  const Outcome<CompositionFile> file = parse_composition(*text, name);
  if (!file) return file.diagnostics;

  std::map<std::string, std::string> inside;  // path as opened → path in the archive; sorted alike
  std::vector<std::string> paths = {composition};
  for (const ComponentUse& use : file->components) inside[package_path(composition, use.package)];
  for (const auto& [path, unused] : inside) paths.push_back(path);
  Diagnostics faults = unfit_names(paths);

  const std::string folder = fmt::format("{}.{}.repro", file->name, file->arch);
  const ToolchainStatus toolchain = toolchain_status();
  std::vector<ArchiveMember> members(2);
  int number = 0;
  for (auto& [path, place] : inside) {
    const std::string member = fmt::format("packages/{:03}/{}", number++, file_name(path));
    place = "../" + member;
    Outcome<std::string> bytes = read_file(path);
    append(faults, bytes.diagnostics);
    if (bytes) members.push_back({folder + "/" + member, std::move(*bytes)});
  }
  if (has_error(faults)) return faults;
  const std::string versions =
      toolchain.error.empty() ? fmt::format("NVRTC {}, nvJitLink {}", toolchain.nvrtc, toolchain.nvjitlink)
                              : "no CUDA toolkit";
  members[0] = {folder + "/README",
                fmt::format("Made by pipelink {} with {}. In this folder:\n  pipelink link {} -o out\n",
                            kVersion, versions, shell_word("composition/" + name))};
  members[1] = {folder + "/composition/" + name, with_paths(*text, composition, *file, inside)};
  return Repro{folder + ".tar", write_archive(members)};
}

}  // namespace pipelink::cli
