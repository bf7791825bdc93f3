// The role of wgmma_gemm, written with CuTe: two warpgroups, each 64 × 256 of a 128 × 256 tile of float32
// accumulators, bfloat16 operands from the ring `operands`. What becomes of a finished tile is the callable
// `epilogue`'s.
//
// Every number of the contract comes from CuTe's types: the tile from the product and the layouts in shared
// memory, the layout of the accumulators from the product.
#define PIPELINK_COMPONENT cute_gemm
#include <pipelink/component.h>
#include <pipelink/cute.h>

#include <cute/tensor.hpp>

namespace cute_gemm {

using Element = cute::bfloat16_t;
/// The product of one warpgroup, for as many columns as one call of the epilogue gets.
using Mma = decltype(cute::make_tiled_mma(
    cute::SM90_64x128x16_F32BF16BF16_SS<cute::GMMA::Major::K, cute::GMMA::Major::K>{}));
constexpr int kWarpgroups = 2, kParts = 2;

/// Rows in shared memory: K-major, swizzled in 128 bytes. A stage has A's, then B's.
using Rows = cute::GMMA::Layout_K_SW128_Atom<Element>;

PIPELINK_FACT(part_n, int, cute::tile_size<1>(Mma{}));
PIPELINK_FACT(tile_m, int, kWarpgroups* cute::tile_size<0>(Mma{}));
PIPELINK_FACT(tile_n, int, kParts* part_n);
PIPELINK_FACT(tile_k, int, cute::size<1>(Rows{}));
/// A stage is held while its products are in flight, and the next one is waited for.
PIPELINK_FACT(min_k_blocks, int, 2);

using TileA = decltype(cute::tile_to_shape(Rows{}, cute::Shape<cute::Int<tile_m>, cute::Int<tile_k>>{}));
using TileB = decltype(cute::tile_to_shape(Rows{}, cute::Shape<cute::Int<tile_n>, cute::Int<tile_k>>{}));
using Part = cute::Shape<cute::Int<cute::tile_size<0>(Mma{})>, cute::Int<part_n>>;
using PartA = cute::Shape<cute::Int<cute::tile_size<0>(Mma{})>, cute::Int<tile_k>>;
using PartB = cute::Shape<cute::Int<part_n>, cute::Int<tile_k>>;
constexpr int kBytesA = cute::cosize_v<TileA> * sizeof(Element),
              kBytesB = cute::cosize_v<TileB> * sizeof(Element);

PIPELINK_RING(operands, .side = pipelink::kConsumer, .stages = {min_k_blocks, 8},
              .stage_bytes = kBytesA + kBytesB, .align = 1024, .full_arrivals = 1,
              .transaction_bytes = kBytesA + kBytesB, .empty_arrivals = kWarpgroups);

/// The block's `step`-th tile: its first row and column. Returns its number of k-blocks; 0: there is no such
/// tile.
PIPELINK_IMPORT(tile_at, unsigned, pipelink::Self self, unsigned step, unsigned& m0, unsigned& n0);
/// Takes over warpgroup `warpgroup`'s share of part `part` of a tile: rows m0 + 64 * warpgroup and on,
/// columns n0 and on.
PIPELINK_IMPORT(epilogue, void, pipelink::Self self, float (&acc)[64], unsigned m0, unsigned n0,
                unsigned part, unsigned warpgroup);
/// Called once after the last tile.
PIPELINK_IMPORT(finish, void, pipelink::Self self);
PIPELINK_EXPORT_TENSOR(acc, .element = "f32", .tile = {cute::tile_size<0>(Mma{}), cute::tile_size<1>(Mma{})},
                       .layout = pipelink::cute_accumulator<Mma>, .via = "epilogue");

PIPELINK_STEPS(mma, .loop =
                        "wait operands; (wait operands; release operands)*; release operands; "
                        "call epilogue x 2");

PIPELINK_ROLE(mma, .warps = 4 * kWarpgroups, .registers = {232, 232})(pipelink::Self self) {
  // The same in all lanes; told so that the compiler keeps it in a uniform register.
  const unsigned warpgroup = __shfl_sync(~0u, mma.warp(self) / 4, 0);
  const bool elected = mma.thread(self) % 128 == 0;
  const unsigned stages = operands.stages(self);
  pipelink::RingCursor at;

  const auto slice = Mma{}.get_slice(mma.thread(self) % 128);
  const auto release = [&](pipelink::RingCursor block) {
    if (elected) operands.release(self, block);
  };
  unsigned m0, n0;
  for (unsigned step = 0; const unsigned k_blocks = tile_at(self, step, m0, n0); ++step) {
    float acc[kParts][64];
    const auto part_of = [&](int part) {
      return cute::make_tensor(cute::make_rmem_ptr(acc[part]), cute::partition_shape_C(Mma{}, Part{}));
    };
    // acc (+)= A·Bᵀ for a stage, both parts, in one group of products.
    const auto multiply = [&](pipelink::RingCursor block, bool fresh) {
      const auto* stage = reinterpret_cast<const Element*>(operands.data(self, block));
      const auto rows_a = cute::make_tensor(cute::make_smem_ptr(stage), TileA{});
      const auto rows_b = cute::make_tensor(cute::make_smem_ptr(stage + cute::cosize_v<TileA>), TileB{});
      const auto own_a = cute::local_tile(rows_a, PartA{}, cute::make_coord(warpgroup, 0));
      const auto a = slice.make_fragment_A(slice.partition_A(own_a));
      constexpr cute::Underscore all{};
      Mma product;
      cute::warpgroup_arrive();
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        const auto part_b = cute::local_tile(rows_b, PartB{}, cute::make_coord(part, 0));
        const auto b = slice.make_fragment_B(slice.partition_B(part_b));
        auto c = part_of(part);
        product.accumulate_ = fresh ? cute::GMMA::ScaleOut::Zero : cute::GMMA::ScaleOut::One;
#pragma unroll
        for (int k = 0; k < cute::size<2>(a); ++k) {
          cute::gemm(product, a(all, all, k), b(all, all, k), c);
          product.accumulate_ = cute::GMMA::ScaleOut::One;
        }
      }
      cute::warpgroup_commit_batch();
    };

    pipelink::RingCursor held = at;  // products in flight read this stage
    for (unsigned block = 0; block < k_blocks; ++block) {
      operands.wait(self, at);
      multiply(at, block == 0);
      if (block != 0) {
        cute::warpgroup_wait<1>();
        release(held);
      }
      held = at;
      at.advance(stages);
    }
    cute::warpgroup_wait<0>();
    release(held);
#pragma unroll
    for (int part = 0; part < kParts; ++part) {
      auto c = part_of(part);
      cute::warpgroup_fence_operand(c);  // not to be read before the wait
      epilogue(self, acc[part], m0, n0 + part * part_n, part, warpgroup);
    }
  }
  finish(self);
}

}  // namespace cute_gemm
