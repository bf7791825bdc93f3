#include "linker/backend/child.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
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

[[noreturn]] void child_main(const ChildLimits& limits, const std::function<std::string()>& work, int out,
                             int err) {
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
    bytes = work();
  } catch (const std::exception& e) {
    const std::string what = std::string(e.what()) + "\n";
    write_all(STDERR_FILENO, what);
    _exit(1);
  }
  // The end mark tells a whole result from one cut short by a death.
  _exit(write_all(out, bytes) && write_all(out, "\n.") ? 0 : 1);
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

std::string death_of(int status, bool timed_out, unsigned seconds) {
  if (timed_out) return "no result within " + std::to_string(seconds) + " s";
  if (WIFSIGNALED(status))
    return "signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ")";
  return "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

ChildResult run_in_child(const ChildLimits& limits, const std::function<std::string()>& work) {
  ChildResult result;
  int out[2], err[2];
  if (pipe2(out, O_CLOEXEC) != 0 || pipe2(err, O_CLOEXEC) != 0) {
    result.death = std::string("no pipe: ") + std::strerror(errno);
    return result;
  }
  const pid_t child = fork();
  if (child < 0) {
    result.death = std::string("no process: ") + std::strerror(errno);
    return result;
  }
  if (child == 0) child_main(limits, work, out[1], err[1]);
  close(out[1]);
  close(err[1]);

  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(limits.seconds);
  bool timed_out = false;
  pollfd ends[2] = {{out[0], POLLIN, 0}, {err[0], POLLIN, 0}};
  while (ends[0].fd >= 0 || ends[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now()).count();
    if (left <= 0) {
      timed_out = true;
      kill(child, SIGKILL);
      break;
    }
    if (poll(ends, 2, static_cast<int>(std::min<long long>(left, 1000))) <= 0) continue;
    if (ends[0].revents != 0 && !drain(out[0], result.bytes, SIZE_MAX)) ends[0].fd = -1;
    if (ends[1].revents != 0 && !drain(err[0], result.standard_error, kMaxError)) ends[1].fd = -1;
  }
  close(out[0]);
  close(err[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const std::string mark = "\n.";
  if (!timed_out && WIFEXITED(status) && WEXITSTATUS(status) == 0 && result.bytes.ends_with(mark)) {
    result.bytes.resize(result.bytes.size() - mark.size());
    result.finished = true;
  } else {
    result.bytes.clear();
    result.death = death_of(status, timed_out, limits.seconds);
  }
  return result;
}

}  // namespace pipelink
