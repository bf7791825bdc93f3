// The planners of each kind of transfer; plan_transfer.h tries them in order. Each writes steps into a builder
// and gives the registers of the consumer's words, or says why it cannot.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "linker/route/builder.h"
#include "linker/route/plan_transfer.h"
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
std::optional<std::vector<std::int32_t>> renaming(const TileMap& from, const TileMap& to, std::string& reason);

/// kSame, kRenamed or kPermuted.
Attempt plan_renaming(Builder& builder, const Held& from, const TileMap& to);

/// kShuffle, or kPermuted if no lane needs another's. Sets the counts of shuffles in `cost`. Refuses what needs
/// far more selects than a regular map does, unless `any_effort`.
Attempt plan_shuffle(Builder& builder, const Held& from, const TileMap& to, Cost& cost, bool any_effort);

}  // namespace pipelink::transfer
