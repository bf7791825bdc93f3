// A small cubin made without a toolkit: one kernel, its attributes, its shared memory.
#pragma once

#include <string>

namespace pipelink::test {

struct SampleCubin {
  std::string kernel = "fused";
  int registers = 168, threads = 384, barriers = 3;
  bool sets_registers = true;
  int shared_bytes = 4096, shared_align = 1024;  ///< without the system's part; 0: no section
  std::string other_function;                    ///< left in the code, if not empty
};

std::string cubin_bytes(const SampleCubin& sample = {});

}  // namespace pipelink::test
