// The few device operations that protocols are made of. Every wait asks the guard first: a guarded link waits
// there, with a limit, and any other folds the question away. The functions are static: the vendor linker
// merges others by name, and a package keeps those that it was compiled with.
#pragma once

#include <cstdint>

/// Waits for the phase of `parity` in the caller's place if the link is guarded (option `guard` of the
/// composition); false if it is not. Defined by the glue.
extern "C" __device__ bool pl__guard__wait(unsigned barrier, unsigned parity);
/// The same for a named barrier of `threads` threads: arrives, and waits if `waits`.
extern "C" __device__ bool pl__guard__barrier(unsigned id, unsigned threads, bool waits);

namespace pipelink {

/// The 32-bit shared-window address of a generic pointer to shared memory.
[[maybe_unused]] static __device__ __forceinline__ std::uint32_t shared_address(const void* pointer) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(pointer));
}

namespace mbarrier {

/// Whether the phase of `parity` is over; waits a moment for it.
[[maybe_unused]] static __device__ __forceinline__ bool try_wait(std::uint32_t barrier,
                                                                 std::uint32_t parity) {
  std::uint32_t done;
  asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
               : "=r"(done)
               : "r"(barrier), "r"(parity)
               : "memory");
  return done != 0;
}

/// Waits until the phase of `parity` is over.
[[maybe_unused]] static __device__ __forceinline__ void wait(std::uint32_t barrier, std::uint32_t parity) {
  if (pl__guard__wait(barrier, parity)) return;
  std::uint32_t done;
  do {  // try_wait, but for the predicate's name: it tells this wait from those that no guard sees
    asm volatile(
        "{ .reg .pred pl_wait; mbarrier.try_wait.parity.shared::cta.b64 pl_wait, [%1], %2; selp.u32 %0, 1, "
        "0, pl_wait; }"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (done == 0);
}

/// One arrival.
[[maybe_unused]] static __device__ __forceinline__ void arrive(std::uint32_t barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

/// One arrival that also expects `bytes` of asynchronous copies.
[[maybe_unused]] static __device__ __forceinline__ void arrive_expect(std::uint32_t barrier,
                                                                      std::uint32_t bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

/// One arrival at the barrier of the same address in block `rank` of the cluster. It ends reads by this
/// thread; writes that the other block is to read need a fence of their own: a release at cluster scope costs
/// a MEMBAR.ALL.GPU with each arrival.
[[maybe_unused]] static __device__ __forceinline__ void arrive_remote(std::uint32_t barrier,
                                                                      std::uint32_t rank) {
  asm volatile(
      "{ .reg .b32 remote; mapa.shared::cluster.u32 remote, %0, %1; "
      "mbarrier.arrive.shared::cluster.b64 _, [remote]; }" ::"r"(barrier),
      "r"(rank)
      : "memory");
}

}  // namespace mbarrier

/// Makes generic writes to shared memory visible to asynchronous copies and matrix units.
[[maybe_unused]] static __device__ __forceinline__ void fence_proxy_async() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Where a producer or consumer stands in a ring: the stage, and the parity of its full barrier's current
/// phase. advance(stages) goes on to the next stage.
struct RingCursor {
  std::uint32_t stage = 0;
  std::uint32_t parity = 0;
  __device__ __forceinline__ void advance(std::uint32_t stages) {
    if (++stage == stages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

}  // namespace pipelink
