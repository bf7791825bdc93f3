// A function run in a process of its own, with limits; what it returns comes back as bytes.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace pipelink {

struct ChildLimits {
  unsigned seconds = 600;
  std::uint64_t memory_bytes = 0;  ///< of address space; 0: no limit. Not applied under AddressSanitizer
};

struct ChildResult {
  bool finished = false;  ///< `work` returned and its bytes are all here
  std::string bytes;
  std::string standard_error;  ///< at most 64 KiB
  std::string death;           ///< else: "signal 11 (Segmentation fault)", "no result within 600 s", …
};

/// What a child does: `receive` waits for what is sent to it; the result is the answer.
using Receive = std::function<std::string()>;
using ChildWork = std::function<std::string(const Receive& receive)>;

/// Work in a process of its own, from construction on. It sees a copy of the caller's memory; the caller must
/// have no other threads. Ends with its parent.
class Child {
 public:
  Child(const ChildLimits& limits, const ChildWork& work);
  /// Kills it unless it has answered.
  ~Child();
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  /// Sends as much as it takes at once; wait() sends the rest. Once only.
  void send(const std::string& bytes);
  /// Until it has answered, ended, or its time is over; the time runs from here. Once only. A child that has
  /// answered is left to end by itself: that takes ten milliseconds after a large link.
  ChildResult wait();

 private:
  void send_some();

  ChildLimits limits_;
  std::string failure_;  ///< why it did not start
  std::string input_;
  std::size_t sent_ = 0;
  pid_t pid_ = -1;
  int in_ = -1, out_ = -1, error_ = -1;
};

inline ChildResult run_in_child(const ChildLimits& limits, const std::function<std::string()>& work) {
  Child child(limits, [&](const Receive&) { return work(); });
  return child.wait();
}

}  // namespace pipelink
