#include "packager/capture/object.h"

#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <memory>

#include "packager/base/bytes.h"
#include "packager/base/file.h"

namespace pipelink {
namespace {

Diagnostic no_object(std::string_view name, std::string reason) {
  return make_error(
      "I-OBJECT", fmt::format("'{}' is not an object with device code", name), {}, std::move(reason),
      "compile with `nvcc -fatbin -rdc=true --compress-mode=none`; pipelink_add_component does");
}

Outcome<std::vector<FatbinEntry>> parse_elf(std::string_view bytes, std::string_view name) {
  std::string copy(bytes);  // libelf wants to be able to write
  if (elf_version(EV_CURRENT) == EV_NONE) return no_object(name, "libelf is of another version");
  const std::unique_ptr<Elf, decltype(&elf_end)> elf(elf_memory(copy.data(), copy.size()), elf_end);
  std::size_t names = 0;
  if (!elf || elf_kind(elf.get()) != ELF_K_ELF || elf_getshdrstrndx(elf.get(), &names) != 0)
    return no_object(name, fmt::format("its ELF structure is damaged: {}", elf_errmsg(-1)));
  std::vector<FatbinEntry> entries;
  bool found = false;
  for (Elf_Scn* section = nullptr; (section = elf_nextscn(elf.get(), section)) != nullptr;) {
    GElf_Shdr header;
    if (gelf_getshdr(section, &header) == nullptr) return no_object(name, "a section header is damaged");
    const char* section_name = elf_strptr(elf.get(), names, header.sh_name);
    if (section_name == nullptr || std::string_view(section_name) != "__nv_relfatbin") continue;
    if (header.sh_type == SHT_NOBITS || header.sh_offset > copy.size() ||
        header.sh_size > copy.size() - header.sh_offset)
      return no_object(name, "the section __nv_relfatbin does not lie within the file");
    Outcome<std::vector<FatbinEntry>> part =
        parse_fatbin(std::string_view(copy).substr(header.sh_offset, header.sh_size), name);
    if (!part) return part;
    for (FatbinEntry& entry : *part) entries.push_back(std::move(entry));
    found = true;
  }
  if (!found) return no_object(name, "it has no section __nv_relfatbin");
  return entries;
}

}  // namespace

Outcome<std::vector<FatbinEntry>> parse_object(std::string_view bytes, std::string_view name) {
  if (load<std::uint32_t>(bytes, 0) == kFatbinMagic) return parse_fatbin(bytes, name);
  if (bytes.starts_with("\x7f"
                        "ELF"))
    return parse_elf(bytes, name);
  return no_object(name, "it is neither a fatbin nor an ELF file");
}

Outcome<std::vector<FatbinEntry>> read_object(const std::string& path) {
  const Outcome<std::string> bytes = read_file(path);
  if (!bytes) return bytes.diagnostics;
  return parse_object(*bytes, file_name(path));
}

}  // namespace pipelink
