// Matrix product on the tensor cores of sm_90a: two warpgroups, each 64 × 256 of a 128 × 256 tile of float32
// accumulators, bfloat16 operands from the ring `operands`. What becomes of a finished tile is the callable
// `epilogue`'s.
//
// A stage of the ring holds 128 × 64 of A, then 256 × 64 of B, both K-major in 128-byte swizzled rows.
//
// The tensor cores work while the epilogue runs: a tile is handed over in two halves of 128 columns. The left
// half is complete, and in the epilogue, while the last products of the right half run; the right half's
// epilogue runs under the first products of the next tile's left half. Between those edges, both halves are
// one m64n256 product.
#define PIPELINK_COMPONENT wgmma_gemm
#include <pipelink/component.h>

namespace wgmma_gemm {

PIPELINK_FACT(tile_m, int, 128);
PIPELINK_FACT(tile_n, int, 256);
PIPELINK_FACT(tile_k, int, 64);
/// Columns that one call of the epilogue gets.
PIPELINK_FACT(part_n, int, 128);
/// k-blocks at either end of a tile that are multiplied by halves.
constexpr unsigned kEdge = 2;
/// The least k-blocks of a tile: both edges and one between. Those past the end of k hold zeros.
PIPELINK_FACT(min_k_blocks, int, 2 * kEdge + 1);

/// At an edge of a tile two stages are held while a third is waited for.
PIPELINK_RING(operands, .side = pipelink::kConsumer, .stages = {3, 8},
              .stage_bytes = (tile_m + tile_n) * tile_k * 2, .align = 1024, .full_arrivals = 1,
              .transaction_bytes = (tile_m + tile_n) * tile_k * 2, .empty_arrivals = 2);

/// The block's `step`-th tile: its first row and column. Returns its number of k-blocks; 0: there is no such
/// tile.
PIPELINK_IMPORT(tile_at, unsigned, pipelink::Self self, unsigned step, unsigned& m0, unsigned& n0);
/// Takes over half a tile of warpgroup `warpgroup`: rows m0 + 64 * warpgroup and on, columns n0 and on.
PIPELINK_IMPORT(epilogue, void, pipelink::Self self, float (&acc)[64], unsigned m0, unsigned n0,
                unsigned warpgroup);
/// Called once after the last tile.
PIPELINK_IMPORT(finish, void, pipelink::Self self);
PIPELINK_EXPORT_TENSOR(acc, .element = "f32", .tile = {64, 128}, .space = "registers", .scope = "warpgroup",
                       .layout = "((4,8,4),(2,2,16)):((2,128,2048),(1,1024,8))", .via = "epilogue",
                       .parameter = 0);

PIPELINK_STEPS(
    mma, .once = "wait operands x 2",
    .loop =
        "wait operands; release operands x 2; (wait operands; release operands)*; wait operands x 2; "
        "release operands; call epilogue; release operands x 2; wait operands x 2; call epilogue");

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
/// After a wait: `acc` may be read from here on, and not before.
static __device__ __forceinline__ void settle(float (&acc)[64]) {
#pragma unroll
  for (float& value : acc) asm volatile("" : "+f"(value)::"memory");
}

/// {left, right} += A·Bᵀ, 64 × 256 × 16.
static __device__ __forceinline__ void wgmma(float (&left)[64], float (&right)[64], std::uint64_t a,
                                             std::uint64_t b) {
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n256k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63, "
      "%64, %65, %66, %67, %68, %69, %70, %71, %72, %73, %74, %75, %76, %77, %78, %79, "
      "%80, %81, %82, %83, %84, %85, %86, %87, %88, %89, %90, %91, %92, %93, %94, %95, "
      "%96, %97, %98, %99, %100, %101, %102, %103, %104, %105, %106, %107, %108, %109, %110, %111, "
      "%112, %113, %114, %115, %116, %117, %118, %119, %120, %121, %122, %123, %124, %125, %126, %127}, "
      "%128, %129, 1, 1, 1, 0, 0;"
      : "+f"(left[0]), "+f"(left[1]), "+f"(left[2]), "+f"(left[3]), "+f"(left[4]), "+f"(left[5]),
        "+f"(left[6]), "+f"(left[7]), "+f"(left[8]), "+f"(left[9]), "+f"(left[10]), "+f"(left[11]),
        "+f"(left[12]), "+f"(left[13]), "+f"(left[14]), "+f"(left[15]), "+f"(left[16]), "+f"(left[17]),
        "+f"(left[18]), "+f"(left[19]), "+f"(left[20]), "+f"(left[21]), "+f"(left[22]), "+f"(left[23]),
        "+f"(left[24]), "+f"(left[25]), "+f"(left[26]), "+f"(left[27]), "+f"(left[28]), "+f"(left[29]),
        "+f"(left[30]), "+f"(left[31]), "+f"(left[32]), "+f"(left[33]), "+f"(left[34]), "+f"(left[35]),
        "+f"(left[36]), "+f"(left[37]), "+f"(left[38]), "+f"(left[39]), "+f"(left[40]), "+f"(left[41]),
        "+f"(left[42]), "+f"(left[43]), "+f"(left[44]), "+f"(left[45]), "+f"(left[46]), "+f"(left[47]),
        "+f"(left[48]), "+f"(left[49]), "+f"(left[50]), "+f"(left[51]), "+f"(left[52]), "+f"(left[53]),
        "+f"(left[54]), "+f"(left[55]), "+f"(left[56]), "+f"(left[57]), "+f"(left[58]), "+f"(left[59]),
        "+f"(left[60]), "+f"(left[61]), "+f"(left[62]), "+f"(left[63]), "+f"(right[0]), "+f"(right[1]),
        "+f"(right[2]), "+f"(right[3]), "+f"(right[4]), "+f"(right[5]), "+f"(right[6]), "+f"(right[7]),
        "+f"(right[8]), "+f"(right[9]), "+f"(right[10]), "+f"(right[11]), "+f"(right[12]), "+f"(right[13]),
        "+f"(right[14]), "+f"(right[15]), "+f"(right[16]), "+f"(right[17]), "+f"(right[18]), "+f"(right[19]),
        "+f"(right[20]), "+f"(right[21]), "+f"(right[22]), "+f"(right[23]), "+f"(right[24]), "+f"(right[25]),
        "+f"(right[26]), "+f"(right[27]), "+f"(right[28]), "+f"(right[29]), "+f"(right[30]), "+f"(right[31]),
        "+f"(right[32]), "+f"(right[33]), "+f"(right[34]), "+f"(right[35]), "+f"(right[36]), "+f"(right[37]),
        "+f"(right[38]), "+f"(right[39]), "+f"(right[40]), "+f"(right[41]), "+f"(right[42]), "+f"(right[43]),
        "+f"(right[44]), "+f"(right[45]), "+f"(right[46]), "+f"(right[47]), "+f"(right[48]), "+f"(right[49]),
        "+f"(right[50]), "+f"(right[51]), "+f"(right[52]), "+f"(right[53]), "+f"(right[54]), "+f"(right[55]),
        "+f"(right[56]), "+f"(right[57]), "+f"(right[58]), "+f"(right[59]), "+f"(right[60]), "+f"(right[61]),
        "+f"(right[62]), "+f"(right[63])
      : "l"(a), "l"(b));
}

