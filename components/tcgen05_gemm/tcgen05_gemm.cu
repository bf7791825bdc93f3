// Matrix product on the tensor cores of sm_100a and sm_103a: 128 × 256 tiles of float32 accumulators in
// tensor memory, bfloat16 operands from the ring `operands`. What becomes of a finished tile is the callable
// `epilogue`'s.
//
// A stage of the ring holds 128 × 64 of A, then 256 × 64 of B, both K-major in 128-byte swizzled rows. One
// thread multiplies; two warpgroups take tiles out, one tile behind: tensor memory holds two.
//
// A tile is two products of 64 rows. Those of 64 rows lay out 16 rows in each quarter of the lanes, the
// quarter that one warp of a warpgroup may read; the second product is put 16 lanes further. So the 16 × 256
// bit load gives warp w of warpgroup g the rows 64g + 16w and on, in the order in which wgmma's accumulators
// lie. A product of 128 rows would give a warp 32 rows in succession.
#define PIPELINK_COMPONENT tcgen05_gemm
#include <pipelink/component.h>

namespace tcgen05_gemm {

PIPELINK_FACT(tile_m, int, 128);
PIPELINK_FACT(tile_n, int, 256);
PIPELINK_FACT(tile_k, int, 64);
/// Columns that one call of the epilogue gets.
PIPELINK_FACT(part_n, int, 128);
constexpr unsigned kTiles = 2;  // in tensor memory
constexpr int kDrainWarps = 8;

PIPELINK_RING(operands, .side = pipelink::kConsumer, .stages = {2, 8},
              .stage_bytes = (tile_m + tile_n) * tile_k * 2, .align = 1024, .full_arrivals = 1,
              .transaction_bytes = (tile_m + tile_n) * tile_k * 2, .empty_arrivals = 1);
PIPELINK_TENSOR_MEMORY(accumulators, .columns = kTiles * tile_n);
PIPELINK_MBARRIERS(full, .count = kTiles, .arrivals = 1);
PIPELINK_MBARRIERS(empty, .count = kTiles, .arrivals = kDrainWarps, .first_parity = 1);

/// The block's `step`-th tile: its first row and column. Returns its number of k-blocks; 0: there is no such
/// tile.
PIPELINK_IMPORT(tile_at, unsigned, pipelink::Self self, unsigned step, unsigned& m0, unsigned& n0);
/// Takes over warpgroup `warpgroup`'s share of part `part` of a tile: rows m0 + 64 * warpgroup and on,
/// columns n0 and on.
PIPELINK_IMPORT(epilogue, void, pipelink::Self self, float (&acc)[64], unsigned m0, unsigned n0,
                unsigned part, unsigned warpgroup);
/// Called once after the last tile.
PIPELINK_IMPORT(finish, void, pipelink::Self self);
PIPELINK_EXPORT_TENSOR(acc, .element = "f32", .tile = {64, 128}, .space = "registers", .scope = "warpgroup",
                       .layout = "((4,8,4),(2,2,16)):((2,128,2048),(1,1024,8))", .via = "epilogue",
                       .parameter = 0);

PIPELINK_STEPS(multiply_tiles, .loop = "wait empty; (wait operands; release operands)*; arrive full");
PIPELINK_STEPS(drain, .loop = "wait full; call epilogue; arrive empty; call epilogue");

/// Of a K-major operand in 128-byte swizzled rows, eight of which are 1024 bytes.
static __device__ __forceinline__ std::uint64_t descriptor(std::uint32_t address) {
  constexpr std::uint64_t kSwizzle128 = std::uint64_t{2} << 61, kVersion = std::uint64_t{1} << 46;
  return kSwizzle128 | kVersion | (std::uint64_t{64} << 32) | (std::uint64_t{1} << 16) |
         ((address & 0x3ffff) >> 4);
}

/// Of a product: float32 accumulators, bfloat16 operands, both K-major, 64 × 256.
constexpr std::uint32_t kProduct = 1u << 4 | 1u << 7 | 1u << 10 | tile_n / 8 << 17 | 64 / 16 << 24;

/// acc (+)= A·Bᵀ, 64 × 256 × 16.
static __device__ __forceinline__ void multiply(std::uint32_t acc, std::uint64_t a, std::uint64_t b,
                                                bool accumulate) {
  asm volatile(
      "{ .reg .pred p; setp.ne.b32 p, %4, 0; tcgen05.mma.cta_group::1.kind::f16 [%0], %1, %2, %3, p; }" ::"r"(
          acc),
      "l"(a), "l"(b), "r"(kProduct), "r"(static_cast<int>(accumulate))
      : "memory");
}

/// Arrives at a barrier when all products of this thread so far are done.
static __device__ __forceinline__ void arrive_when_done(std::uint32_t barrier) {
  asm volatile("tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [%0];" ::"r"(barrier)
               : "memory");
}
static __device__ __forceinline__ void fence_before_sync() {
  asm volatile("tcgen05.fence::before_thread_sync;" ::: "memory");
}
static __device__ __forceinline__ void fence_after_sync() {
  asm volatile("tcgen05.fence::after_thread_sync;" ::: "memory");
}

/// 16 lanes × 128 columns, once they are there.
static __device__ __forceinline__ void load(float (&acc)[64], std::uint32_t from) {
  asm volatile(
      "tcgen05.ld.sync.aligned.16x256b.x16.b32 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, [%64];"
      : "=f"(acc[0]), "=f"(acc[1]), "=f"(acc[2]), "=f"(acc[3]), "=f"(acc[4]), "=f"(acc[5]), "=f"(acc[6]),
        "=f"(acc[7]), "=f"(acc[8]), "=f"(acc[9]), "=f"(acc[10]), "=f"(acc[11]), "=f"(acc[12]), "=f"(acc[13]),
        "=f"(acc[14]), "=f"(acc[15]), "=f"(acc[16]), "=f"(acc[17]), "=f"(acc[18]), "=f"(acc[19]),
        "=f"(acc[20]), "=f"(acc[21]), "=f"(acc[22]), "=f"(acc[23]), "=f"(acc[24]), "=f"(acc[25]),
        "=f"(acc[26]), "=f"(acc[27]), "=f"(acc[28]), "=f"(acc[29]), "=f"(acc[30]), "=f"(acc[31]),
        "=f"(acc[32]), "=f"(acc[33]), "=f"(acc[34]), "=f"(acc[35]), "=f"(acc[36]), "=f"(acc[37]),
        "=f"(acc[38]), "=f"(acc[39]), "=f"(acc[40]), "=f"(acc[41]), "=f"(acc[42]), "=f"(acc[43]),
        "=f"(acc[44]), "=f"(acc[45]), "=f"(acc[46]), "=f"(acc[47]), "=f"(acc[48]), "=f"(acc[49]),
        "=f"(acc[50]), "=f"(acc[51]), "=f"(acc[52]), "=f"(acc[53]), "=f"(acc[54]), "=f"(acc[55]),
        "=f"(acc[56]), "=f"(acc[57]), "=f"(acc[58]), "=f"(acc[59]), "=f"(acc[60]), "=f"(acc[61]),
        "=f"(acc[62]), "=f"(acc[63])
      : "r"(from));
  asm volatile("tcgen05.wait::ld.sync.aligned;" ::: "memory");
#pragma unroll
  for (float& value : acc) asm volatile("" : "+f"(value)::"memory");  // not to be read before the wait
}

PIPELINK_ROLE(multiply_tiles, .warps = 1, .registers = {24, 64})(pipelink::Self self) {
  if (multiply_tiles.thread(self) != 0) return;
  const std::uint32_t memory = accumulators.address(self);
  const unsigned stages = operands.stages(self);
  pipelink::RingCursor at, tile;
  unsigned m0, n0;
  for (unsigned step = 0; const unsigned k_blocks = tile_at(self, step, m0, n0); ++step) {
    empty.wait(self, tile.stage, tile.parity ^ 1);
    fence_after_sync();
    const std::uint32_t upper = memory + tile.stage * tile_n, lower = upper + (16u << 16);
    for (unsigned block = 0; block < k_blocks; ++block) {
      operands.wait(self, at);
      fence_after_sync();
      const std::uint64_t a = descriptor(operands.address(self, at)), next = 64 * tile_k * 2 / 16;
      const std::uint64_t b = a + tile_m * tile_k * 2 / 16;
#pragma unroll
      for (int k = 0; k < tile_k / 16; ++k) {
        const bool accumulate = block != 0 || k != 0;
        multiply(upper, a + k * 2, b + k * 2, accumulate);
        multiply(lower, a + next + k * 2, b + k * 2, accumulate);
      }
      arrive_when_done(operands.empty(self, at));
      at.advance(stages);
    }
    arrive_when_done(full.address(self, tile.stage));
    tile.advance(kTiles);
  }
}

PIPELINK_ROLE(drain, .warps = kDrainWarps, .registers = {128, 200})(pipelink::Self self) {
  // The same in all lanes; told so that the compiler keeps it in a uniform register.
  const unsigned warp = __shfl_sync(~0u, drain.warp(self), 0), warpgroup = warp / 4;
  const std::uint32_t memory = accumulators.address(self) + ((warp % 4 * 32 + warpgroup * 16) << 16);
  pipelink::RingCursor tile;
  unsigned m0, n0;
  for (unsigned step = 0; tile_at(self, step, m0, n0) != 0; ++step) {
    full.wait(self, tile.stage, tile.parity);
    fence_after_sync();
#pragma unroll
    for (int part = 0; part < tile_n / part_n; ++part) {
      float acc[64];
      load(acc, memory + tile.stage * tile_n + part * part_n);
      if (part + 1 == tile_n / part_n) {
        fence_before_sync();
        __syncwarp();
        if (threadIdx.x % 32 == 0) empty.arrive(self, tile.stage);
      }
      epilogue(self, acc, m0, n0 + part * part_n, part, warpgroup);
    }
    tile.advance(kTiles);
  }
  finish(self);
}

}  // namespace tcgen05_gemm
