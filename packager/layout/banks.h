// What an access to shared memory costs, by where each value of each thread is.
//
// Shared memory has 32 banks of 4 bytes. A warp's access is done in wavefronts, in each of which a bank gives
// one word to any number of lanes. Accesses of up to 4 bytes are done by the whole warp at once, of 8 bytes
// by half a warp, of 16 bytes by a quarter; so many phases there are at least.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "packager/layout/layout.h"

namespace pipelink::layout {

/// Of a whole access by all warps: each thread moves all its values, `bytes` at a time.
struct BankUse {
  std::int64_t accesses = 0;    ///< instructions, counted for each warp
  std::int64_t wavefronts = 0;  ///< of all of them
  std::int64_t least = 0;       ///< what they would be without conflicts: as many as the distinct words need
  std::int64_t worst = 0;       ///< wavefronts of the worst phase: 1 without conflicts, 32 at most
  std::string where;  ///< of the worst phase: "warp 0, values 0 to 3, lanes 0 to 7"; empty without conflicts
  std::int64_t conflicts() const { return wavefronts - least; }
};

/// Byte addresses in shared memory, [thread * values + value]; values of `element_bytes` each. `access_bytes`
/// is 1, 2, 4, 8 or 16, and at least an element; it must be possible, see vector_bytes(). The last warp may
/// have less than 32 threads. An error says what is not so.
Result<BankUse> bank_use(std::span<const std::int64_t> addresses, std::int64_t values,
                         std::int64_t element_bytes, std::int64_t access_bytes);

/// The widest access in bytes, 16 at most, with which each thread can move its values in register order:
/// groups of neighbouring values lie side by side and begin at a multiple of their width. 0 if an element of
/// its own width does not lie so either.
std::int64_t vector_bytes(std::span<const std::int64_t> addresses, std::int64_t values,
                          std::int64_t element_bytes);

/// Byte addresses of a (thread, value) → offset in elements. An offset beyond 2^40 is an error.
Result<std::vector<std::int64_t>> byte_addresses(const Layout& offsets, std::int64_t element_bytes);

/// The same for where a fragment lies in a tile: `fragment` maps (thread, value) to the tile's row-major
/// index and `tile` its coordinate (row, column) to the offset in elements. An index that the tile does not
/// have is an error.
Result<std::vector<std::int64_t>> byte_addresses(const Layout& fragment, const Layout& tile,
                                                 std::int64_t element_bytes);

}  // namespace pipelink::layout
