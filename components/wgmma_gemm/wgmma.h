// wgmma of sm_90a in the shapes that wgmma_gemm uses: 64 rows, bfloat16 operands from shared memory, float32
// accumulators. An instruction names each of its registers, so each shape is text of its own; the
// operands after the accumulators are numbered by how many those are.
#pragma once

#include <cstdint>

namespace wgmma_gemm {

/// Descriptor of a K-major operand in 128-byte swizzled rows, eight of which are 1024 bytes.
static __device__ __forceinline__ std::uint64_t descriptor(std::uint32_t address) {
  return (std::uint64_t{1} << 62) | (std::uint64_t{64} << 32) | (std::uint64_t{1} << 16) |
         ((address & 0x3ffff) >> 4);
}

static __device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
static __device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most `kPending` groups are in flight.
template <int kPending>
static __device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
/// After a wait: the accumulators of `kColumns` columns may be read from here on, and not before.
template <int kColumns>
static __device__ __forceinline__ void settle(float (&acc)[64]) {
#pragma unroll
  for (int i = 0; i < kColumns / 2; ++i) asm volatile("" : "+f"(acc[i])::"memory");
}

// The names of accumulators 0 … 15, 16 … 31, and so on.
#define WGMMA_T0 "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_T1 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31"
#define WGMMA_T2 "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47"
#define WGMMA_T3 "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63"
#define WGMMA_T4 "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79"
#define WGMMA_T5 "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95"
#define WGMMA_T6 "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111"
#define WGMMA_T7 \
  "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127"
// As operands: eight of them, and the first 16, 24, … of an array.
#define WGMMA_R8(x, i)                                                                        \
  "+f"(x[i]), "+f"(x[i + 1]), "+f"(x[i + 2]), "+f"(x[i + 3]), "+f"(x[i + 4]), "+f"(x[i + 5]), \
      "+f"(x[i + 6]), "+f"(x[i + 7])
#define WGMMA_R16(x) WGMMA_R8(x, 0), WGMMA_R8(x, 8)
#define WGMMA_R24(x) WGMMA_R16(x), WGMMA_R8(x, 16)
#define WGMMA_R32(x) WGMMA_R24(x), WGMMA_R8(x, 24)
#define WGMMA_R40(x) WGMMA_R32(x), WGMMA_R8(x, 32)
#define WGMMA_R48(x) WGMMA_R40(x), WGMMA_R8(x, 40)
#define WGMMA_R56(x) WGMMA_R48(x), WGMMA_R8(x, 48)
#define WGMMA_R64(x) WGMMA_R56(x), WGMMA_R8(x, 56)

/// {left, right} = A·Bᵀ + (accumulate ? {left, right} : 0), 64 × (kLeft + kRight) × 16. The right part may
/// have no columns.
template <int kLeft, int kRight>
static __device__ __forceinline__ void wgmma(float (&left)[64], [[maybe_unused]] float (&right)[64],
                                             std::uint64_t a, std::uint64_t b, bool accumulate) {
#define WGMMA_SHAPE(LEFT, RIGHT, N, NAMES, A, B, P, ...)                                         \
  if constexpr (kLeft == LEFT && kRight == RIGHT)                                                \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #P ", 0; wgmma.mma_async.sync.aligned.m64n" #N \
               "k16.f32.bf16.bf16 {" NAMES "}, %" #A ", %" #B ", p, 1, 1, 0, 0; }"               \
               : __VA_ARGS__                                                                     \
               : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)))
  WGMMA_SHAPE(128, 32, 160, WGMMA_T0 ", " WGMMA_T1 ", " WGMMA_T2 ", " WGMMA_T3 ", " WGMMA_T4, 80, 81, 82,
              WGMMA_R64(left), WGMMA_R16(right));
  WGMMA_SHAPE(128, 64, 192, WGMMA_T0 ", " WGMMA_T1 ", " WGMMA_T2 ", " WGMMA_T3 ", " WGMMA_T4 ", " WGMMA_T5,
              96, 97, 98, WGMMA_R64(left), WGMMA_R32(right));
  WGMMA_SHAPE(128, 80, 208,
              WGMMA_T0 ", " WGMMA_T1 ", " WGMMA_T2 ", " WGMMA_T3 ", " WGMMA_T4 ", " WGMMA_T5
                       ", %96, %97, %98, %99, %100, %101, %102, %103",
              104, 105, 106, WGMMA_R64(left), WGMMA_R40(right));
  WGMMA_SHAPE(128, 96, 224,
              WGMMA_T0 ", " WGMMA_T1 ", " WGMMA_T2 ", " WGMMA_T3 ", " WGMMA_T4 ", " WGMMA_T5 ", " WGMMA_T6,
              112, 113, 114, WGMMA_R64(left), WGMMA_R48(right));
  WGMMA_SHAPE(128, 112, 240,
              WGMMA_T0 ", " WGMMA_T1 ", " WGMMA_T2 ", " WGMMA_T3 ", " WGMMA_T4 ", " WGMMA_T5 ", " WGMMA_T6
                       ", %112, %113, %114, %115, %116, %117, %118, %119",
              120, 121, 122, WGMMA_R64(left), WGMMA_R56(right));
  WGMMA_SHAPE(128, 128, 256,
              WGMMA_T0 ", " WGMMA_T1 ", " WGMMA_T2 ", " WGMMA_T3 ", " WGMMA_T4 ", " WGMMA_T5 ", " WGMMA_T6
                       ", " WGMMA_T7,
              128, 129, 130, WGMMA_R64(left), WGMMA_R64(right));
  WGMMA_SHAPE(32, 0, 32, WGMMA_T0, 16, 17, 18, WGMMA_R16(left));
  WGMMA_SHAPE(64, 0, 64, WGMMA_T0 ", " WGMMA_T1, 32, 33, 34, WGMMA_R32(left));
  WGMMA_SHAPE(80, 0, 80, WGMMA_T0 ", " WGMMA_T1 ", %32, %33, %34, %35, %36, %37, %38, %39", 40, 41, 42,
              WGMMA_R40(left));
  WGMMA_SHAPE(96, 0, 96, WGMMA_T0 ", " WGMMA_T1 ", " WGMMA_T2, 48, 49, 50, WGMMA_R48(left));
  WGMMA_SHAPE(112, 0, 112, WGMMA_T0 ", " WGMMA_T1 ", " WGMMA_T2 ", %48, %49, %50, %51, %52, %53, %54, %55",
              56, 57, 58, WGMMA_R56(left));
  WGMMA_SHAPE(128, 0, 128, WGMMA_T0 ", " WGMMA_T1 ", " WGMMA_T2 ", " WGMMA_T3, 64, 65, 66, WGMMA_R64(left));
#undef WGMMA_SHAPE
}

#undef WGMMA_T0
#undef WGMMA_T1
#undef WGMMA_T2
#undef WGMMA_T3
#undef WGMMA_T4
#undef WGMMA_T5
#undef WGMMA_T6
#undef WGMMA_T7
#undef WGMMA_R8
#undef WGMMA_R16
#undef WGMMA_R24
#undef WGMMA_R32
#undef WGMMA_R40
#undef WGMMA_R48
#undef WGMMA_R56
#undef WGMMA_R64

}  // namespace wgmma_gemm
