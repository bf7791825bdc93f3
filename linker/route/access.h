// How threads store a tile to shared memory or load one from it: which units go into one instruction, and how
// many wavefronts that takes.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "linker/route/fit.h"

namespace pipelink::transfer {

/// Where each unit of each thread is in a buffer.
struct UnitPlaces {
  int threads = 0;
  int unit_bytes = 4;
  int columns = 0;                  ///< units of a thread's array
  std::vector<std::int32_t> bytes;  ///< [column * threads + thread] → byte offset; kAny: not accessed

  std::span<const std::int32_t> column(int c) const {
    return std::span(bytes).subspan(static_cast<std::size_t>(c) * static_cast<std::size_t>(threads),
                                    static_cast<std::size_t>(threads));
  }
};

/// One instruction of each thread.
struct Access {
  enum class How { kVector, kMatrix, kTransposed };
  How how = How::kVector;
  int bytes = 4;             ///< of a vector
  std::vector<int> columns;  ///< vector: its units in order; matrices: two halves for each register
  std::vector<std::int32_t>
      at;              ///< thread → byte: of the vector (kAny: none); of the matrix row it points to
  int wavefronts = 0;  ///< of all warps
};

struct Accesses {
  std::vector<Access> list;
  std::vector<int> same_as;  ///< column → an earlier column with the same places, or itself
  int wavefronts = 0;
  int instructions = 0;  ///< of a thread, with byte permutes that make or take apart words
};

/// What instructions there are.
struct AccessLimits {
  int align = 16;        ///< of the buffer; no vector is wider
  bool matrices = true;  ///< stmatrix or ldmatrix
  bool stores = false;   ///< a column is not left out because another one has the same places
};

/// The fewest wavefronts, then the fewest instructions, of: vectors as wide as can be; 8 x 8 matrices; 8 x 8
/// matrices, transposed.
Accesses plan_accesses(const UnitPlaces& places, const AccessLimits& limits);

/// Wavefronts of one warp's access: 128-bit accesses are made by eight lanes at a time, 64-bit accesses by
/// sixteen; in each phase as many as there are different words in one of the 32 banks. kAny: no access.
int wavefronts_of(std::span<const std::int32_t> lanes, int bytes);

/// Wavefronts that moving so many bytes of a warp's registers takes at least.
int wavefront_bound(std::int64_t bytes);

}  // namespace pipelink::transfer
