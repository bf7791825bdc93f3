// Layouts, their algebra and the named maps against CuTe's own, from the CUTLASS headers.
#include <doctest/doctest.h>

#include <cute/atom/copy_traits_sm100.hpp>
#include <cute/atom/copy_traits_sm75.hpp>
#include <cute/atom/copy_traits_sm90.hpp>
#include <cute/atom/mma_atom.hpp>
#include <cute/atom/mma_traits_sm100.hpp>
#include <cute/atom/mma_traits_sm80.hpp>
#include <cute/atom/mma_traits_sm89.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
#include <cute/tensor.hpp>
#include <vector>

#include "packager/layout/algebra.h"
#include "packager/layout/maps.h"
#include "tests/unit/layout/support.h"

namespace {

using namespace cute;  // NOLINT(google-build-using-namespace): the cases spell CuTe's types
namespace ours = pipelink::layout;
using Found = ours::Result<ours::Layout>;

int cases = 0;

/// The same size, and the same index everywhere.
void compare(const Found& found, const std::vector<std::int64_t>& theirs) {
  ++cases;
  CAPTURE(found.error);
  REQUIRE(found);
  CAPTURE(ours::to_text(*found));
  REQUIRE(ours::indices(*found) == theirs);
}

template <class Theirs>
void same(const Found& found, const Theirs& theirs) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(static_cast<int>(cute::size(theirs))));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int>(theirs(static_cast<int>(i)));
  compare(found, all);
}

#define PARENTHESES(...) __VA_ARGS__
#define COALESCE(A, TYPE) same(ours::coalesce(ours::read(A)), coalesce(PARENTHESES TYPE{}));
#define COMPOSE(A, TYPE, B, OTHER) \
  same(ours::composition(ours::read(A), ours::read(B)), composition(PARENTHESES TYPE{}, PARENTHESES OTHER{}));
#define RIGHT_INVERSE(A, TYPE) same(ours::right_inverse(ours::read(A)), right_inverse(PARENTHESES TYPE{}));
#define LEFT_INVERSE(A, TYPE) same(ours::left_inverse(ours::read(A)), left_inverse(PARENTHESES TYPE{}));
#define SWIZZLED_TYPE(TYPE, SWIZZLE) composition(PARENTHESES SWIZZLE{}, PARENTHESES TYPE{})
#define SWIZZLED(A, TYPE, SWIZZLE) same(Found(ours::read(A)), SWIZZLED_TYPE(TYPE, SWIZZLE));
#define SWIZZLED_COMPOSE(A, TYPE, SWIZZLE, B, OTHER)    \
  same(ours::composition(ours::read(A), ours::read(B)), \
       composition(SWIZZLED_TYPE(TYPE, SWIZZLE), PARENTHESES OTHER{}));
#define SWIZZLED_RIGHT_INVERSE(A, TYPE, SWIZZLE) \
  same(ours::right_inverse(ours::read(A)), right_inverse(SWIZZLED_TYPE(TYPE, SWIZZLE)));
#define SWIZZLED_LEFT_INVERSE(A, TYPE, SWIZZLE) \
  same(ours::left_inverse(ours::read(A)), left_inverse(SWIZZLED_TYPE(TYPE, SWIZZLE)));

/// CuTe's (thread, value) → column-major index of rows x columns, ours row-major.
template <class Theirs>
void fragment(const char* map, int rows, int columns, const Theirs& theirs) {
  ++cases;
  CAPTURE(map);
  const ours::Layout layout = ours::read(map);
  REQUIRE(layout.threads() == static_cast<std::int64_t>(cute::size<0>(theirs)));
  REQUIRE(layout.values() == static_cast<std::int64_t>(cute::size<1>(theirs)));
  for (int t = 0; t < layout.threads(); ++t)
    for (int v = 0; v < layout.values(); ++v) {
      const int index = theirs(t, v);
      REQUIRE(layout(t, v) == index % rows * columns + index / rows);
    }
}

/// CuTe's (thread, bit) → bit of the source, ours in elements of `bits`.
template <class Theirs>
void copied(const char* map, int bits, const Theirs& theirs, int threads = 32) {
  ++cases;
  CAPTURE(map);
  const ours::Layout layout = ours::read(map);
  REQUIRE(layout.threads() == threads);
  REQUIRE(layout.values() * bits == static_cast<std::int64_t>(cute::size<1>(theirs)));
  for (int t = 0; t < threads; ++t)
    for (int v = 0; v < layout.values(); ++v) REQUIRE(layout(t, v) * bits == int(theirs(t, v * bits)));
}

