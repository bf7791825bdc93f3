// Between PipeLink's handles and ThunderKittens, whose headers are the user's: include them first, then this
// (`#include <kittens.cuh>`, from THUNDERKITTENS_ROOT). What a ThunderKittens kernel takes from the block as
// a whole comes from handles:
//
//     PIPELINK_BUFFER(tiles, .bytes = pipelink::tk::bytes_of<Tile, Tile[2]>, .align = 1024);
//     PIPELINK_NAMED_BARRIER(all, .threads = 128);
//     PIPELINK_MBARRIERS(ready, .count = 2, .arrivals = 1);
//
//     auto allocator = pipelink::tk::allocator(tiles, self);  // in place of extern __shared__
//     auto& tile = allocator.template allocate<Tile>();
//     all.sync(self);  // in place of kittens::warpgroup::sync(1)
//     kittens::semaphore& full = pipelink::tk::semaphore(ready, self, 1);
//
// The linked kernel initialises mbarriers and sets registers: init_semaphore, increase_registers and
// decrease_registers are not called. Functions of kittens that take the number of a barrier can have it, but
// they synchronise in the aligned form, which `pipelink audit` names (P-BARRIER): use them in a role that a
// composition has once. kittens' groups count threads from the block's first: a role of n warps, n a multiple
// of 4, begins at a multiple of 128 threads, which is right for kittens::warpgroup and smaller groups.
#pragma once

#include <cstddef>

#include "pipelink/device.h"
#include "pipelink/self.h"

namespace pipelink::tk {

namespace detail {
template <std::size_t kAlign, class... T>
constexpr long long bytes() {
  std::size_t end = 0;
  ((end = (end + kAlign - 1) / kAlign * kAlign + sizeof(T)), ...);
  return static_cast<long long>(end);
}
}  // namespace detail

/// What an allocator that aligns to 1024 takes for these, in this order; arrays as Tile[2].
template <class... T>
inline constexpr long long bytes_of = detail::bytes<1024, T...>();
/// The same for another alignment.
template <std::size_t kAlign, class... T>
inline constexpr long long bytes_aligned_of = detail::bytes<kAlign, T...>();

/// kittens' allocator over a buffer. The buffer is aligned to `kAlign` at least, so that nothing is lost at
/// its start.
template <int kAlign = 1024, class Buffer>
[[maybe_unused]] static __device__ __forceinline__ ::kittens::shared_allocator<kAlign> allocator(Buffer,
                                                                                                 Self self) {
  static_assert(Buffer::align % kAlign == 0,
                "state .align of the buffer: as much as the allocator aligns to");
  return ::kittens::shared_allocator<kAlign>(Buffer::template data<int>(self));
}

/// The number of a named barrier, for functions that synchronise in themselves.
template <class Barrier>
[[maybe_unused]] static __device__ __forceinline__ int id(Barrier, Self self) {
  return static_cast<int>(Barrier::id(self));
}

/// A named barrier as kittens' own, for group::arrive and group::arrive_and_wait. Its threads are the
/// contract's.
template <class Barrier>
[[maybe_unused]] static __device__ __forceinline__ ::kittens::barrier<Barrier::threads / 32> barrier(
    Barrier, Self self) {
  return {static_cast<int>(Barrier::id(self))};
}

/// kittens' semaphore at an address in the shared window, such as a ring's full(self, at).
[[maybe_unused]] static __device__ __forceinline__ ::kittens::semaphore& semaphore(std::uint32_t address) {
  static_assert(sizeof(::kittens::semaphore) == 8);
  return *static_cast<::kittens::semaphore*>(__cvta_shared_to_generic(address));
}
/// One of an array of mbarriers.
template <class Mbarriers>
[[maybe_unused]] static __device__ __forceinline__ ::kittens::semaphore& semaphore(Mbarriers, Self self,
                                                                                   std::uint32_t i = 0) {
  return semaphore(Mbarriers::address(self, i));
}

/// A ring's stage as a tile, or as a struct of tiles.
template <class Tile, class Ring>
[[maybe_unused]] static __device__ __forceinline__ Tile& stage(Ring, Self self, RingCursor at) {
  return *reinterpret_cast<Tile*>(Ring::data(self, at));
}

}  // namespace pipelink::tk
