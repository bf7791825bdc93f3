// The planners of each kind of transfer; plan_transfer.h tries them in order. Each writes steps into a
// builder and gives the registers of the consumer's words, or says why it cannot.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "linker/route/access.h"
#include "linker/route/builder.h"
#include "linker/route/plan_transfer.h"
#include "linker/route/staging_layout.h"
#include "linker/route/tile_map.h"
#include "linker/route/transfer.h"

namespace pipelink::transfer {

/// A tile in registers, while steps are written: register `words[w]` is word w of each thread.
struct Held {
  TileMap map;
  std::vector<Register> words;
};

/// The smaller of an element and a word: what steps move as a whole.
int unit_bytes(int element_bytes);

struct Attempt {
  std::vector<Register> outputs;  ///< words of the demand; kNoRegister: any content
  std::string reason;             ///< why it does not serve; empty: it does
  std::string method;
  Kind kind = Kind::kSame;
  explicit operator bool() const { return reason.empty(); }
};

/// For each value of the demand the thread's own value that it is, the same in all threads; else a reason.
std::optional<std::vector<std::int32_t>> renaming(const TileMap& from, const TileMap& to,
                                                  std::string& reason);

/// kSame, kRenamed or kPermuted.
Attempt plan_renaming(Builder& builder, const Held& from, const TileMap& to);

/// kShuffle, or kPermuted if no lane needs another's. Sets the counts of shuffles in `cost`. Refuses what
/// needs far more selects than a regular map does, unless `any_effort`.
Attempt plan_shuffle(Builder& builder, const Held& from, const TileMap& to, Cost& cost, bool any_effort);

/// Writes the stores that were planned.
void store_tile(Builder& builder, const Held& from, const Accesses& accesses);

/// Writes the loads that were planned; the words of the demand.
std::vector<Register> load_tile(Builder& builder, const TileMap& to, const Accesses& accesses,
                                Address::Buffer buffer);

/// Where the units of a map are, given the place of each element. To store: each element by its first holder,
/// those at kAny by nobody.
UnitPlaces places_of(const TileMap& map, const std::vector<std::int32_t>& byte, bool store);

/// A buffer and how both sides access it.
struct Staging {
  StagingLayout layout;
  Accesses stores, loads;
};

/// The candidate with the fewest wavefronts, then the fewest instructions, of at most `most_bytes`.
std::optional<Staging> choose_staging(const TileMap& from, const TileMap& to, const Request& request,
                                      std::int64_t most_bytes);

/// The tile in so many threads, in runs of 16 bytes of the buffer: to copy it.
TileMap copy_map(const AddressMap& address, int element_bytes, int threads);

/// Loads from tensor memory in one shape: repetitions of its smallest form, by half (lanes 0… or 16… of the
/// warp's 32) and number.
struct TensorPieces {
  TensorShape shape = TensorShape::k32x32b;
  std::vector<std::pair<int, int>> pieces;  ///< sorted
  TileMap map;                              ///< what the registers hold, in the order of the pieces
};

/// In this shape, all pieces of which `demanded` has an element; nothing if the tile is not made of such
/// pieces.
std::optional<TensorPieces> tensor_pieces(const TileMap& tile, int threads, TensorShape shape,
                                          const std::vector<bool>& demanded);

/// The shape whose registers are those of the demand, but for their order (and that of units in a word), with
/// the fewest instructions; else a reason.
std::optional<TensorPieces> matching_pieces(const TileMap& tile, const TileMap& to, std::string& reason);

/// Writes the loads and the wait.
Held load_pieces(Builder& builder, const TensorPieces& pieces, Cost& cost);

inline constexpr TensorShape kTensorShapes[] = {TensorShape::k32x32b, TensorShape::k16x256b,
                                                TensorShape::k16x128b, TensorShape::k16x64b};

}  // namespace pipelink::transfer