/// acc = A·Bᵀ + (accumulate ? acc : 0), 64 × 128 × 16.
static __device__ __forceinline__ void wgmma_half(float (&acc)[64], std::uint64_t a, std::uint64_t b,
                                                  bool accumulate) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %66, 0; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "%64, %65, p, 1, 1, 0, 0; }"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3]), "+f"(acc[4]), "+f"(acc[5]), "+f"(acc[6]),
        "+f"(acc[7]), "+f"(acc[8]), "+f"(acc[9]), "+f"(acc[10]), "+f"(acc[11]), "+f"(acc[12]), "+f"(acc[13]),
        "+f"(acc[14]), "+f"(acc[15]), "+f"(acc[16]), "+f"(acc[17]), "+f"(acc[18]), "+f"(acc[19]),
        "+f"(acc[20]), "+f"(acc[21]), "+f"(acc[22]), "+f"(acc[23]), "+f"(acc[24]), "+f"(acc[25]),
        "+f"(acc[26]), "+f"(acc[27]), "+f"(acc[28]), "+f"(acc[29]), "+f"(acc[30]), "+f"(acc[31]),
        "+f"(acc[32]), "+f"(acc[33]), "+f"(acc[34]), "+f"(acc[35]), "+f"(acc[36]), "+f"(acc[37]),
        "+f"(acc[38]), "+f"(acc[39]), "+f"(acc[40]), "+f"(acc[41]), "+f"(acc[42]), "+f"(acc[43]),
        "+f"(acc[44]), "+f"(acc[45]), "+f"(acc[46]), "+f"(acc[47]), "+f"(acc[48]), "+f"(acc[49]),
        "+f"(acc[50]), "+f"(acc[51]), "+f"(acc[52]), "+f"(acc[53]), "+f"(acc[54]), "+f"(acc[55]),
        "+f"(acc[56]), "+f"(acc[57]), "+f"(acc[58]), "+f"(acc[59]), "+f"(acc[60]), "+f"(acc[61]),
        "+f"(acc[62]), "+f"(acc[63])
      : "l"(a), "l"(b), "r"(static_cast<int>(accumulate)));
}

