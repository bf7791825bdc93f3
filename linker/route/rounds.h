// Which lane publishes what in which round: the schedule of a shuffle. In a round each lane publishes one
// word and reads the word of one lane of its warp.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace pipelink::transfer {

/// A word that is demanded: item `item` of thread `thread`. Items are numbered; what they are is the
/// planner's.
struct Wanted {
  std::int32_t thread = -1;  ///< -1: nothing is demanded
  std::int32_t item = -1;
  bool operator==(const Wanted&) const = default;
};

/// What each thread demands, in columns: column c of thread t is wanted[c][t]. Sources are in the same warp.
struct Demand {
  int threads = 0;  ///< a multiple of 32
  std::vector<std::vector<Wanted>> columns;
};

struct Round {
  bool local = false;                 ///< every thread reads its own word: no shuffle
  std::vector<std::int32_t> lane;     ///< thread → the thread it reads, or -1
  std::vector<std::int32_t> publish;  ///< thread → item, or -1
};

struct Schedule {
  std::vector<Round> rounds;
  /// column, thread → the round in which it arrives; -1: the thread's own item, or nothing.
  std::vector<std::vector<std::int32_t>> arrival;
  /// Rounds whose order is that of a linear function, as lists of round numbers (see Builder::bank).
  std::vector<std::vector<int>> banks;
  std::string method;
  int shuffles() const;
};

/// The schedule of a demand that is affine over GF(2) from (column, thread) to (item, source), each connected
/// part by itself; nullopt if some part is not.
std::optional<Schedule> linear_schedule(const Demand& demand);

/// Any demand: by lane distances if that is as few rounds; else by edge colouring, which needs as many rounds
/// as the busiest lane if no word is demanded by several lanes; else greedily.
Schedule coloured_schedule(const Demand& demand);

}  // namespace pipelink::transfer
