#include "packager/capture/fatbin.h"

#include <fmt/format.h>

#include <cstring>

#include "packager/base/bytes.h"

namespace pipelink {
namespace {

struct ContainerHeader {
  std::uint32_t magic;
  std::uint16_t version;
  std::uint16_t header_size;
  std::uint64_t size;  // of what follows
};
static_assert(sizeof(ContainerHeader) == 16);

struct EntryHeader {
  std::uint16_t kind;
  std::uint16_t version;
  std::uint32_t header_size;
  std::uint64_t size;  // of the payload, padded
  std::uint32_t compressed_size;
  std::uint32_t options_offset;
  std::uint16_t minor, major;
  std::uint32_t arch;
  std::uint32_t name_offset, name_size;
  std::uint64_t flags;
};
static_assert(sizeof(EntryHeader) == 48);

constexpr std::uint64_t kCompressedFlags = 0x8000 | 0x2000;
constexpr std::uint64_t kArchSpecificFlag = 0x100000;
constexpr std::uint64_t kFamilyFlag = 0x200000;
constexpr std::size_t kMaxEntries = 4096;

Diagnostic damaged(std::string_view name, std::string reason) {
  return make_error("I-OBJECT", fmt::format("the fatbin in '{}' is damaged", name), {}, std::move(reason));
}

std::string arch_name(const EntryHeader& header) {
  const char* suffix = (header.flags & kArchSpecificFlag) != 0 ? "a"
                       : (header.flags & kFamilyFlag) != 0     ? "f"
                                                               : "";
  return fmt::format("sm_{}{}", header.arch, suffix);
}

bool all_zero(std::string_view bytes) {
  return bytes.find_first_not_of('\0') == std::string_view::npos;
}

class Reader {
 public:
  Reader(std::string_view name, std::vector<FatbinEntry>& entries) : name_(name), entries_(entries) {}

  /// Reads one container at the front of `rest` and removes it; false after a fault.
  bool container(std::string_view& rest) {
    const auto header = load<ContainerHeader>(rest, 0);
    if (!header)
      return fail(fmt::format("{} bytes remain, a header has {}", rest.size(), sizeof(ContainerHeader)));
    if (header->magic != kFatbinMagic)
      return fail(fmt::format("the magic number is 0x{:08x}", header->magic));
    if (header->version != 1) return fail(fmt::format("the container's version is {}", header->version));
    if (header->header_size < sizeof(ContainerHeader) || header->header_size > rest.size() ||
        header->size > rest.size() - header->header_size)
      return fail(fmt::format("the container states {} + {} bytes, {} are there", header->header_size,
                              header->size, rest.size()));
    std::string_view body = rest.substr(header->header_size, header->size);
    rest.remove_prefix(header->header_size + header->size);
    while (!body.empty())
      if (!entry(body)) return false;
    return true;
  }

  Diagnostic fault;

 private:
  bool fail(std::string reason) {
    fault = damaged(name_, std::move(reason));
    return false;
  }

  bool entry(std::string_view& body) {
    if (entries_.size() >= kMaxEntries) return fail(fmt::format("it has more than {} entries", kMaxEntries));
    const auto header = load<EntryHeader>(body, 0);
    if (!header)
      return fail(fmt::format("{} bytes remain, an entry's header has {}", body.size(), sizeof(EntryHeader)));
    if (header->version != 0x101) return fail(fmt::format("an entry's version is 0x{:x}", header->version));
    if (header->header_size < sizeof(EntryHeader) || header->header_size > body.size() ||
        header->size > body.size() - header->header_size)
      return fail(fmt::format("an entry states {} + {} bytes, {} are there", header->header_size,
                              header->size, body.size()));
    if (header->arch == 0 || header->arch > 9999)
      return fail(fmt::format("an entry's architecture is {}", header->arch));
    const std::string_view payload = body.substr(header->header_size, header->size);
    body.remove_prefix(header->header_size + header->size);
    const bool wanted = header->kind == static_cast<int>(FatbinKind::kPtx) ||
                        header->kind == static_cast<int>(FatbinKind::kLtoir);
    if (wanted && (header->flags & kCompressedFlags) != 0) {
      fault = make_error("I-OBJECT", fmt::format("the device code in '{}' is compressed", name_), {},
                         "nvcc scrambles link-time code that it compresses, so that it cannot be read back",
                         "compile with --compress-mode=none; pipelink_add_component does");
      return false;
    }
    entries_.push_back({header->kind, arch_name(*header), header->flags, std::string(payload)});
    return true;
  }

  std::string_view name_;
  std::vector<FatbinEntry>& entries_;
};

}  // namespace

Outcome<std::vector<FatbinEntry>> parse_fatbin(std::string_view bytes, std::string_view name) {
  std::vector<FatbinEntry> entries;
  Reader reader(name, entries);
  do {
    if (!reader.container(bytes)) return reader.fault;
  } while (!all_zero(bytes));
  return entries;
}

}  // namespace pipelink
