#include "linker/backend/cubin.h"

#include <fmt/format.h>
#include <gelf.h>
#include <libelf.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

namespace pipelink {
namespace {

// Attributes of .nv.info, and the forms in which a value is stored. Read off cubins of CUDA 13.0.
enum : unsigned { kNoValue = 1, kByteValue = 2, kHalfValue = 3, kSizedValue = 4 };
enum : unsigned {
  kMaxThreads = 0x05,
  kFrameSize = 0x11,
  kParameterBytes = 0x19,
  kRegisterCount = 0x2f,
  kBarrierCount = 0x4c,
  kSetsRegisters = 0x54
};

constexpr std::int64_t kReservedShared = 1024;

struct Attribute {
  unsigned id = 0;
  unsigned value = 0;                ///< byte and half values
  std::vector<std::uint32_t> words;  ///< sized values
};

std::optional<std::vector<Attribute>> attributes(std::string_view bytes) {
  std::vector<Attribute> out;
  for (std::size_t at = 0; at < bytes.size();) {
    if (bytes.size() - at < 4) return std::nullopt;
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[at + i]); };
    Attribute attribute;
    attribute.id = byte(1);
    const unsigned form = byte(0), half = byte(2) | static_cast<unsigned>(byte(3)) << 8;
    at += 4;
    if (form == kSizedValue) {
      if (bytes.size() - at < half) return std::nullopt;
      for (unsigned i = 0; i + 4 <= half; i += 4) {
        std::uint32_t word;
        std::memcpy(&word, bytes.data() + at + i, 4);
        attribute.words.push_back(word);
      }
      at += half;
    } else if (form == kByteValue) {
      attribute.value = half & 0xff;
    } else if (form == kHalfValue) {
      attribute.value = half;
    } else if (form != kNoValue) {
      return std::nullopt;
    }
    out.push_back(std::move(attribute));
  }
  return out;
}

struct ElfEnd {
  void operator()(Elf* elf) const { elf_end(elf); }
};

struct Section {
  std::string name;
  GElf_Shdr header{};
  std::string_view bytes;
  Elf_Scn* handle = nullptr;
};

std::vector<Section> sections(Elf* elf, std::string_view file) {
  std::vector<Section> out;
  std::size_t names = 0;
  if (elf_getshdrstrndx(elf, &names) != 0) return out;
  for (Elf_Scn* s = elf_nextscn(elf, nullptr); s != nullptr; s = elf_nextscn(elf, s)) {
    Section section;
    section.handle = s;
    if (gelf_getshdr(s, &section.header) == nullptr) continue;
    const char* name = elf_strptr(elf, names, section.header.sh_name);
    section.name = name == nullptr ? "" : name;
    const GElf_Shdr& h = section.header;
    if (h.sh_type != SHT_NOBITS && h.sh_offset <= file.size() && h.sh_size <= file.size() - h.sh_offset)
      section.bytes = file.substr(h.sh_offset, h.sh_size);
    out.push_back(std::move(section));
  }
  return out;
}

/// The release in the note that ptxas leaves: "… release 13.0, V13.0.88".
std::string release_of(std::string_view note) {
  const std::size_t at = note.find("release ");
  if (at == std::string_view::npos) return {};
  std::size_t end = at + 8;
  while (end < note.size() && (note[end] == '.' || (note[end] >= '0' && note[end] <= '9'))) ++end;
  return std::string(note.substr(at + 8, end - at - 8));
}

Diagnostic damaged(std::string reason) {
  Diagnostic d;
  d.clause = "I-CUBIN";
  d.title = "the cubin cannot be read";
  d.reason = std::move(reason);
  return d;
}

}  // namespace

Outcome<CubinFacts> read_cubin(std::string_view bytes, std::string_view kernel) {
  if (elf_version(EV_CURRENT) == EV_NONE) return damaged("libelf is older than this linker");
  std::string copy(bytes);  // libelf wants a writable image
  const std::unique_ptr<Elf, ElfEnd> elf(elf_memory(copy.data(), copy.size()));
  if (elf == nullptr || elf_kind(elf.get()) != ELF_K_ELF) return damaged("it is no ELF file");

  CubinFacts facts;
  std::uint32_t kernel_symbol = 0;
  const std::vector<Section> all = sections(elf.get(), copy);
  for (const Section& s : all) {
    if (s.header.sh_type != SHT_SYMTAB || s.header.sh_entsize == 0) continue;
    Elf_Data* data = elf_getdata(s.handle, nullptr);
    for (int i = 0; data != nullptr && i < static_cast<int>(s.header.sh_size / s.header.sh_entsize); ++i) {
      GElf_Sym symbol;
      if (gelf_getsym(data, i, &symbol) == nullptr || GELF_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      const char* name = elf_strptr(elf.get(), s.header.sh_link, symbol.st_name);
      if (name == nullptr) continue;
      facts.functions.emplace_back(name);
      if (name == kernel) {
        facts.has_kernel = true;
        kernel_symbol = static_cast<std::uint32_t>(i);
      }
    }
  }
  std::sort(facts.functions.begin(), facts.functions.end());

  const std::string suffix = "." + std::string(kernel);
  for (const Section& s : all) {
    if (s.name == ".text" + suffix) facts.text = std::string(s.bytes);
    if (s.name == ".nv.shared" + suffix) {
      // From sm_90 on the section begins with what the system takes for itself.
      facts.shared_bytes = static_cast<std::int64_t>(s.header.sh_size) - kReservedShared;
      facts.shared_align = static_cast<std::int64_t>(s.header.sh_addralign);
    }
    if (s.name == ".note.nv.tkinfo") facts.toolkit = release_of(s.bytes);
    if (s.name != ".nv.info" && s.name != ".nv.info" + suffix) continue;
    const auto list = attributes(s.bytes);
    if (!list) return damaged(fmt::format("section {} is malformed", s.name));
    for (const Attribute& a : *list) {
      const bool of_kernel = a.words.size() >= 2 && a.words[0] == kernel_symbol;
      if (a.id == kRegisterCount && of_kernel) facts.registers = static_cast<int>(a.words[1]);
      if (a.id == kFrameSize && of_kernel) facts.stack_bytes = static_cast<int>(a.words[1]);
      if (a.id == kBarrierCount) facts.barriers = static_cast<int>(a.value);
      if (a.id == kParameterBytes) facts.parameter_bytes = a.value;
      if (a.id == kSetsRegisters) facts.sets_registers = true;
      if (a.id == kMaxThreads && a.words.size() == 3)
        facts.max_threads = static_cast<int>(a.words[0] * a.words[1] * a.words[2]);
    }
  }
  return facts;
}

}  // namespace pipelink
