// Little-endian integers at an offset, with bounds.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace pipelink {

static_assert(std::endian::native == std::endian::little,
              "device code containers are little-endian, and so is the host");

/// The integer at `offset`, or nullopt if it does not lie within `bytes`.
template <class Integer>
std::optional<Integer> load(std::string_view bytes, std::size_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(Integer)) return std::nullopt;
  Integer value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace pipelink