/// CuTe's tile with a swizzle of addresses in bytes, ours with one of offsets in elements.
template <class Theirs>
void in_memory(const char* map, int bytes, const Theirs& theirs) {
  ++cases;
  CAPTURE(map);
  const ours::Layout layout = ours::read(map);
  REQUIRE(layout.size(0) == static_cast<std::int64_t>(cute::size<0>(theirs)));
  REQUIRE(layout.size(1) == static_cast<std::int64_t>(cute::size<1>(theirs)));
  for (int r = 0; r < layout.size(0); ++r)
    for (int c = 0; c < layout.size(1); ++c)
      REQUIRE(layout(r, c) * bytes == int(theirs.layout_a()(theirs.layout_b()(r, c) * bytes)));
}

}  // namespace

TEST_CASE("random layouts") {
#include "cute_cases.inc"
  CHECK(cases >= 300);
}

TEST_CASE("fragments of matrix instructions") {
  using Wgmma64 = MMA_Traits<SM90_64x64x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K>>;
  using Wgmma128 = MMA_Traits<SM90_64x128x16_F32BF16BF16_SS<GMMA::Major::K, GMMA::Major::K>>;
  using Wgmma256 = MMA_Traits<SM90_64x256x16_F32BF16BF16_RS<GMMA::Major::K, GMMA::Major::K>>;
  fragment("wgmma_accumulator(64,64)", 64, 64, Wgmma64::CLayout{});
  fragment("wgmma_accumulator(64,128)", 64, 128, Wgmma128::CLayout{});
  fragment("wgmma_accumulator(64,256)", 64, 256, Wgmma256::CLayout{});
  fragment("wgmma_a(64,16,16)", 64, 16, Wgmma256::ALayout{});
  fragment("wgmma_a(64,8,32)", 64, 8, MMA_Traits<SM90_64x64x8_F32TF32TF32_RS_TN<>>::ALayout{});
  fragment("wgmma_a(64,32,8)", 64, 32, MMA_Traits<SM90_64x64x32_F32E4M3E4M3_RS_TN<>>::ALayout{});

  using K16 = MMA_Traits<SM80_16x8x16_F32BF16BF16F32_TN>;
  fragment("mma_m16n8_c(16,8)", 16, 8, K16::CLayout{});
  fragment("mma_m16n8k16_a(16,16)", 16, 16, K16::ALayout{});
  fragment("mma_m16n8k16_b(8,16)", 8, 16, K16::BLayout{});
  fragment("mma_m16n8_c(16,8)", 16, 8, MMA_Traits<SM80_16x8x16_F16F16F16F16_TN>::CLayout{});
  using K8 = MMA_Traits<SM80_16x8x8_F32F16F16F32_TN>;
  fragment("mma_m16n8k8_a(16,8)", 16, 8, K8::ALayout{});
  fragment("mma_m16n8k8_b(8,8)", 8, 8, K8::BLayout{});
  using Tf32 = MMA_Traits<SM80_16x8x8_F32TF32TF32F32_TN>;
  fragment("mma_m16n8_c(16,8)", 16, 8, Tf32::CLayout{});
  fragment("mma_m16n8k8_tf32_a(16,8)", 16, 8, Tf32::ALayout{});
  fragment("mma_m16n8k8_tf32_b(8,8)", 8, 8, Tf32::BLayout{});
  using Tf32Half = MMA_Traits<SM80_16x8x4_F32TF32TF32F32_TN>;
  fragment("mma_m16n8k4_tf32_a(16,4)", 16, 4, Tf32Half::ALayout{});
  fragment("mma_m16n8k4_tf32_b(8,4)", 8, 4, Tf32Half::BLayout{});
  using K32 = MMA_Traits<SM80_16x8x32_S32S8S8S32_TN>;
  fragment("mma_m16n8_c(16,8)", 16, 8, K32::CLayout{});
  fragment("mma_m16n8k32_a(16,32)", 16, 32, K32::ALayout{});
  fragment("mma_m16n8k32_b(8,32)", 8, 32, K32::BLayout{});
  fragment("mma_m16n8k32_a(16,32)", 16, 32, MMA_Traits<SM89_16x8x32_F32E4M3E4M3F32_TN>::ALayout{});
  using K16Bytes = MMA_Traits<SM80_16x8x16_S32S8S8S32_TN>;
  fragment("mma_m16n8k16_b8_a(16,16)", 16, 16, K16Bytes::ALayout{});
  fragment("mma_m16n8k16_b8_b(8,16)", 8, 16, K16Bytes::BLayout{});
  using K64 = MMA_Traits<SM80_16x8x64_S32S4S4S32_TN>;
  fragment("mma_m16n8k64_a(16,64)", 16, 64, K64::ALayout{});
  fragment("mma_m16n8k64_b(8,64)", 8, 64, K64::BLayout{});
}

