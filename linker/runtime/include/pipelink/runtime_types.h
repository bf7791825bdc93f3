// What callers hand to the runtime.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "pipelink/driver.h"
#include "pipelink/host_provider.h"

namespace pipelink {

/// A cubin in memory and its launch description. Both must outlive `Kernel::load`, not the kernel.
struct Image {
  std::string_view arch;  ///< "sm_90a"
  const void* data = nullptr;
  std::size_t size = 0;
  std::string_view launch;
};

struct Provider {
  const char* symbol = nullptr;
  pipelink_host_function_v1 function = nullptr;
};

struct LoadOptions {
  int device = -1;  ///< below 0: the current context's, or device 0
  /// By symbol. A provider that is not listed is looked for among the process's dynamic symbols.
  std::span<const Provider> providers;
  const runtime_internal::Driver* driver = nullptr;  ///< null: the machine's
};

/// What the caller lends to one instance: its component's arguments type.
struct Argument {
  std::string_view instance;
  const void* data = nullptr;
  std::size_t size = 0;
  bool optional = false;  ///< ignored by an image that has no such instance
};

struct OpenOptions {
  std::uint64_t scratch =
      0;  ///< device address, aligned to 256; `Kernel::scratch_bytes` says how much is needed
  std::size_t scratch_size = 0;
};

}  // namespace pipelink
