// The device functions that kernels lowered by TileLang call, for components that PipeLink's front end makes
// of such kernels: so that they compile without TileLang, and wait and arrive as PipeLink's own do. A kernel
// that calls another one is refused by the front end, which reads the names here: those after
// PIPELINK_TILELANG.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <cstdint>

#include "pipelink/device.h"
#include "pipelink/tensor_map.h"

#define PIPELINK_TILELANG [[maybe_unused]] static __device__ __forceinline__

namespace pipelink::tilelang {

/// What the emitted text names without a namespace.
namespace names {
using half_t = __half;
using bfloat16_t = __nv_bfloat16;
using uchar = unsigned char;
using uint = unsigned;

template <class T>
PIPELINK_TILELANG unsigned __pack_half2(T low, T high) {
  static_assert(sizeof(T) == 2);
  return static_cast<unsigned>(__builtin_bit_cast(unsigned short, high)) << 16 |
         __builtin_bit_cast(unsigned short, low);
}
}  // namespace names

// ---- threads --------------------------------------------------------------------------------------------

/// One thread of each `kThreads`, always the same; 0: of all. `thread` is the kernel's number of the thread,
/// whatever it is in the block.
template <int kThreads>
PIPELINK_TILELANG bool tl_shuffle_elect(int thread) {
  return kThreads == 0 ? thread == 0 : thread % (kThreads == 0 ? 1 : kThreads) == 0;
}

// ---- mbarriers and bulk copies --------------------------------------------------------------------------

/// In shared memory; the linked kernel initialises it.
struct Barrier {
  std::uint64_t word;

  __device__ __forceinline__ std::uint32_t address() const { return shared_address(this); }
  __device__ __forceinline__ void wait(unsigned parity) { mbarrier::wait(address(), parity); }
  __device__ __forceinline__ void arrive() { mbarrier::arrive(address()); }
  __device__ __forceinline__ void arrive_and_expect_tx(unsigned bytes) {
    mbarrier::arrive_expect(address(), bytes);
  }
  __device__ __forceinline__ void expect_transaction(unsigned bytes) {
    asm volatile("mbarrier.expect_tx.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(bytes) : "memory");
  }
};

/// The mbarrier at an address in the shared window.
PIPELINK_TILELANG Barrier* barrier(std::uint32_t address) {
  return static_cast<Barrier*>(__cvta_shared_to_generic(address));
}

PIPELINK_TILELANG void prefetch_tma_descriptor(const TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

PIPELINK_TILELANG void tma_load(const TensorMap& map, Barrier& full, void* to, int x, int y) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4}], "
      "[%2];" ::"r"(shared_address(to)),
      "l"(&map), "r"(full.address()), "r"(x), "r"(y)
      : "memory");
}
PIPELINK_TILELANG void tma_load(const TensorMap& map, Barrier& full, void* to, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, "
      "%5}], "
      "[%2];" ::"r"(shared_address(to)),
      "l"(&map), "r"(full.address()), "r"(x), "r"(y), "r"(z)
      : "memory");
}
PIPELINK_TILELANG void tma_store(const TensorMap& map, const void* from, int x, int y) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(
                   shared_address(from)),
               "l"(&map), "r"(x), "r"(y)
               : "memory");
}
PIPELINK_TILELANG void tma_store(const TensorMap& map, const void* from, int x, int y, int z) {
  asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.tile.bulk_group [%1, {%2, %3, %4}], [%0];" ::"r"(
                   shared_address(from)),
               "l"(&map), "r"(x), "r"(y), "r"(z)
               : "memory");
}
PIPELINK_TILELANG void tma_store_arrive() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
/// Waits until at most `kPending` groups of stores are left; with `kRead`, left to read their source.
template <int kPending, bool kRead = true>
PIPELINK_TILELANG void tma_store_wait() {
  if constexpr (kRead)
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
  else
    asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kPending) : "memory");
}
PIPELINK_TILELANG void fence_proxy_async() {
  ::pipelink::fence_proxy_async();
}

// ---- matrices of 8 × 8 elements of 16 bits --------------------------------------------------------------

PIPELINK_TILELANG void ptx_stmatrix_m8n8_x1(void* to, unsigned a) {
  asm volatile("stmatrix.sync.aligned.m8n8.x1.shared.b16 [%0], {%1};" ::"r"(shared_address(to)), "r"(a)
               : "memory");
}
PIPELINK_TILELANG void ptx_stmatrix_m8n8_x2(void* to, unsigned a, unsigned b) {
  asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(shared_address(to)), "r"(a),
               "r"(b)
               : "memory");
}
PIPELINK_TILELANG void ptx_stmatrix_m8n8_x4(void* to, unsigned a, unsigned b, unsigned c, unsigned d) {
  asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(shared_address(to)),
               "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}

// ---- arithmetic -----------------------------------------------------------------------------------------

/// 1 / x, approximately.
PIPELINK_TILELANG float fast_rcp(float x) {
  float r;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(x));
  return r;
}

// Two at a time, in one instruction where there is one. The results are those of two.
PIPELINK_TILELANG float2 add2(float2 a, float2 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
  return __fadd2_rn(a, b);
#else
  return {a.x + b.x, a.y + b.y};
#endif
}
PIPELINK_TILELANG float2 mul2(float2 a, float2 b) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
  return __fmul2_rn(a, b);
#else
  return {a.x * b.x, a.y * b.y};
#endif
}
PIPELINK_TILELANG float2 sub2(float2 a, float2 b) {
  return add2(a, {-b.x, -b.y});
}
PIPELINK_TILELANG float2 fma2(float2 a, float2 b, float2 c) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 1000
  return __ffma2_rn(a, b, c);
#else
  return {__fmaf_rn(a.x, b.x, c.x), __fmaf_rn(a.y, b.y, c.y)};
#endif
}

}  // namespace pipelink::tilelang