/// Warps and further fragments as CuTe's TiledMMA spreads them, which is interleaved.
TEST_CASE("tiled fragments") {
  const auto mma = make_tiled_mma(SM80_16x8x16_F32BF16BF16F32_TN{}, Layout<Shape<_2, _2, _1>>{});
  const auto theirs = mma.thrfrg_C(make_layout(Shape<_128, _64>{}));
  const ours::Layout layout = ours::read("mma_m16n8_c(128,64,2,2,1)");
  const ours::Layout a = ours::read("mma_m16n8k16_a(128,32,2,2,1)"),
                     b = ours::read("mma_m16n8k16_b(64,32,2,2,1)");
  const auto theirs_a = mma.thrfrg_A(make_layout(Shape<_128, _32>{}));
  const auto theirs_b = mma.thrfrg_B(make_layout(Shape<_64, _32>{}));
  const auto at = [](const auto& tiled, int lane, int down, int across, int v, int row, int column) {
    return int(tiled(
        make_coord(make_coord(lane, make_coord(down, across)), make_coord(v, make_coord(row, column)))));
  };
  for (int warp = 0; warp < 4; ++warp)
    for (int lane = 0; lane < 32; ++lane) {
      const int t = warp * 32 + lane;
      for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
          for (int v = 0; v < 4; ++v) {
            const int index = at(theirs, lane, warp % 2, warp / 2, v, i, j);
            REQUIRE(layout(t, v + 4 * (j + 4 * i)) == index % 128 * 64 + index / 128);
          }
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 2; ++k) {
          for (int v = 0; v < 8; ++v) {
            const int index = at(theirs_a, lane, warp % 2, 0, v, i, k);
            REQUIRE(a(t, v + 8 * (k + 2 * i)) == index % 128 * 32 + index / 128);
          }
          for (int v = 0; v < 4; ++v) {
            const int index = at(theirs_b, lane, warp / 2, 0, v, i, k);
            REQUIRE(b(t, v + 4 * (k + 2 * i)) == index % 64 * 32 + index / 64);
          }
        }
    }
}

TEST_CASE("matrix copies") {
  copied("ldmatrix_x1(8,8)", 16, Copy_Traits<SM75_U32x1_LDSM_N>::DstLayout{});
  copied("ldmatrix_x2(16,8)", 16, Copy_Traits<SM75_U32x2_LDSM_N>::DstLayout{});
  copied("ldmatrix_x4(32,8)", 16, Copy_Traits<SM75_U32x4_LDSM_N>::DstLayout{});
  copied("ldmatrix_x1_trans(8,8)", 16, Copy_Traits<SM75_U16x2_LDSM_T>::DstLayout{});
  copied("ldmatrix_x2_trans(16,8)", 16, Copy_Traits<SM75_U16x4_LDSM_T>::DstLayout{});
  copied("ldmatrix_x4_trans(32,8)", 16, Copy_Traits<SM75_U16x8_LDSM_T>::DstLayout{});
  copied("stmatrix_x1(8,8)", 16, Copy_Traits<SM90_U32x1_STSM_N>::SrcLayout{});
  copied("stmatrix_x2(16,8)", 16, Copy_Traits<SM90_U32x2_STSM_N>::SrcLayout{});
  copied("stmatrix_x4(32,8)", 16, Copy_Traits<SM90_U32x4_STSM_N>::SrcLayout{});
  copied("stmatrix_x1_trans(8,8)", 16, Copy_Traits<SM90_U16x2_STSM_T>::SrcLayout{});
  copied("stmatrix_x2_trans(16,8)", 16, Copy_Traits<SM90_U16x4_STSM_T>::SrcLayout{});
  copied("stmatrix_x4_trans(32,8)", 16, Copy_Traits<SM90_U16x8_STSM_T>::SrcLayout{});
  copied("stmatrix_m16n8_x1(8,16)", 8, Copy_Traits<SM100_U8x4_STSM_T>::SrcLayout{});
  copied("stmatrix_m16n8_x2(16,16)", 8, Copy_Traits<SM100_U8x8_STSM_T>::SrcLayout{});
  copied("stmatrix_m16n8_x4(32,16)", 8, Copy_Traits<SM100_U8x16_STSM_T>::SrcLayout{});
  copied("matrix_rows(8,8)", 16, Copy_Traits<SM75_U32x1_LDSM_N>::SrcLayout{}, 8);
  copied("matrix_rows(16,8)", 16, Copy_Traits<SM75_U32x2_LDSM_N>::SrcLayout{}, 16);
  copied("matrix_rows(32,8)", 16, Copy_Traits<SM90_U32x4_STSM_N>::DstLayout{});
}

