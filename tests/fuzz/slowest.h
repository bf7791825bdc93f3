// The processor time of the slowest input of a process, printed at its end. libFuzzer counts whole seconds,
// and those that the process waited for a processor, too.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace pipelink::fuzz {

/// Stands in a target's entry point for as long as the input is run.
class Timed {
 public:
  Timed() : begin_(now()) {
    static const int registered =
        std::atexit([] { std::fprintf(stderr, "stat::slowest_ms: %.1f\n", slowest()); });
    (void)registered;
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() {
    const double ms = now() - begin_;
    if (ms > slowest()) slowest() = ms;
  }

 private:
  static double now() {
    timespec t{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) / 1e6;
  }
  static double& slowest() {
    static double ms = 0;
    return ms;
  }
  double begin_;
};

}  // namespace pipelink::fuzz