PIPELINK_ROLE(mma, .warps = 8, .registers = {232, 232})(pipelink::Self self) {
  // The same in all lanes; told so that the compiler keeps it in a uniform register.
  const unsigned warpgroup = __shfl_sync(~0u, mma.warp(self) / 4, 0);
  const unsigned offset_a = warpgroup * (64 * tile_k * 2), offset_b = tile_m * tile_k * 2;
  const unsigned stages = operands.stages(self);
  const bool elected = mma.thread(self) % 128 == 0;
  pipelink::RingCursor at;

  const auto address = [&](pipelink::RingCursor of) { return operands.address(self, of); };
  const auto release = [&](pipelink::RingCursor block) {
    if (elected) operands.release(self, block);
  };
  // The next k-block, once it is there.
  const auto take = [&] {
    const pipelink::RingCursor block = at;
    operands.wait(self, block);
    at.advance(stages);
    return block;
  };
  struct Edge {
    pipelink::RingCursor block[kEdge];
  };
  const auto take_edge = [&] {
    Edge edge;
#pragma unroll
    for (unsigned i = 0; i < kEdge; ++i) edge.block[i] = take();
    return edge;
  };
  // One group of products: an edge, for half `half` of the columns.
  const auto multiply_half = [&](float(&acc)[64], unsigned half, const Edge& edge, bool fresh) {
    wgmma_fence();
#pragma unroll
    for (unsigned i = 0; i < kEdge; ++i) {
      std::uint32_t stage = address(edge.block[i]);
      asm volatile(
          ""
          : "+r"(stage));  // descriptors are made anew for each half, not kept in registers meanwhile
      const std::uint64_t a = descriptor(stage + offset_a);
      const std::uint64_t b = descriptor(stage + offset_b + half * (part_n * tile_k * 2));
#pragma unroll
      for (int k = 0; k < tile_k / 16; ++k) wgmma_half(acc, a + k * 2, b + k * 2, !fresh || i != 0 || k != 0);
    }
    wgmma_commit();
  };

  float left[64], right[64];
  unsigned m0, n0, next_m0, next_n0;
  unsigned k_blocks = tile_at(self, 0, m0, n0);
  if (k_blocks == 0) return finish(self);
  Edge head = take_edge();
  multiply_half(left, 0, head, true);
  multiply_half(right, 1, head, true);
  for (unsigned step = 1;; ++step) {
    pipelink::RingCursor held = head.block[kEdge - 1];  // products in flight read this stage
    for (unsigned block = kEdge; block < k_blocks - kEdge; ++block) {
      const pipelink::RingCursor now = take();
      const std::uint64_t a = descriptor(address(now) + offset_a), b = descriptor(address(now) + offset_b);
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < tile_k / 16; ++k) wgmma(left, right, a + k * 2, b + k * 2);
      wgmma_commit();
      wgmma_wait<1>();  // this block's products stay in flight; all before are done
      if (block == kEdge) {
#pragma unroll
        for (unsigned i = 0; i + 1 < kEdge; ++i) release(head.block[i]);
      }
      release(held);
      held = now;
    }
    const Edge tail = take_edge();
    multiply_half(left, 0, tail, false);
    wgmma_wait<1>();
    release(held);
    multiply_half(right, 1, tail, false);
    wgmma_wait<1>();  // the left half is complete
    settle(left);
    epilogue(self, left, m0, n0, warpgroup);
    wgmma_wait<0>();
    settle(right);
#pragma unroll
    for (const pipelink::RingCursor& block : tail.block) release(block);

    k_blocks = tile_at(self, step, next_m0, next_n0);
    if (k_blocks == 0) break;
    head = take_edge();
    multiply_half(left, 0, head, true);
    epilogue(self, right, m0, n0 + part_n, warpgroup);
    multiply_half(right, 1, head, true);
    m0 = next_m0;
    n0 = next_n0;
  }
  epilogue(self, right, m0, n0 + part_n, warpgroup);
  finish(self);
}

}  // namespace wgmma_gemm
