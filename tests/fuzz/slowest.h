// How long the slowest input of a process took, printed at its end. libFuzzer counts whole seconds only.
#pragma once

#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace pipelink::fuzz {

/// Stands in a target's entry point for as long as the input is run.
class Timed {
 public:
  Timed() : begin_(Clock::now()) {
    static const int registered =
        std::atexit([] { std::fprintf(stderr, "stat::slowest_ms: %.1f\n", slowest()); });
    (void)registered;
  }
  Timed(const Timed&) = delete;
  Timed& operator=(const Timed&) = delete;
  ~Timed() {
    const double ms = std::chrono::duration<double, std::milli>(Clock::now() - begin_).count();
    if (ms > slowest()) slowest() = ms;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static double& slowest() {
    static double ms = 0;
    return ms;
  }
  Clock::time_point begin_;
};

}  // namespace pipelink::fuzz
