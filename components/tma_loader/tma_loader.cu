// Fills the ring `operands` with the tiles of A and B that a matrix-product role consumes, for a persistent
// grid.
//
// A stage holds tile_m × tile_k of A, then tile_n × tile_k of B, both K-major in 128-byte swizzled rows. With
// the fact `interleave` = g, the rows of B alternate g gate rows and g up rows, straight from a checkpoint
// that stores all gates before all ups: the tensor map of B has the group and the half as dimensions of their
// own.
#define PIPELINK_COMPONENT tma_loader
#include <pipelink/component.h>

#include "tma_loader.h"

namespace tma_loader {

PIPELINK_PARAMETERS(tma_loader::Parameters, "tma_loader.h", a, b, m_tiles, n_tiles, k_blocks);
PIPELINK_HOST(tma_loader::Arguments, "tma_loader.h", a, b, m, n, k);

PIPELINK_USE_FACT(tile_m, int);
PIPELINK_USE_FACT(tile_n, int);
PIPELINK_USE_FACT(tile_k, int);
PIPELINK_USE_FACT_OR(interleave, int, 0);
PIPELINK_USE_FACT_OR(min_k_blocks, int,
                     1);  // for the host provider: blocks past the end of k are loaded as zeros
/// Rows of tiles that are walked together, so that their A stays in the L2 cache while B passes by.
PIPELINK_SETTABLE_FACT(group_m, int, .value = 16, .domain = {2, 4, 8, 16, 32, 64});

PIPELINK_REQUIRE(swizzled_rows, "tile_k == 64");
PIPELINK_REQUIRE(whole_groups, "interleave % 8 == 0 && tile_n % max(2 * interleave, 8) == 0");
PIPELINK_REQUIRE(one_box, "tile_m <= 256 && tile_n <= 256");

PIPELINK_IMPORT_RING(operands, .side = pipelink::kProducer, .stage_bytes = "(tile_m + tile_n) * tile_k * 2",
                     .align = 1024, .full_arrivals = 1,
                     .transaction_bytes = "(tile_m + tile_n) * tile_k * 2");

PIPELINK_STEPS(load, .loop = "acquire operands; arrive operands");

/// The block's `step`-th tile: its first row and column. Returns its number of k-blocks; 0: there is no such
/// tile.
static __device__ __forceinline__ unsigned find_tile(pipelink::Self self, unsigned step, unsigned& m0,
                                                     unsigned& n0) {
  const Parameters& p = parameters(self);
  const unsigned tile = blockIdx.x + step * gridDim.x;
  if (tile >= p.m_tiles * p.n_tiles) return 0;
  const unsigned group = group_m(self);
  const unsigned first = tile / (group * p.n_tiles) * group;  // row of tiles where the group begins
  const unsigned rows = min(group, p.m_tiles - first);
  const unsigned local = tile - first * p.n_tiles;
  m0 = (first + local % rows) * tile_m(self);
  n0 = local / rows * tile_n(self);
  return p.k_blocks;
}

PIPELINK_EXPORT(tile_at, unsigned, pipelink::Self self, unsigned step, unsigned& m0, unsigned& n0) {
  return find_tile(self, step, m0, n0);
}

static __device__ __forceinline__ void prefetch(const pipelink::TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

// To the block's own shared memory: with .shared::cluster, ptxas makes a call of it on sm_120a.
static __device__ __forceinline__ void load_a(std::uint32_t to, const pipelink::TensorMap& map,
                                              std::uint32_t full, unsigned k, unsigned row) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
      "%4}], [%2];" ::"r"(to),
      "l"(&map), "r"(full), "r"(k), "r"(row)
      : "memory");
}

static __device__ __forceinline__ void load_b(std::uint32_t to, const pipelink::TensorMap& map,
                                              std::uint32_t full, unsigned k, unsigned group) {
  asm volatile(
      "cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %5, "
      "%5, %4}], "
      "[%2];" ::"r"(to),
      "l"(&map), "r"(full), "r"(k), "r"(group), "r"(0)
      : "memory");
}

PIPELINK_ROLE(load, .warps = 4, .registers = {24, 40})(pipelink::Self self) {
  if (load.thread(self) != 0) return;
  const Parameters& p = parameters(self);
  prefetch(p.a);
  prefetch(p.b);
  const unsigned group_rows = interleave(self) == 0 ? 8 : 2 * interleave(self);
  const unsigned bytes_a = tile_m(self) * tile_k(self) * 2, bytes_b = tile_n(self) * tile_k(self) * 2;

  pipelink::RingCursor at;
  unsigned m0, n0;
  for (unsigned step = 0; const unsigned k_blocks = find_tile(self, step, m0, n0); ++step) {
    for (unsigned block = 0; block < k_blocks; ++block) {
      operands.acquire(self, at);
      const std::uint32_t full = operands.full(self, at), to = operands.address(self, at);
      pipelink::mbarrier::arrive_expect(full, bytes_a + bytes_b);
      load_a(to, p.a, full, block * tile_k(self), m0);
      load_b(to + bytes_a, p.b, full, block * tile_k(self), n0 / group_rows);
      at.advance(operands.stages(self));
    }
  }
}

}  // namespace tma_loader
