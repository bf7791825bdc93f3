#include "linker/route/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "packager/contract/tensor.h"
#include "packager/contract/type_text.h"

namespace pipelink {
namespace {

using contract::TensorPort;

/// Bytes of an element; 0: no type that is known here.
int element_bytes(const std::string& element) {
  struct Row {
    std::string_view name;
    int bytes;
  };
  static constexpr std::array kRows = {
      Row{"f64", 8}, Row{"i64", 8}, Row{"u64", 8},  Row{"s64", 8},  Row{"f32", 4},  Row{"tf32", 4},
      Row{"i32", 4}, Row{"s32", 4}, Row{"u32", 4},  Row{"b32", 4},  Row{"f16", 2},  Row{"bf16", 2},
      Row{"i16", 2}, Row{"s16", 2}, Row{"u16", 2},  Row{"b16", 2},  Row{"i8", 1},   Row{"s8", 1},
      Row{"u8", 1},  Row{"b8", 1},  Row{"e4m3", 1}, Row{"e5m2", 1}, Row{"ue8m0", 1}};
  for (const Row& row : kRows)
    if (row.name == element) return row.bytes;
  return 0;
}

/// Of elements that share a byte with others; 0: no type that is known here.
int bits_below_byte(std::string_view element) {
  static constexpr std::array<std::pair<std::string_view, int>, 11> kRows = {{{"b1", 1},
                                                                              {"u1", 1},
                                                                              {"u2", 2},
                                                                              {"s2", 2},
                                                                              {"b4", 4},
                                                                              {"u4", 4},
                                                                              {"s4", 4},
                                                                              {"i4", 4},
                                                                              {"e2m1", 4},
                                                                              {"e2m3", 6},
                                                                              {"e3m2", 6}}};
  for (const auto& [name, bits] : kRows)
    if (name == element) return bits;
  return 0;
}

constexpr std::string_view kWholeBytes =
    "; whole bytes are moved: let the tile's elements be the bytes or words that hold several";

transfer::TileMap tile_map(const layout::Layout& layout, int bytes) {
  transfer::TileMap map;
  map.threads = static_cast<int>(layout.threads());
  map.values = static_cast<int>(layout.values());
  map.element_bytes = bytes;
  for (const std::int64_t index : layout::thread_value_indices(layout))
    map.element.push_back(static_cast<std::int32_t>(index));
  return map;
}

/// Of a layout with a mode for each extent of the tile.
transfer::AddressMap address_map(const layout::Layout& layout, const std::vector<std::int64_t>& tile,
                                 int bytes) {
  transfer::AddressMap map;
  std::int64_t most = 0;
  std::vector<std::int64_t> coordinate(tile.size());
  for (std::int64_t i = 0; i < layout.size(); ++i) {
    std::int64_t rest = i;
    for (std::size_t mode = tile.size(); mode-- > 0;) {
      coordinate[mode] = rest % tile[mode];
      rest /= tile[mode];
    }
    const std::int64_t at = layout(std::span<const std::int64_t>(coordinate));
    map.offset.push_back(static_cast<std::int32_t>(at));
    most = std::max(most, at);
  }
  map.bytes = (most + 1) * bytes;
  return map;
}

/// How a callable's parameter takes a tile of each space.
std::string type_fault(const TensorPort& port, const contract::Type& type) {
  const bool pointer = type.name.ends_with('*'), reference = contract::is_reference(type);
  const bool address = type.name == "unsigned int";
  const char* wants = nullptr;
  if (port.space == "registers" && !reference) wants = "a reference to an array";
  if (port.space == "shared" && !pointer && !reference && !address)
    wants = "a pointer, or the address in shared memory as unsigned int";
  if (port.space == "tensor_memory" && !address) wants = "the address as unsigned int";
  if (wants == nullptr) return {};
  return fmt::format("{} is in {}, so its parameter is {}; it is {}", port.name, port.space, wants,
                     type.name);
}

}  // namespace

int scope_threads(const std::string& scope) {
  return scope == "warp" ? 32 : scope == "warpgroup" ? 128 : 0;
}

ReadEndpoint read_endpoint(const TensorPort& port, const contract::Scope& facts,
                           const contract::Type& parameter, int threads) {
  const contract::TensorResolution tile = contract::resolve(port, facts);
  if (!tile)
    return {std::nullopt, fmt::format("the {} of {} {}: {}", tile.fault.about, port.name, tile.fault.what,
                                      tile.fault.reason)};
  if (!tile->layout) return {std::nullopt, fmt::format("{} has no layout", port.name)};
  const layout::Layout& layout = *tile->layout;
  int bytes = element_bytes(port.element);
  if (std::string fault = type_fault(port, parameter); !fault.empty())
    return {std::nullopt, std::move(fault)};
  if (port.space == "registers") {
    if (bytes == 0 && parameter.size < layout.values())
      return {std::nullopt, fmt::format("{} has {} values of {} in a thread, and its parameter {} has {} "
                                        "bytes, less than one for each{}",
                                        port.name, layout.values(), port.element, parameter.name,
                                        parameter.size, kWholeBytes)};
    if (bytes == 0 && parameter.size % layout.values() == 0)
      bytes = static_cast<int>(parameter.size / layout.values());
    if (parameter.size != layout.values() * bytes)
      return {std::nullopt,
              fmt::format("{} has {} values of {} bytes in a thread, its parameter {} has {} bytes",
                          port.name, layout.values(), bytes, parameter.name, parameter.size)};
    return {transfer::in_registers(tile_map(layout, bytes)), {}};
  }
  if (const int bits = bits_below_byte(port.element); bits != 0)
    return {std::nullopt, fmt::format("an element {} of {} has {} bit{}{}", port.element, port.name, bits,
                                      bits == 1 ? "" : "s", kWholeBytes)};
  if (bytes == 0)
    return {std::nullopt, fmt::format("how many bytes an element {} has is not known here", port.element)};
  if (port.space == "tensor_memory")
    return {transfer::in_tensor_memory(tile_map(layout, bytes), threads), {}};
  const int align = port.align != 0 ? static_cast<int>(port.align) : 16;
  return {transfer::in_shared(address_map(layout, tile->tile, bytes), bytes, threads, port.proxy == "async",
                              align),
          {}};
}

}  // namespace pipelink
