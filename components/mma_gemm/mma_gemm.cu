// Matrix product on the tensor cores through mma.sync, for every architecture that PipeLink links for: eight
// warps, each 16 × 128 of a 128 × 128 tile of float32 accumulators, bfloat16 operands from the ring
// `operands`. What becomes of a finished tile is the callable `epilogue`'s.
//
// A stage of the ring holds 128 × 64 of A, then 128 × 64 of B, both K-major in 128-byte swizzled rows. A warp
// has 16 rows of its warpgroup's 64, so that its accumulators lie as wgmma's do. Two stages and the
// epilogue's 32 KB fit into the 99 KB of sm_120.
#define PIPELINK_COMPONENT mma_gemm
#include <pipelink/component.h>

namespace mma_gemm {

PIPELINK_FACT(tile_m, int, 128);
PIPELINK_FACT(tile_n, int, 128);
PIPELINK_FACT(tile_k, int, 64);
/// Columns that one call of the epilogue gets.
PIPELINK_FACT(part_n, int, 128);
constexpr int kWarps = 8;

PIPELINK_RING(operands, .side = pipelink::kConsumer, .stages = {2, 8},
              .stage_bytes = (tile_m + tile_n) * tile_k * 2, .align = 1024, .full_arrivals = 1,
              .transaction_bytes = (tile_m + tile_n) * tile_k * 2, .empty_arrivals = kWarps);

/// The block's `step`-th tile: its first row and column. Returns its number of k-blocks; 0: there is no such
/// tile.
PIPELINK_IMPORT(tile_at, unsigned, pipelink::Self self, unsigned step, unsigned& m0, unsigned& n0);
/// Takes over warpgroup `warpgroup`'s share of a tile, whose only part is `part` = 0: rows
/// m0 + 64 * warpgroup and on, columns n0 and on.
PIPELINK_IMPORT(epilogue, void, pipelink::Self self, float (&acc)[64], unsigned m0, unsigned n0,
                unsigned part, unsigned warpgroup);
/// Called once after the last tile.
PIPELINK_IMPORT(finish, void, pipelink::Self self);
PIPELINK_EXPORT_TENSOR(acc, .element = "f32", .tile = {64, 128}, .space = "registers", .scope = "warpgroup",
                       .layout = "((4,8,4),(2,2,16)):((2,128,2048),(1,1024,8))", .via = "epilogue",
                       .parameter = 0);

PIPELINK_STEPS(mma, .loop = "(wait operands; release operands)*; call epilogue");

/// Four 8 × 8 matrices; lane l gives the address of row l % 8 of matrix l / 8.
static __device__ __forceinline__ void load_matrices(std::uint32_t (&to)[4], std::uint32_t address) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(address)
               : "memory");
}

/// acc += A·Bᵀ, 16 × 8 × 16.
static __device__ __forceinline__ void multiply(float* acc, const std::uint32_t (&a)[4], std::uint32_t b0,
                                                std::uint32_t b1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
      "{%0, %1, %2, %3};"
      : "+f"(acc[0]), "+f"(acc[1]), "+f"(acc[2]), "+f"(acc[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

PIPELINK_ROLE(mma, .warps = kWarps, .registers = {128, 232})(pipelink::Self self) {
  // The same in all lanes; told so that the compiler keeps it in a uniform register.
  const unsigned warp = __shfl_sync(~0u, mma.warp(self), 0), lane = threadIdx.x % 32;
  const unsigned stages = operands.stages(self);
  // Rows are eight to a swizzle pattern: 16-byte chunk c of row r is at chunk c ^ (r % 8). All rows that a
  // lane reads have its own r % 8.
  const unsigned row = lane % 8, high = lane / 16;
  // Matrices of A: {rows +0, +8} × {k +0, +8}; of B: {k +0, +8} × {columns +0, +8}.
  const unsigned row_a = (warp * 16 + lane / 8 % 2 * 8 + row) * (tile_k * 2);
  const unsigned row_b = tile_m * tile_k * 2 + (high * 8 + row) * (tile_k * 2);

  pipelink::RingCursor at;
  unsigned m0, n0;
  for (unsigned step = 0; const unsigned k_blocks = tile_at(self, step, m0, n0); ++step) {
    float acc[64];
#pragma unroll
    for (float& value : acc) value = 0.0f;
    for (unsigned block = 0; block < k_blocks; ++block) {
      operands.wait(self, at);
      const std::uint32_t stage = operands.address(self, at);
#pragma unroll
      for (int k = 0; k < tile_k / 16; ++k) {
        std::uint32_t a[4];
        load_matrices(a, stage + row_a + ((2 * k + high) ^ row) * 16);
#pragma unroll
        for (int j = 0; j < tile_n / 8; j += 2) {
          std::uint32_t b[4];
          load_matrices(b, stage + row_b + j * 8 * (tile_k * 2) + ((2 * k + lane / 8 % 2) ^ row) * 16);
          multiply(acc + 4 * j, a, b[0], b[1]);
          multiply(acc + 4 * (j + 1), a, b[2], b[3]);
        }
      }
      __syncwarp();
      if (lane == 0) operands.release(self, at);
      at.advance(stages);
    }
    epilogue(self, acc, m0, n0, 0, warp / 4);
  }
  finish(self);
}

}  // namespace mma_gemm
