// The vendor's container of device code ("fatbin"), read without trust.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "packager/base/outcome.h"

namespace pipelink {

enum class FatbinKind { kPtx = 1, kCubin = 2, kLtoir = 8 };

struct FatbinEntry {
  int kind = 0;      ///< a FatbinKind, or a kind unknown here
  std::string arch;  ///< "sm_90a"
  std::uint64_t flags = 0;
  std::string payload;  ///< decompressed

  bool is(FatbinKind k) const { return kind == static_cast<int>(k); }
};

inline constexpr std::uint32_t kFatbinMagic = 0xBA55ED50;

/// Every entry of every container in `bytes` (a section may hold several, one behind the other). `name` is
/// what messages call the input. I-PACKAGE is never used here: damage is I-OBJECT.
Outcome<std::vector<FatbinEntry>> parse_fatbin(std::string_view bytes, std::string_view name);

}  // namespace pipelink