TEST_CASE("tensor memory") {
  copied("tcgen05_32x32b(32,1)", 32, Copy_Traits<SM100_TMEM_LOAD_32dp32b1x>::DstLayout{});
  copied("tcgen05_32x32b(32,8)", 32, Copy_Traits<SM100_TMEM_LOAD_32dp32b8x>::DstLayout{});
  copied("tcgen05_16x32bx2(16,2)", 32, Copy_Traits<SM100_TMEM_LOAD_16dp32b1x>::DstLayout{});
  copied("tcgen05_16x32bx2(16,16)", 32, Copy_Traits<SM100_TMEM_LOAD_16dp32b8x>::DstLayout{});
  copied("tcgen05_16x64b(16,2)", 32, Copy_Traits<SM100_TMEM_LOAD_16dp64b1x>::DstLayout{});
  copied("tcgen05_16x64b(16,16)", 32, Copy_Traits<SM100_TMEM_LOAD_16dp64b8x>::DstLayout{});
  copied("tcgen05_16x128b(16,4)", 32, Copy_Traits<SM100_TMEM_LOAD_16dp128b1x>::DstLayout{});
  copied("tcgen05_16x128b(16,32)", 32, Copy_Traits<SM100_TMEM_LOAD_16dp128b8x>::DstLayout{});
  copied("tcgen05_16x256b(16,8)", 32, Copy_Traits<SM100_TMEM_LOAD_16dp256b1x>::DstLayout{});
  copied("tcgen05_16x256b(16,64)", 32, Copy_Traits<SM100_TMEM_LOAD_16dp256b8x>::DstLayout{});
}

TEST_CASE("operand tiles in shared memory") {
  using Down = Step<_1, _2>;  // atoms below each other first
  using Across = Step<_2, _1>;
  in_memory("wgmma_k_major(128,128,16,128)", 2,
            tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_128, _128>{}, Down{}));
  in_memory("wgmma_k_major(64,64,16,64)", 2,
            tile_to_shape(GMMA::Layout_K_SW64_Atom<half_t>{}, Shape<_64, _64>{}, Down{}));
  in_memory("wgmma_k_major(64,64,16,32)", 2,
            tile_to_shape(GMMA::Layout_K_SW32_Atom<half_t>{}, Shape<_64, _64>{}, Down{}));
  in_memory("wgmma_k_major(64,64,16,0)", 2,
            tile_to_shape(GMMA::Layout_K_INTER_Atom<half_t>{}, Shape<_64, _64>{}, Down{}));
  in_memory("wgmma_k_major(64,256,8,128)", 1,
            tile_to_shape(GMMA::Layout_K_SW128_Atom<int8_t>{}, Shape<_64, _256>{}, Down{}));
  in_memory("wgmma_k_major(64,64,32,128)", 4,
            tile_to_shape(GMMA::Layout_K_SW128_Atom<float>{}, Shape<_64, _64>{}, Down{}));
  in_memory("wgmma_mn_major(128,64,16,128)", 2,
            tile_to_shape(GMMA::Layout_MN_SW128_Atom<half_t>{}, Shape<_128, _64>{}, Across{}));
  in_memory("wgmma_mn_major(64,64,16,64)", 2,
            tile_to_shape(GMMA::Layout_MN_SW64_Atom<half_t>{}, Shape<_64, _64>{}, Across{}));
  in_memory("wgmma_mn_major(64,64,16,32)", 2,
            tile_to_shape(GMMA::Layout_MN_SW32_Atom<half_t>{}, Shape<_64, _64>{}, Across{}));
  in_memory("wgmma_mn_major(64,64,16,0)", 2,
            tile_to_shape(GMMA::Layout_MN_INTER_Atom<half_t>{}, Shape<_64, _64>{}, Across{}));
  in_memory("wgmma_mn_major(128,64,16,128,32)", 2,
            tile_to_shape(UMMA::Layout_MN_SW128_32B_Atom<half_t>{}, Shape<_128, _64>{}, Across{}));
  in_memory("wgmma_mn_major(64,64,32,128,32)", 4,
            tile_to_shape(UMMA::Layout_MN_SW128_32B_Atom<float>{}, Shape<_64, _64>{}, Across{}));
  in_memory("tma_box(64,128,16,128)", 2,
            tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<_64, _128>{}, Down{}));
}
