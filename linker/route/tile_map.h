// Who holds which element of a tile: the small values that transfers are planned from. They are made from the
// layouts of ports; nothing here knows contracts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace pipelink::transfer {

/// Item `column` of row `row` of a table with rows of `width` items.
inline std::size_t flat(std::int64_t row, std::int64_t width, std::int64_t column = 0) {
  return static_cast<std::size_t>(row * width + column);
}

/// In a TileMap: this value of this thread holds no element (producer), or any content will do (consumer).
inline constexpr std::int32_t kNothing = -1;

/// A tile in the registers of threads, or in the lanes of tensor memory.
///
/// Registers: value v of thread t is item v of the thread's array. Tensor memory: "thread" is the lane
/// (0…127) and value v the v-th element of the lane, 4 / element_bytes of them in each 32-bit column.
///
/// A producer may hold an element in several places (they are equal), a consumer may demand it in several.
struct TileMap {
  int threads = 0;
  int values = 0;  ///< in each thread
  std::vector<std::int32_t>
      element;            ///< [thread * values + value] → row-major index in the tile, or kNothing
  int element_bytes = 0;  ///< 1, 2, 4 or 8

  std::int32_t operator()(int thread, int value) const { return element[flat(thread, values, value)]; }
  bool operator==(const TileMap&) const = default;
};

/// A tile in shared memory.
struct AddressMap {
  std::vector<std::int32_t> offset;  ///< tile index → offset in elements from the start of the buffer
  std::int64_t bytes = 0;            ///< of the buffer
  bool operator==(const AddressMap&) const = default;
};

/// 32-bit words that `values` items of `element_bytes` bytes take, packed as in an array in memory.
int word_count(int values, int element_bytes);

/// One more than the largest element that the map names.
std::int32_t tile_size(const TileMap& map);

/// Empty, or what makes the map unusable: "a thread has 4 values, yet 3 threads have 11 entries".
std::string fault_of(const TileMap& map);
/// Also: two elements at one offset, offsets outside of the buffer.
std::string fault_of(const AddressMap& map, int element_bytes);

}  // namespace pipelink::transfer
