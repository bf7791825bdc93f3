#include "linker/route/tile_map.h"

#include <fmt/format.h>

#include <algorithm>

namespace pipelink::transfer {
namespace {

constexpr std::int32_t kMostThreads = 1024;
constexpr std::int32_t kMostElements = 1 << 22;

bool known_size(int element_bytes) {
  return element_bytes == 1 || element_bytes == 2 || element_bytes == 4 || element_bytes == 8;
}

}  // namespace

int word_count(int values, int element_bytes) {
  return (values * element_bytes + 3) / 4;
}

std::int32_t tile_size(const TileMap& map) {
  return map.element.empty() ? 0 : *std::max_element(map.element.begin(), map.element.end()) + 1;
}

std::string fault_of(const TileMap& map) {
  if (map.threads < 1 || map.threads > kMostThreads)
    return fmt::format("{} threads; 1 to {} are supported", map.threads, kMostThreads);
  if (map.values < 1 || map.values > kMostElements / map.threads)
    return fmt::format("{} values in each of {} threads", map.values, map.threads);
  if (!known_size(map.element_bytes))
    return fmt::format("elements of {} bytes; 1, 2, 4 and 8 are supported", map.element_bytes);
  const std::size_t entries = static_cast<std::size_t>(map.threads) * static_cast<std::size_t>(map.values);
  if (map.element.size() != entries)
    return fmt::format("{} threads have {} values each, yet there are {} entries", map.threads, map.values,
                       map.element.size());
  for (std::size_t i = 0; i < entries; ++i)
    if (map.element[i] < kNothing || map.element[i] >= kMostElements)
      return fmt::format("thread {} value {} is element {}", i / static_cast<std::size_t>(map.values),
                         i % static_cast<std::size_t>(map.values), map.element[i]);
  return {};
}

std::string fault_of(const AddressMap& map, int element_bytes) {
  if (!known_size(element_bytes))
    return fmt::format("elements of {} bytes; 1, 2, 4 and 8 are supported", element_bytes);
  if (map.offset.empty() || map.offset.size() > static_cast<std::size_t>(kMostElements))
    return fmt::format("{} elements", map.offset.size());
  if (map.bytes < 1 || map.bytes > std::int64_t{kMostElements} * 8)
    return fmt::format("a buffer of {} bytes", map.bytes);
  const std::int64_t places = map.bytes / element_bytes;
  std::vector<std::int32_t> holder(static_cast<std::size_t>(places), kNothing);
  for (std::size_t e = 0; e < map.offset.size(); ++e) {
    const std::int32_t at = map.offset[e];
    if (at < 0 || at >= places)
      return fmt::format("element {} is at offset {}; the buffer of {} bytes has {} elements", e, at,
                         map.bytes, places);
    std::int32_t& held = holder[static_cast<std::size_t>(at)];
    if (held != kNothing) return fmt::format("elements {} and {} are both at offset {}", held, e, at);
    held = static_cast<std::int32_t>(e);
  }
  return {};
}

}  // namespace pipelink::transfer
