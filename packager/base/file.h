// Whole files, with bounds and without half-written results.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "packager/base/outcome.h"

namespace pipelink {

inline constexpr std::uint64_t kMaxFileSize = std::uint64_t{1} << 30;

/// The whole of a regular file. I-FILE if it is absent, unreadable, no file or larger than `limit`.
Outcome<std::string> read_file(const std::string& path, std::uint64_t limit = kMaxFileSize);

/// Writes under a temporary name in the same directory, then renames. Missing directories are made. I-WRITE.
/// Value: true.
Outcome<bool> write_file(const std::string& path, std::string_view bytes);

/// As write_file, but leaves a file with the same bytes alone. Value: whether it was written.
Outcome<bool> write_file_if_changed(const std::string& path, std::string_view bytes);

/// The part after the last '/'.
std::string file_name(std::string_view path);

/// `path` without `root` if it lies under it; a relative path as it is; else only the file name. So no
/// machine path gets into an output.
std::string portable_path(std::string_view path, std::string_view root = {});

}  // namespace pipelink
