// A stand-in for ThunderKittens' headers, which users bring themselves: the few names that
// pipelink/thunderkittens.h and the test touch, with the meaning that the adaptor relies on. Nothing of it is
// ThunderKittens' text.
#pragma once

#include <cstdint>
#include <utility>

namespace kittens {

struct semaphore {
  std::uint64_t word;
};

template <int kWarps>
struct barrier {
  int barrier_id;
};

/// Hands out shared memory from `ptr` on, each piece aligned.
template <int kAlign = 1024>
struct shared_allocator {
  int* ptr;
  __device__ explicit shared_allocator(int* from) : ptr(from) {}

  template <class T>
  __device__ T& allocate() {
    const auto address = reinterpret_cast<std::uintptr_t>(ptr),
               aligned = (address + kAlign - 1) / kAlign * kAlign;
    ptr = reinterpret_cast<int*>(aligned + sizeof(T));
    return *reinterpret_cast<T*>(aligned);
  }
  template <class T, std::size_t kCount>
  __device__ T (&allocate())[kCount] {
    return allocate<T[kCount]>();
  }
};

template <int kWarps>
struct group {
  static __device__ int laneid() { return static_cast<int>(threadIdx.x) % (32 * kWarps); }
  static __device__ void sync(int id) {
    asm volatile("bar.sync %0, %1;" ::"r"(id), "n"(32 * kWarps) : "memory");
  }
  static __device__ void arrive_and_wait(barrier<kWarps> which) { sync(which.barrier_id); }
  static __device__ void arrive(semaphore& which) {
    if (threadIdx.x % 32 == 0)
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(
                       static_cast<std::uint32_t>(__cvta_generic_to_shared(&which)))
                   : "memory");
  }
  static __device__ void wait(semaphore& which, int parity) {
    std::uint32_t done = 0;
    while (done == 0)
      asm volatile(
          "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
          : "=r"(done)
          : "r"(static_cast<std::uint32_t>(__cvta_generic_to_shared(&which))), "r"(parity)
          : "memory");
  }
};
using warpgroup = group<4>;

}  // namespace kittens
