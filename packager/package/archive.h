// A plain ustar archive of small, named members, in memory; nothing else of tar.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pipelink {

struct ArchiveMember {
  std::string name;
  std::string bytes;
};

/// The archive's bytes: mode 0644, all other metadata zero. The same members give the same bytes.
std::string write_archive(const std::vector<ArchiveMember>& members);

struct ArchiveLimits {
  std::size_t members = 258;
  std::uint64_t member_size = std::uint64_t{1} << 30;
};

/// The members, in order. Only what write_archive writes is accepted, byte for byte; `fault` says why it is
/// not.
bool read_archive(std::string_view bytes, const ArchiveLimits& limits, std::vector<ArchiveMember>& members,
                  std::string& fault);

}  // namespace pipelink
