// The header of the vendor's link-time intermediate representation.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace pipelink {

inline constexpr std::uint32_t kLtoirMagic = 0x7F4E43ED;

struct LtoirHeader {
  int container_major = 0, container_minor = 0;
  int ir_major = 0, ir_minor = 0;
  int debug_major = 0, debug_minor = 0;
  std::string arch;  ///< "sm_90a"; a final "f" is not stated; empty if none is
};

/// nullopt if the bytes do not begin with such a header.
std::optional<LtoirHeader> parse_ltoir_header(std::string_view bytes);

}  // namespace pipelink
