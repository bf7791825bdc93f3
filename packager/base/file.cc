#include "packager/base/file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

namespace pipelink {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

std::string errno_text() {
  return std::generic_category().message(errno);
}

Diagnostic unreadable(const std::string& path, std::string reason) {
  return make_error("I-FILE", fmt::format("cannot read '{}'", path), {}, std::move(reason));
}

Diagnostic unwritable(const std::string& path, std::string reason) {
  return make_error("I-WRITE", fmt::format("cannot write '{}'", path), {}, std::move(reason));
}

bool write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Outcome<std::string> read_file(const std::string& path, std::uint64_t limit) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (file.get() < 0) return unreadable(path, errno_text());
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return unreadable(path, errno_text());
  if (!S_ISREG(info.st_mode)) return unreadable(path, "it is not a regular file");
  if (static_cast<std::uint64_t>(info.st_size) > limit)
    return unreadable(path, fmt::format("it has {} bytes, the bound is {}", info.st_size, limit));
  std::string bytes(static_cast<std::size_t>(info.st_size), '\0');
  std::size_t have = 0;
  while (have < bytes.size()) {
    const ssize_t got = ::read(file.get(), bytes.data() + have, bytes.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unreadable(path, errno_text());
    if (got == 0) return unreadable(path, "it was shortened while it was read");
    have += static_cast<std::size_t>(got);
  }
  return bytes;
}

namespace {

/// A device or a pipe is written to and never replaced.
Outcome<bool> write_through(const std::string& path, std::string_view bytes) {
  Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC));
  if (file.get() < 0 || !write_all(file.get(), bytes) || !file.close()) return unwritable(path, errno_text());
  return true;
}

}  // namespace

Outcome<bool> write_file(const std::string& name, std::string_view bytes) {
  std::error_code failed;
  std::string path = name;
  if (std::filesystem::is_symlink(path, failed)) {  // what it points to is replaced, not the link
    path = std::filesystem::weakly_canonical(path, failed).string();
    if (failed) return unwritable(name, failed.message());
  }
  const std::filesystem::file_status status = std::filesystem::status(path, failed);
  if (std::filesystem::exists(status) && std::filesystem::is_other(status)) return write_through(path, bytes);
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  if (!parent.empty()) {
    std::error_code error;
    std::filesystem::create_directories(parent, error);
    if (error) return unwritable(path, error.message());
  }
  static std::atomic<unsigned> counter{0};
  const std::string temporary = fmt::format("{}.{}.{}.tmp", path, ::getpid(), counter++);
  Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (file.get() < 0) return unwritable(path, errno_text());
  if (!write_all(file.get(), bytes) || !file.close() || ::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string reason = errno_text();
    ::unlink(temporary.c_str());
    return unwritable(path, reason);
  }
  return true;
}

Outcome<bool> write_file_if_changed(const std::string& path, std::string_view bytes) {
  std::error_code error;
  if (std::filesystem::file_size(path, error) == bytes.size() && !error) {
    const Outcome<std::string> old = read_file(path, bytes.size());
    if (old && *old == bytes) return false;
  }
  return write_file(path, bytes);
}

std::string file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string portable_path(std::string_view path, std::string_view root) {
  while (root.size() > 1 && root.back() == '/') root.remove_suffix(1);
  if (!root.empty() && path.size() > root.size() + 1 && path.starts_with(root) && path[root.size()] == '/')
    path.remove_prefix(root.size() + 1);
  if (path.starts_with('/') || path.find("../") != std::string_view::npos) return file_name(path);
  while (path.starts_with("./")) path.remove_prefix(2);
  return std::string(path);
}

}  // namespace pipelink
