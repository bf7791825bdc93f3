// What a kernel of the matrix reads and writes.
#pragma once

namespace routes {

struct Parameters {
  const unsigned char* in;  ///< tiles × 64 × 64 elements, row-major
  const int* held;          ///< [thread × values]: which element of the tile the producer holds there
  unsigned char* out;  ///< of each tile what each consumer gets, one after the other: threads × values, or
                       ///< the bytes that lie in shared memory
  unsigned tiles;
};

}  // namespace routes
