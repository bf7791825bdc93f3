// What the host tells the components that plant faults.
#pragma once

namespace planted {

/// One fault for each, planted in one block.
enum Fault : int {
  kNone,
  kAfterOdd,      ///< the byte after a buffer of 101 bytes
  kBeforeOdd,     ///< the byte before it
  kAfterAligned,  ///< the same of a buffer aligned to 1024
  kBeforeAligned,
  kAfterStages,        ///< the byte after the last stage of a ring
  kBeforeStages,       ///< the byte before its first stage
  kAfterMbarriers,     ///< the byte after an array of mbarriers
  kAfterEarly,         ///< the byte after a buffer that shares its bytes in other links
  kNoFull,             ///< a lane of the producer does not arrive at a stage
  kNoEmpty,            ///< a thread of the consumer does not release a stage
  kNoTurn,             ///< one of two arrivals at an mbarrier is missing
  kNoWarp,             ///< a warp does not come to a named barrier
  kRawLoop,            ///< as kNoTurn, and another role waits in a loop that no guard sees
  kOverrunAndTimeout,  ///< kAfterOdd and kNoTurn
  kFaults
};

}  // namespace planted

namespace guard_producer {
struct Parameters {
  unsigned steps, block;
  int fault;
};
}  // namespace guard_producer

namespace guard_consumer {
struct Parameters {
  unsigned* out;             ///< 128 for each block
  volatile unsigned* never;  ///< stays 0
  unsigned steps, block;
  int fault;
};
}  // namespace guard_consumer
