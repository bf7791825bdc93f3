// Glue and LTO-IR to a cubin, by NVRTC and nvJitLink in a child process: a damaged object or a compiler fault
// ends the child, never the linker.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "packager/base/outcome.h"

namespace pipelink {

class Child;

struct LowerInput {
  std::string name;  ///< of the package, for messages
  std::string ltoir;
  std::string toolkit;  ///< that wrote it, "13.0"
};

struct LowerRequest {
  std::string arch;    ///< "sm_90a"
  std::string kernel;  ///< the only entry that is kept
  std::string glue;    ///< CUDA C++
  std::vector<LowerInput> inputs;
  int max_registers = 0;  ///< per thread; 0: what the kernel's bounds allow
};

struct Lowered {
  std::string cubin;
  std::string log;      ///< what the tools said, without paths
  double glue_ms = 0;   ///< NVRTC
  double link_ms = 0;   ///< nvJitLink: to read the inputs, and from the last one to the cubin
  double peak_mib = 0;  ///< memory of the process with nvJitLink
};

/// What a process with one of the vendor's libraries may use.
struct ToolchainLimits {
  unsigned seconds = 600;                                ///< from the request to the answer
  std::uint64_t memory_bytes = std::uint64_t{16} << 30;  ///< of address space
};

/// NVRTC and nvJitLink in processes of their own, with limits. They begin to load the vendor's libraries when
/// this is constructed, which takes longer than to read, check and place a composition.
class Toolchain {
 public:
  explicit Toolchain(const ToolchainLimits& limits = {});
  ~Toolchain();

  /// T-TOOLKIT, T-NVRTC, T-NVJITLINK, T-CHILD (with the signal or the limit, and the inputs); L-TOOLKIT.
  Outcome<Lowered> lower(const LowerRequest& request);

  /// The inputs as one optimized PTX text. What none of them defines stays declared. Errors as above.
  Outcome<std::string> lower_to_ptx(const LowerRequest& request);

 private:
  std::unique_ptr<Child> next();

  ToolchainLimits limits_;
  std::unique_ptr<Child> ready_;  ///< for the next request
};

/// The versions and places of the vendor's libraries, for `pipelink doctor`; `error` if one cannot be loaded.
struct ToolchainStatus {
  std::string nvrtc, nvjitlink;  ///< "13.0"
  std::string error;
};
ToolchainStatus toolchain_status();

}  // namespace pipelink
