// A function run in a process of its own, with limits; what it returns comes back as bytes.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace pipelink {

struct ChildLimits {
  unsigned seconds = 600;
  std::uint64_t memory_bytes = 0;  ///< of address space; 0: no limit. Not applied under AddressSanitizer
};

struct ChildResult {
  bool finished = false;  ///< `work` returned and its bytes are complete
  std::string bytes;
  std::string standard_error;  ///< at most 64 KiB
  std::string death;           ///< else: "signal 11 (Segmentation fault)", "no result within 600 s", …
};

/// `work` sees a copy of the caller's memory. The caller must have no other threads.
ChildResult run_in_child(const ChildLimits& limits, const std::function<std::string()>& work);

}  // namespace pipelink
