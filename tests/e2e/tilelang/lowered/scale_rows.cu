// pipelink-tilelang 1 28acc04b29aaf26fb4e99808ffd65e0ecb0a40acbf7f4dd924f66b10bdf354f5 90a 120a tilelang 0.1.15
// Made by PipeLink's front end for TileLang from tests/e2e/tilelang/scale_rows.py; do not edit.
#define PIPELINK_COMPONENT scale_rows
#include <pipelink/component.h>
#include <pipelink/tilelang.h>

#include "scale_rows.h"

namespace scale_rows {

namespace tl = ::pipelink::tilelang;
using namespace ::pipelink::tilelang::names;

#line 20 "tests/e2e/tilelang/scale_rows.py"
PIPELINK_PARAMETERS(scale_rows::Parameters, "scale_rows.h", x_desc, y, rows);
#line 20 "tests/e2e/tilelang/scale_rows.py"
PIPELINK_HOST(scale_rows::Arguments, "scale_rows.h", x, y, rows);
#line 20 "tests/e2e/tilelang/scale_rows.py"
PIPELINK_FACT(factor, int, 3);

#line 8 "tests/e2e/tilelang/scale_rows.py"
PIPELINK_BUFFER(scale_shared, .bytes = 65536, .align = 1024);
#line 8 "tests/e2e/tilelang/scale_rows.py"
PIPELINK_MBARRIERS(scale_mbarriers0, .count = 2, .arrivals = 1);
#line 8 "tests/e2e/tilelang/scale_rows.py"
PIPELINK_MBARRIERS(scale_mbarriers2, .count = 2, .arrivals = 128);
#line 20 "tests/e2e/tilelang/scale_rows.py"
PIPELINK_ROLE(scale_0, .warps = 4, .registers = {24, 24})(pipelink::Self self) {
  if (blockIdx.x >= ((parameters(self).rows + 511) / 512)) return;
  [[maybe_unused]] const int pl_thread = static_cast<int>(scale_0.thread(self));
#line 32 "lowered/scale_rows.cu"
  const pipelink::TensorMap& x_desc = parameters(self).x_desc;
  float* __restrict__ y = static_cast<float*>(parameters(self).y);
  [[maybe_unused]] const int rows = static_cast<int>(parameters(self).rows);
  [[maybe_unused]] float* const tile =
      reinterpret_cast<float*>(scale_shared.data(self));
  struct Mbarriers {
    pipelink::Self self;
    __device__ tl::Barrier& operator[](unsigned i) const {
      return *(i < 2 ? tl::barrier(scale_mbarriers0.address(self, i - 0)) : tl::barrier(scale_mbarriers2.address(self, i - 2)));
    }
  };
  const Mbarriers mbarrier{self};
  float held[64];
  if (tl::tl_shuffle_elect<0>(pl_thread)) {
    tl::prefetch_tma_descriptor(x_desc);
  }
    for (int k = 0; k < 4; ++k) {
      mbarrier[((k & 1) + 2)].wait(((k >> 1) ^ 1));
      if (tl::tl_shuffle_elect<128>(pl_thread)) {
        mbarrier[(k & 1)].arrive_and_expect_tx(32768);
        tl::tma_load(x_desc, mbarrier[(k & 1)], (&(tile[((k & 1) * 8192)])), 0, ((((int)blockIdx.x) * 512) + (k * 128)));
      }
    }
}

#line 20 "tests/e2e/tilelang/scale_rows.py"
PIPELINK_ROLE(scale_1, .warps = 4, .registers = {240, 240})(pipelink::Self self) {
  if (blockIdx.x >= ((parameters(self).rows + 511) / 512)) return;
  [[maybe_unused]] const int pl_thread = static_cast<int>(scale_1.thread(self)) + 128;
#line 62 "lowered/scale_rows.cu"
  const pipelink::TensorMap& x_desc = parameters(self).x_desc;
  float* __restrict__ y = static_cast<float*>(parameters(self).y);
  [[maybe_unused]] const int rows = static_cast<int>(parameters(self).rows);
  [[maybe_unused]] float* const tile =
      reinterpret_cast<float*>(scale_shared.data(self));
  struct Mbarriers {
    pipelink::Self self;
    __device__ tl::Barrier& operator[](unsigned i) const {
      return *(i < 2 ? tl::barrier(scale_mbarriers0.address(self, i - 0)) : tl::barrier(scale_mbarriers2.address(self, i - 2)));
    }
  };
  const Mbarriers mbarrier{self};
#if __CUDA_ARCH__ == 900
  float held[64];
    for (int k_1 = 0; k_1 < 4; ++k_1) {
      mbarrier[(k_1 & 1)].wait((k_1 >> 1));
      #pragma unroll
      for (int i = 0; i < 16; ++i) {
        *(float4*)(held + (i * 4)) = *(float4*)(tile + (((((k_1 & 1) * 8192) + (i * 512)) + (pl_thread * 4)) - 512));
      }
      mbarrier[((k_1 & 1) + 2)].arrive();
      #pragma unroll
      for (int i_1 = 0; i_1 < 16; ++i_1) {
        float4 __1;
          float4 v_ = *(float4*)(held + (i_1 * 4));
          float4 v__1 = make_float4(((float)factor), ((float)factor), ((float)factor), ((float)factor));
          __1.x = (v_.x*v__1.x);
          __1.y = (v_.y*v__1.y);
          __1.z = (v_.z*v__1.z);
          __1.w = (v_.w*v__1.w);
        *(float4*)(held + (i_1 * 4)) = __1;
      }
      #pragma unroll
      for (int i_2 = 0; i_2 < 16; ++i_2) {
        if (((((((int)blockIdx.x) * 512) + (k_1 * 128)) + (i_2 * 8)) + (pl_thread >> 4)) < (rows + 8)) {
          *(float4*)(y + (((((((int64_t)((int)blockIdx.x)) * (int64_t)32768) + (((int64_t)k_1) * (int64_t)8192)) + (((int64_t)i_2) * (int64_t)512)) + (((int64_t)pl_thread) * (int64_t)4)) - (int64_t)512)) = *(float4*)(held + (i_2 * 4));
        }
      }
    }
#elif __CUDA_ARCH__ == 1200
  float held[64];
    for (int k_1 = 0; k_1 < 4; ++k_1) {
      mbarrier[(k_1 & 1)].wait((k_1 >> 1));
      #pragma unroll
      for (int i = 0; i < 16; ++i) {
        *(float4*)(held + (i * 4)) = *(float4*)(tile + (((((k_1 & 1) * 8192) + (i * 512)) + (pl_thread * 4)) - 512));
      }
      mbarrier[((k_1 & 1) + 2)].arrive();
      #pragma unroll
      for (int i_1 = 0; i_1 < 16; ++i_1) {
        float4 __1;
          float4 v_ = *(float4*)(held + (i_1 * 4));
          float4 v__1 = make_float4(((float)factor), ((float)factor), ((float)factor), ((float)factor));
          *(float2*)(&(__1.x)) = tl::mul2(*(float2*)(&(v_.x)), *(float2*)(&(v__1.x)));
          *(float2*)(&(__1.z)) = tl::mul2(*(float2*)(&(v_.z)), *(float2*)(&(v__1.z)));
        *(float4*)(held + (i_1 * 4)) = __1;
      }
      #pragma unroll
      for (int i_2 = 0; i_2 < 16; ++i_2) {
        if (((((((int)blockIdx.x) * 512) + (k_1 * 128)) + (i_2 * 8)) + (pl_thread >> 4)) < (rows + 8)) {
          *(float4*)(y + (((((((int64_t)((int)blockIdx.x)) * (int64_t)32768) + (((int64_t)k_1) * (int64_t)8192)) + (((int64_t)i_2) * (int64_t)512)) + (((int64_t)pl_thread) * (int64_t)4)) - (int64_t)512)) = *(float4*)(held + (i_2 * 4));
        }
      }
    }
#else
#error "not lowered for this architecture"
#endif
}

}  // namespace scale_rows
