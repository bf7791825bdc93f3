#include "packager/package/archive.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

namespace pipelink {
namespace {

using Entry = std::unique_ptr<archive_entry, decltype(&archive_entry_free)>;
using Writer = std::unique_ptr<archive, decltype(&archive_write_free)>;
using Reader = std::unique_ptr<archive, decltype(&archive_read_free)>;

la_ssize_t append_bytes(archive*, void* out, const void* bytes, std::size_t size) {
  static_cast<std::string*>(out)->append(static_cast<const char*>(bytes), size);
  return static_cast<la_ssize_t>(size);
}

/// Memory is the only thing that can be missing here.
void must(int status) {
  if (status != ARCHIVE_OK) std::abort();
}

bool read_members(archive* reader, std::uint64_t total, const ArchiveLimits& limits,
                  std::vector<ArchiveMember>& members, std::string& fault) {
  const auto library = [&] {
    const char* text = archive_error_string(reader);
    fault = text != nullptr ? text : "it is no archive";
    return false;
  };
  while (true) {
    archive_entry* entry = nullptr;
    const int status = archive_read_next_header(reader, &entry);
    if (status == ARCHIVE_EOF) return true;
    if (status != ARCHIVE_OK) return library();
    if (archive_format(reader) != ARCHIVE_FORMAT_TAR_USTAR) {
      fault = "it is not in ustar format";
      return false;
    }
    const char* name = archive_entry_pathname(entry);
    const la_int64_t size = archive_entry_size(entry);
    if (members.size() >= limits.members) {
      fault = fmt::format("it has more than {} members", limits.members);
      return false;
    }
    if (name == nullptr || archive_entry_filetype(entry) != AE_IFREG) {
      fault = "a member is not a regular file";
      return false;
    }
    if (size < 0 || static_cast<std::uint64_t>(size) > std::min(total, limits.member_size)) {
      fault = fmt::format("a member states {} bytes", size);
      return false;
    }
    ArchiveMember member{name, std::string(static_cast<std::size_t>(size), '\0')};
    std::size_t have = 0;
    while (have < member.bytes.size()) {
      const la_ssize_t got =
          archive_read_data(reader, member.bytes.data() + have, member.bytes.size() - have);
      if (got < 0) return library();
      if (got == 0) {
        fault = fmt::format("member '{}' is cut short", member.name);
        return false;
      }
      have += static_cast<std::size_t>(got);
    }
    members.push_back(std::move(member));
  }
}

}  // namespace

std::string write_archive(const std::vector<ArchiveMember>& members) {
  std::string bytes;
  Writer writer(archive_write_new(), archive_write_free);
  must(archive_write_set_format_ustar(writer.get()));
  must(archive_write_add_filter_none(writer.get()));
  must(archive_write_set_bytes_in_last_block(writer.get(), 1));
  must(archive_write_open(writer.get(), &bytes, nullptr, append_bytes, nullptr));
  for (const ArchiveMember& member : members) {
    Entry entry(archive_entry_new(), archive_entry_free);
    archive_entry_set_pathname(entry.get(), member.name.c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(member.bytes.size()));
    archive_entry_set_mtime(entry.get(), 0, 0);
    must(archive_write_header(writer.get(), entry.get()));
    if (archive_write_data(writer.get(), member.bytes.data(), member.bytes.size()) !=
        static_cast<la_ssize_t>(member.bytes.size()))
      std::abort();
  }
  must(archive_write_close(writer.get()));
  return bytes;
}

bool read_archive(std::string_view bytes, const ArchiveLimits& limits, std::vector<ArchiveMember>& members,
                  std::string& fault) {
  Reader reader(archive_read_new(), archive_read_free);
  must(archive_read_support_format_tar(reader.get()));
  must(archive_read_support_filter_none(reader.get()));
  if (archive_read_open_memory(reader.get(), bytes.data(), bytes.size()) != ARCHIVE_OK) {
    fault = "it is no archive";
    return false;
  }
  if (!read_members(reader.get(), bytes.size(), limits, members, fault)) return false;
  for (const ArchiveMember& member : members)  // a name that this writer would refuse cannot be compared
    if (member.name.empty() || member.name.size() > 100 || member.name.find('\0') != std::string::npos) {
      fault = "a member has no proper name";
      return false;
    }
  if (write_archive(members) == bytes) return true;
  fault = "its headers or its padding are not those that PipeLink writes";
  return false;
}

}  // namespace pipelink
