// pipelink/cute.h: what CuTe's types are as text is what the maps by name come to.
#include <doctest/doctest.h>
#include <pipelink/cute.h>

#include <cute/atom/mma_traits_sm80.hpp>
#include <cute/atom/mma_traits_sm90_gmma.hpp>
#include <cute/tensor.hpp>
#include <string>

#include "packager/layout/layout.h"
#include "packager/layout/text.h"

namespace {

using pipelink::layout::parse_layout;
using pipelink::layout::to_text;

/// The same function; `map` is one by name. Where extents that follow each other are written as one, the
/// texts differ.
void same(const char* found, const std::string& map) {
  CAPTURE(map);
  const auto read = parse_layout(found), named = parse_layout(map);
  REQUIRE(read);
  REQUIRE(named);
  REQUIRE(read->rank() == named->rank());
  for (std::size_t i = 0; i < read->rank(); ++i) CHECK(read->size(i) == named->size(i));
  CHECK(pipelink::layout::same_function(*read, *named));
}

template <class Operation, class Warps = cute::Layout<cute::Shape<cute::_1, cute::_1, cute::_1>>>
using Product = decltype(cute::make_tiled_mma(Operation{}, Warps{}));
constexpr auto kK = cute::GMMA::Major::K;
template <int kWarpgroups>
using Rows = cute::Layout<cute::Shape<cute::Int<kWarpgroups>, cute::_1, cute::_1>>;

}  // namespace

TEST_CASE("accumulators and operands in registers are written as their maps by name") {
  using Wgmma = Product<cute::SM90_64x128x16_F32BF16BF16_RS<kK, kK>>;
  same(pipelink::cute_accumulator<Wgmma>, "wgmma_accumulator(64,128)");
  const auto named = parse_layout("wgmma_accumulator(64,128)");  // what the component cute_gemm says
  REQUIRE(named);
  CHECK(pipelink::cute_accumulator<Wgmma> == to_text(*named));
  same(pipelink::cute_operand_a<Wgmma>, "wgmma_a(64,16,16)");
  same(pipelink::cute_accumulator<Product<cute::SM90_64x96x16_F32BF16BF16_SS<kK, kK>, Rows<2>>>,
       "wgmma_accumulator(128,96,2)");
  using Mma = Product<cute::SM80_16x8x16_F32BF16BF16F32_TN>;
  same(pipelink::cute_accumulator<Mma>, "mma_m16n8_c(16,8)");
  same(pipelink::cute_operand_a<Mma>, "mma_m16n8k16_a(16,16)");
  same(pipelink::cute_operand_b<Mma>, "mma_m16n8k16_b(8,16)");
}

TEST_CASE("tiles in shared memory are written with their swizzle") {
  using Tile = decltype(cute::tile_to_shape(cute::GMMA::Layout_K_SW128_Atom<cute::bfloat16_t>{},
                                            cute::Shape<cute::_128, cute::_64>{}));
  same(pipelink::cute_layout<Tile>, "wgmma_k_major(128,64,16,128)");
  same(pipelink::cute_layout<
           cute::Layout<cute::Shape<cute::_32, cute::_64>, cute::Stride<cute::_64, cute::_1>>>,
       "row_major(32,64)");
  CHECK(std::string(pipelink::cute_layout<cute::Layout<cute::_8>>) == "8:1");
}
