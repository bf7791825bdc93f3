#include "sample_cubin.h"

#include <elf.h>

#include <cstdint>
#include <vector>

namespace pipelink::test {
namespace {

template <class T>
void put(std::string& out, const T& value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}

struct Section {
  std::string name, bytes;
  std::uint32_t type = SHT_PROGBITS, link = 0, info = 0;
  std::uint64_t align = 4, entry = 0, size = 0;  ///< size: of SHT_NOBITS
};

/// Name offsets in a string table.
std::uint32_t intern(std::string& table, const std::string& name) {
  const std::size_t at = table.size();
  table += name + '\0';
  return static_cast<std::uint32_t>(at);
}

void sized(std::string& out, std::uint8_t id, const std::vector<std::uint32_t>& words) {
  out += '\x04';
  put(out, id);
  put(out, static_cast<std::uint16_t>(4 * words.size()));
  for (const std::uint32_t word : words) put(out, word);
}

void plain(std::string& out, std::uint8_t form, std::uint8_t id, std::uint16_t value) {
  put(out, form);
  put(out, id);
  put(out, value);
}

}  // namespace

std::string cubin_bytes(const SampleCubin& s) {
  std::string strings(1, '\0'), symbols(sizeof(Elf64_Sym), '\0');
  for (const std::string& name : {s.kernel, s.other_function}) {
    if (name.empty()) continue;
    Elf64_Sym symbol{};
    symbol.st_name = intern(strings, name);
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_shndx = 3;
    put(symbols, symbol);
  }
  std::string common, own;
  sized(common, 0x2f, {1, static_cast<std::uint32_t>(s.registers)});
  sized(common, 0x11, {1, 0});
  sized(own, 0x05, {static_cast<std::uint32_t>(s.threads), 1, 1});
  plain(own, 2, 0x4c, static_cast<std::uint16_t>(s.barriers));
  plain(own, 3, 0x19, 64);
  if (s.sets_registers) plain(own, 1, 0x54, 0);

  std::vector<Section> sections(1);
  sections[0] = {"", "", SHT_NULL, 0, 0, 0, 0, 0};
  sections.push_back({".strtab", strings, SHT_STRTAB, 0, 0, 1, 0, 0});
  sections.push_back({".symtab", symbols, SHT_SYMTAB, 1, 1, 8, sizeof(Elf64_Sym), 0});
  sections.push_back({".text." + s.kernel, std::string(64, '\x5a'), SHT_PROGBITS, 2, 0, 128, 0, 0});
  sections.push_back({".nv.info", common, 0x70000000, 2, 0, 4, 0, 0});
  sections.push_back({".nv.info." + s.kernel, own, 0x70000000, 2, 3, 4, 0, 0});
  if (s.shared_bytes != 0)
    sections.push_back({".nv.shared." + s.kernel, "", SHT_NOBITS, 0, 3,
                        static_cast<std::uint64_t>(s.shared_align), 0,
                        static_cast<std::uint64_t>(s.shared_bytes) + 1024});
  sections.push_back(
      {".note.nv.tkinfo", "Cuda compilation tools, release 13.0, V13.0.88", SHT_NOTE, 0, 0, 4, 0, 0});
  sections.push_back({".shstrtab", "", SHT_STRTAB, 0, 0, 1, 0, 0});

  std::string names(1, '\0');
  std::vector<std::uint32_t> name_at;
  for (const Section& section : sections)
    name_at.push_back(section.name.empty() ? 0 : intern(names, section.name));
  sections.back().bytes = names;

  std::string body(sizeof(Elf64_Ehdr), '\0'), headers;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const Section& section = sections[i];
    while (section.align > 1 && section.type != SHT_NOBITS && body.size() % 8 != 0) body += '\0';
    Elf64_Shdr header{};
    header.sh_name = name_at[i];
    header.sh_type = section.type;
    header.sh_offset = body.size();
    header.sh_size = section.type == SHT_NOBITS ? section.size : section.bytes.size();
    header.sh_link = section.link;
    header.sh_info = section.info;
    header.sh_addralign = section.align;
    header.sh_entsize = section.entry;
    put(headers, header);
    body += section.bytes;
  }
  while (body.size() % 8 != 0) body += '\0';
  Elf64_Ehdr elf{};
  const unsigned char ident[] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};
  for (std::size_t i = 0; i < sizeof ident; ++i) elf.e_ident[i] = ident[i];
  elf.e_type = ET_EXEC;
  elf.e_machine = 190;  // EM_CUDA
  elf.e_version = EV_CURRENT;
  elf.e_shoff = body.size();
  elf.e_ehsize = sizeof elf;
  elf.e_shentsize = sizeof(Elf64_Shdr);
  elf.e_shnum = static_cast<std::uint16_t>(sections.size());
  elf.e_shstrndx = static_cast<std::uint16_t>(sections.size() - 1);
  std::string head;
  put(head, elf);
  return body.replace(0, head.size(), head) + headers;
}

}  // namespace pipelink::test
