// pipelink-tilelang 1 f635e71b114b8b5690c81316fc76f9fb9bcf51672469263426f2c0e61b96141a 90a 100a 103a 120a tilelang 0.1.15
// Made by PipeLink's front end for TileLang from components/swiglu_tilelang/swiglu_tilelang.py; do not edit.
#define PIPELINK_COMPONENT swiglu_tilelang
#include <pipelink/component.h>
#include <pipelink/tilelang.h>

#include "swiglu_tilelang.h"

namespace swiglu_tilelang {

namespace tl = ::pipelink::tilelang;
using namespace ::pipelink::tilelang::names;

#line 48 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_PARAMETERS(swiglu_tilelang::Parameters, "swiglu_tilelang.h", out_desc);
#line 48 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_HOST(swiglu_tilelang::Arguments, "swiglu_tilelang.h", out, rows, columns);
#line 48 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_FACT(interleave, int, 8);
#line 48 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_USE_FACT(tile_m, int);
#line 48 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_USE_FACT(tile_n, int);
#line 48 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_USE_FACT(part_n, int);
#line 48 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_REQUIRE(two_warpgroups, "tile_m == 128 && part_n == 128");
#line 48 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_REQUIRE(whole_parts, "tile_n == part_n || tile_n == 2 * part_n");

#line 18 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_BUFFER(epilogue_shared, .bytes = 2 * 16384, .align = 1024);
#line 18 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_NAMED_BARRIER(epilogue_all_0, .threads = 128);
#line 18 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_NAMED_BARRIER(epilogue_all_1, .threads = 128);
#line 18 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_IMPORT_TENSOR(acc, .element = "f32", .tile = {64, 128},
                       .scope = "warpgroup", .layout = "((4,8,4),(2,2,8,2)):((2,128,2048),(1,1024,16,8))",
                       .via = "epilogue", .parameter = 0);
#line 18 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_STEPS(epilogue, .once = "sync epilogue_all_0 x 2; sync epilogue_all_1 x 2");
#line 49 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_EXPORT(epilogue, void, pipelink::Self self, float (&acc)[64], unsigned m0, unsigned n0, unsigned part, unsigned warpgroup) {
  [[maybe_unused]] const int pl_thread = static_cast<int>(threadIdx.x % 128);
#line 47 "lowered/swiglu_tilelang.cu"
  const pipelink::TensorMap& out_desc = parameters(self).out_desc;
  [[maybe_unused]] const int tile_n = swiglu_tilelang::tile_n(self);
  [[maybe_unused]] bfloat16_t* const stage =
      reinterpret_cast<bfloat16_t*>(epilogue_shared.data(self) + warpgroup * 16384);
  const auto pl_sync_all = [&] { if (warpgroup == 0) epilogue_all_0.sync(self); else epilogue_all_1.sync(self); };
  float gate[32];
  float up[32];
  #pragma unroll
  for (int i = 0; i < 16; ++i) {
    *(float2*)(gate + (i * 2)) = *(float2*)(acc + (i * 2));
  }
  #pragma unroll
  for (int i_1 = 0; i_1 < 16; ++i_1) {
    *(float2*)(up + (i_1 * 2)) = *(float2*)(acc + ((i_1 * 2) + 32));
  }
  #pragma unroll
  for (int i_2 = 0; i_2 < 32; ++i_2) {
    gate[i_2] = ((gate[i_2] * tl::fast_rcp((0x1p+0f + __expf((gate[i_2] * -0x1p+0f))))) * up[i_2]);
  }
  if (tile_n == 256) {
    tl::tma_store_wait<1, true>();
  } else {
    tl::tma_store_wait<0, true>();
  }
  pl_sync_all();
  #pragma unroll
  for (int i_3 = 0; i_3 < 16; ++i_3) {
    bfloat16_t stage_local_cast[2];
    uint1 __1;
    float2 v_ = *(float2*)(gate + (i_3 * 2));
    (reinterpret_cast<__nv_bfloat162*>(&__1))[0] = __float22bfloat162_rn(((float2*)(&v_))[0]);
    *(uint1*)(stage_local_cast + 0) = __1;
    *(uint1*)(stage + (((((((((((int)part) & 1) * 4096) + ((pl_thread >> 5) * 1024)) + ((i_3 & 1) * 512)) + (((pl_thread & 31) >> 2) * 64)) + (((((pl_thread & 31) >> 4) + (i_3 >> 3)) & 1) * 32)) + (((((pl_thread & 15) >> 3) + ((i_3 & 7) >> 2)) & 1) * 16)) + (((((pl_thread & 7) >> 2) + ((i_3 & 3) >> 1)) & 1) * 8)) + ((pl_thread & 3) * 2))) = *(uint1*)(stage_local_cast + 0);
  }
  pl_sync_all();
  if (tl::tl_shuffle_elect<128>(pl_thread)) {
    tl::fence_proxy_async();
    tl::tma_store(out_desc, (&(stage[((((int)part) & 1) * 4096)])), (((int)n0) >> 1), ((int)(m0 + ((uint)64 * warpgroup))));
    tl::tma_store_arrive();
  }
}

#line 50 "components/swiglu_tilelang/swiglu_tilelang.py"
PIPELINK_EXPORT(finish, void, pipelink::Self self) {
  [[maybe_unused]] const int pl_thread = static_cast<int>(threadIdx.x % 128);
#line 93 "lowered/swiglu_tilelang.cu"
  tl::tma_store_wait<0, true>();
}

}  // namespace swiglu_tilelang
