#include "linker/backend/child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace pipelink {
namespace {

constexpr std::size_t kMaxError = std::size_t{64} * 1024;
#if defined(__SANITIZE_ADDRESS__)
constexpr bool kLimitAddressSpace = false;  // its shadow alone is terabytes
#else
constexpr bool kLimitAddressSpace = true;
#endif

bool write_all(int fd, const std::string& bytes) {
  for (std::size_t done = 0; done < bytes.size();) {
    const ssize_t n = write(fd, bytes.data() + done, bytes.size() - done);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return false;
    done += static_cast<std::size_t>(n);
  }
  return true;
}

/// One heap of large pages that is never given back: compilers allocate a hundred megabytes in small pieces,
/// and a tenth of a link's time goes into page faults otherwise.
void prepare_heap() {
  constexpr std::size_t kHeap = std::size_t{512} << 20, kPage = std::size_t{2} << 20;
  mallopt(M_MMAP_THRESHOLD, 1 << 30);
  mallopt(M_TRIM_THRESHOLD, std::numeric_limits<int>::max());
  mallopt(M_TOP_PAD, kHeap);
  const auto begin = (reinterpret_cast<std::uintptr_t>(sbrk(0)) + kPage - 1) / kPage * kPage;
  void* volatile block = std::malloc(kPage * 4);  // takes kHeap from the system
  std::free(block);
  const auto end = reinterpret_cast<std::uintptr_t>(sbrk(0));
  if (end > begin) madvise(reinterpret_cast<void*>(begin), end - begin, MADV_HUGEPAGE);
}

/// Reads what is there; false at the end.
bool drain(int fd, std::string& into, std::size_t limit) {
  char buffer[1 << 16];
  const ssize_t n = read(fd, buffer, sizeof buffer);
  if (n < 0) return errno == EINTR || errno == EAGAIN;
  if (n == 0) return false;
  const std::size_t room = limit > into.size() ? limit - into.size() : 0;
  into.append(buffer, std::min(static_cast<std::size_t>(n), room));
  return true;
}

// Before what is sent and before the answer: its length, so that it is known to be whole. (Its end would not
// show: processes that are forked meanwhile hold the other end open too.)
constexpr std::size_t kLengthDigits = 16;

std::string with_length(const std::string& bytes) {
  return fmt::format("{:0{}x}", bytes.size(), kLengthDigits) + bytes;
}

bool is_whole(const std::string& bytes) {
  if (bytes.size() < kLengthDigits) return false;
  std::size_t length = 0;
  const char* const end = bytes.data() + kLengthDigits;
  const auto [last, error] = std::from_chars(bytes.data(), end, length, 16);
  return error == std::errc() && last == end && length == bytes.size() - kLengthDigits;
}

/// What was sent; what there is of it if the sender died.
std::string receive_from(int fd) {
  std::string bytes;
  while (!is_whole(bytes) && drain(fd, bytes, SIZE_MAX)) {
  }
  return bytes.substr(std::min(kLengthDigits, bytes.size()));
}

[[noreturn]] void child_main(const ChildLimits& limits, const ChildWork& work, int in, int out, int err) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);  // an ended build leaves no compiler running
  dup2(err, STDERR_FILENO);
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (null >= 0) {
    dup2(null, STDIN_FILENO);
    dup2(null, STDOUT_FILENO);
  }
  if (kLimitAddressSpace && limits.memory_bytes != 0) {
    const rlimit memory{limits.memory_bytes, limits.memory_bytes};
    setrlimit(RLIMIT_AS, &memory);
  }
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  prepare_heap();
  std::string bytes;
  try {
    bytes = work([in] { return receive_from(in); });
  } catch (const std::exception& e) {
    const std::string what = std::string(e.what()) + "\n";
    write_all(STDERR_FILENO, what);
    _exit(1);
  }
  _exit(write_all(out, with_length(bytes)) ? 0 : 1);
}

std::string death_of(int status, bool timed_out, unsigned seconds) {
  if (timed_out) return "no result within " + std::to_string(seconds) + " s";
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

Child::Child(const ChildLimits& limits, const ChildWork& work) : limits_(limits) {
  int in[2], out[2], err[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, in) != 0) {
    failure_ = fmt::format("no socket: {}", std::strerror(errno));
    return;
  }
  if (pipe2(out, O_CLOEXEC) != 0) {
    failure_ = fmt::format("no pipe: {}", std::strerror(errno));
    close(in[0]);
    close(in[1]);
    return;
  }
  if (pipe2(err, O_CLOEXEC) != 0) {
    failure_ = fmt::format("no pipe: {}", std::strerror(errno));
    for (int fd : {in[0], in[1], out[0], out[1]}) close(fd);
    return;
  }
  pid_ = fork();
  if (pid_ < 0) failure_ = fmt::format("no process: {}", std::strerror(errno));
  if (pid_ == 0) {
    close(in[1]);  // so that it sees its parent die
    child_main(limits, work, in[0], out[1], err[1]);
  }
  for (int fd : {in[0], out[1], err[1]}) close(fd);
  in_ = in[1];
  out_ = out[0];
  error_ = err[0];
}

Child::~Child() {
  for (int fd : {in_, out_, error_})
    if (fd >= 0) close(fd);
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

void Child::send(const std::string& bytes) {
  input_ = with_length(bytes);
  send_some();
}

/// A child that has died takes nothing; wait() finds out why.
void Child::send_some() {
  while (sent_ < input_.size()) {
    const ssize_t n = ::send(in_, input_.data() + sent_, input_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return;
    sent_ = n < 0 ? input_.size() : sent_ + static_cast<std::size_t>(n);
  }
}

ChildResult Child::wait() {
  ChildResult result;
  if (pid_ <= 0) {
    result.death = failure_.empty() ? "it was waited for already" : failure_;
    return result;
  }
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limits_.seconds);
  send_some();
  bool timed_out = false;
  std::string answer;
  pollfd ends[3] = {{out_, POLLIN, 0}, {error_, POLLIN, 0}, {sent_ < input_.size() ? in_ : -1, POLLOUT, 0}};
  while (!is_whole(answer) && (ends[0].fd >= 0 || ends[1].fd >= 0)) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      timed_out = true;
      kill(pid_, SIGKILL);
      break;
    }
    if (poll(ends, 3, static_cast<int>(std::min<long long>(left, 1000))) <= 0) continue;
    if (ends[2].revents != 0) send_some();
    if (sent_ == input_.size()) ends[2].fd = -1;
    if (ends[0].revents != 0 && !drain(out_, answer, SIZE_MAX)) ends[0].fd = -1;
    if (ends[1].revents != 0 && !drain(error_, result.standard_error, kMaxError)) ends[1].fd = -1;
  }
  if (!timed_out && is_whole(answer)) {
    result.bytes = answer.substr(kLengthDigits);
    result.finished = true;
    pid_ = -1;
    return result;
  }
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  result.death = death_of(status, timed_out, limits_.seconds);
  return result;
}

}  // namespace pipelink
