// Matrix product on the tensor cores of sm_90a: two warpgroups, bfloat16 operands from the ring `operands`,
// float32 accumulators. What becomes of a finished tile is the callable `epilogue`'s.
//
// A stage of the ring holds tile_m × 64 of A, then tile_n × 64 of B, both K-major in 128-byte swizzled rows.
// The tile's shape is the composition's choice: `tile_n` decides how many waves of tiles the grid makes, and
// tiles of 64 rows leave a product with few rows more stages for its weights.
//
// A tile is handed over in two parts: 128 columns, and the rest. In a tile of 128 rows each warpgroup has 64
// rows and both parts; in one of 64 rows, one part. The first warpgroup is `lead` k-blocks ahead of the
// second, so that their epilogues come one after the other: the tensor cores work on the other's products
// meanwhile.
#define PIPELINK_COMPONENT wgmma_gemm
#include <pipelink/component.h>

#include "wgmma.h"

namespace wgmma_gemm {

PIPELINK_SETTABLE_FACT(tile_m, int, .value = 128, .domain = {64, 128});
PIPELINK_SETTABLE_FACT(tile_n, int, .value = 256, .domain = {160, 192, 208, 224, 240, 256});
PIPELINK_FACT(tile_k, int, 64);
/// Columns of a tile's first part; the second part is the rest.
PIPELINK_FACT(part_n, int, 128);
/// k-blocks that the first warpgroup is ahead of the second.
PIPELINK_SETTABLE_FACT(lead, int, .value = 2, .domain = {0, 1, 2, 3});
/// The least k-blocks of a tile, the most that `lead` may be. Those past the end of k hold zeros.
PIPELINK_FACT(min_k_blocks, int, 3);

PIPELINK_RING(operands, .side = pipelink::kConsumer, .stages = {3, 8},
              .stage_bytes = "(tile_m + tile_n) * tile_k * 2", .align = 1024, .full_arrivals = 1,
              .transaction_bytes = "(tile_m + tile_n) * tile_k * 2", .empty_arrivals = 2);
PIPELINK_NAMED_BARRIER(second_begins, .threads = 256);

/// The block's `step`-th tile: its first row and column. Returns its number of k-blocks; 0: there is no such
/// tile.
PIPELINK_IMPORT(tile_at, unsigned, pipelink::Self self, unsigned step, unsigned& m0, unsigned& n0);
/// Takes over warpgroup `warpgroup`'s share of part `part` of a tile: in tiles of 128 rows, rows
/// m0 + 64 * warpgroup and on; in those of 64 rows the part is the warpgroup's. Columns n0 and on.
PIPELINK_IMPORT(epilogue, void, pipelink::Self self, float (&acc)[64], unsigned m0, unsigned n0,
                unsigned part, unsigned warpgroup);
/// Called once after the last tile.
PIPELINK_IMPORT(finish, void, pipelink::Self self);
PIPELINK_EXPORT_TENSOR(acc, .element = "f32", .tile = {64, 128}, .space = "registers", .scope = "warpgroup",
                       .layout = "((4,8,4),(2,2,16)):((2,128,2048),(1,1024,8))", .via = "epilogue",
                       .parameter = 0);

PIPELINK_STEPS(
    mma, .once = "sync second_begins",
    .loop = "wait operands; (wait operands; release operands)*; release operands; call epilogue x 2");

/// A warpgroup's place in the ring. Stages are released in the order in which they were taken.
struct Operands {
  pipelink::Self self;
  unsigned stages;
  bool elected;  ///< the thread that arrives for its warpgroup
  pipelink::RingCursor next;
  unsigned oldest;  ///< the stage to be released next

  /// The next k-block, once it is there: its stage's address.
  __device__ __forceinline__ std::uint32_t take() {
    operands.wait(self, next);
    const std::uint32_t address = operands.address(self, next);
    next.advance(stages);
    return address;
  }
  __device__ __forceinline__ void release() {
    if (elected) operands.release(self, {oldest, 0});
    oldest = oldest + 1 == stages ? 0 : oldest + 1;
  }
};

/// One warpgroup's share of the tiles: kLeft and kRight columns from the first, whose operands are `offset_a`
/// and `offset_b` into a stage. Its first part is number `part`.
template <int kLeft, int kRight>
static __device__ __forceinline__ void multiply(pipelink::Self self, Operands ring, unsigned warpgroup,
                                                unsigned offset_a, unsigned offset_b, unsigned part) {
  float left[64], right[64];
  unsigned m0, n0;
  for (unsigned step = 0; const unsigned k_blocks = tile_at(self, step, m0, n0); ++step) {
    if (step == 0 && lead(self) != 0 && warpgroup != 0) second_begins.sync(self);
    for (unsigned block = 0; block < k_blocks; ++block) {
      const std::uint32_t stage = ring.take();
      const std::uint64_t a = descriptor(stage + offset_a), b = descriptor(stage + offset_b);
      wgmma_fence();
#pragma unroll
      for (int k = 0; k < tile_k / 16; ++k)
        wgmma<kLeft, kRight>(left, right, a + k * 2, b + k * 2, block != 0 || k != 0);
      wgmma_commit();
      wgmma_wait<1>();  // this block's products stay in flight; all before are done
      if (block != 0) ring.release();
      if (step == 0 && block + 1 == static_cast<unsigned>(lead(self)) && warpgroup == 0)
        second_begins.arrive(self);
    }
    wgmma_wait<0>();
    ring.release();
    settle<kLeft>(left);
    settle<kRight>(right);
    epilogue(self, left, m0, n0 + part * part_n, part, warpgroup);
    if (kRight != 0) epilogue(self, right, m0, n0 + part_n, 1, warpgroup);
  }
  finish(self);
}

template <int kRest>
static __device__ __forceinline__ void multiply(pipelink::Self self, const Operands& ring,
                                                unsigned warpgroup) {
  constexpr unsigned kRow = tile_k * 2;  // bytes
  if (tile_m(self) == 128)
    multiply<part_n, kRest>(self, ring, warpgroup, warpgroup * 64 * kRow, 128 * kRow, 0);
  else if (warpgroup == 0)
    multiply<part_n, 0>(self, ring, 0, 0, 64 * kRow, 0);
  else
    multiply<kRest, 0>(self, ring, 1, 0, (64 + part_n) * kRow, 1);
}

PIPELINK_ROLE(mma, .warps = 8, .registers = {232, 232})(pipelink::Self self) {
  // The same in all lanes; told so that the compiler keeps it in a uniform register.
  const unsigned warpgroup = __shfl_sync(~0u, mma.warp(self) / 4, 0);
  const Operands ring{self, operands.stages(self), mma.thread(self) % 128 == 0, {}, 0};
  switch (tile_n(self)) {  // a constant: one of these is linked
    case 160:
      return multiply<32>(self, ring, warpgroup);
    case 192:
      return multiply<64>(self, ring, warpgroup);
    case 208:
      return multiply<80>(self, ring, warpgroup);
    case 224:
      return multiply<96>(self, ring, warpgroup);
    case 240:
      return multiply<112>(self, ring, warpgroup);
    default:
      return multiply<128>(self, ring, warpgroup);
  }
}

}  // namespace wgmma_gemm
