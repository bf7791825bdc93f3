// What a cubin says of its kernel: an ELF file whose `.nv.info` sections list attributes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "packager/base/outcome.h"

namespace pipelink {

struct CubinFacts {
  std::vector<std::string> functions;  ///< all code symbols, sorted
  bool has_kernel = false;
  int registers = 0;    ///< REGCOUNT: per thread at entry
  int barriers = 0;     ///< NUM_BARRIERS: one more than the highest named id in use; 16 if an id is computed
  int max_threads = 0;  ///< MAX_THREADS
  bool sets_registers = false;                      ///< setmaxnreg was honoured
  int stack_bytes = 0;                              ///< of the kernel's frame
  std::int64_t shared_bytes = 0, shared_align = 0;  ///< static, without the 1,024 bytes that the system takes
  std::int64_t parameter_bytes = 0;
  std::string text;     ///< the kernel's code section
  std::string toolkit;  ///< of the note, "13.0"; empty if there is none
};

/// I-CUBIN if the bytes are no cubin or damaged.
Outcome<CubinFacts> read_cubin(std::string_view bytes, std::string_view kernel);

}  // namespace pipelink
