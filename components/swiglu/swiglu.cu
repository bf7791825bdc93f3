// silu(gate) · up on the accumulators of a matrix product whose columns alternate 8 gates and 8 ups, stored
// as bfloat16.
//
// A thread holds a gate and its up in registers of neighbouring column blocks, so nothing is exchanged. A
// call takes 64 × 128 accumulators of a warpgroup, writes 64 × 64 results to shared memory and hands them to
// the bulk copy unit. Each warpgroup has two stages; columns alternate between them, and a stage is waited
// for only when it is written again.
#define PIPELINK_COMPONENT swiglu
#include <pipelink/component.h>

#include "swiglu.h"

namespace swiglu {

PIPELINK_PARAMETERS(swiglu::Parameters, "swiglu.h", out);
PIPELINK_HOST(swiglu::Arguments, "swiglu.h", out, rows, columns);

PIPELINK_FACT(interleave, int, 8);
PIPELINK_USE_FACT(tile_m, int);
PIPELINK_USE_FACT(tile_n, int);
PIPELINK_USE_FACT(part_n, int);
PIPELINK_REQUIRE(two_warpgroups, "tile_m == 128 && part_n == 128");

PIPELINK_BUFFER(stage, .bytes = "2 * tile_m * part_n", .align = 1024);  // two of tile_m × part_n/2 bfloat16
PIPELINK_NAMED_BARRIER(warpgroup0, .threads = 128);
PIPELINK_NAMED_BARRIER(warpgroup1, .threads = 128);
PIPELINK_IMPORT_TENSOR(acc, .element = "f32", .tile = {64, 128}, .space = "registers", .scope = "warpgroup",
                       .layout = "((4,8,4),(2,2,16)):((2,128,2048),(1,1024,8))", .via = "epilogue",
                       .parameter = 0);

PIPELINK_STEPS(epilogue, .once = "sync warpgroup0 x 2; sync warpgroup1 x 2");

constexpr unsigned kBoxBytes = kBoxRows * kBoxColumns * 2;
constexpr unsigned kStages = 2;  // per warpgroup

static __device__ __forceinline__ void sync(pipelink::Self self, unsigned warpgroup) {
  if (warpgroup == 0)
    warpgroup0.sync(self);
  else
    warpgroup1.sync(self);
}

/// x / (1 + exp(-x)), to a few units in the last place of float32. exp's overflow gives the right limit, -0.
static __device__ __forceinline__ float silu(float x) {
  float e, r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e) : "f"(x * -1.4426950408889634f));
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(1.0f + e));
  return x * r;
}

static __device__ __forceinline__ std::uint32_t pack(float low, float high) {
  std::uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

/// Waits until at most `kPending` of this thread's stores have yet to read their stage.
template <int kPending>
static __device__ __forceinline__ void wait_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kPending) : "memory");
}

static __device__ __forceinline__ void store(std::uint32_t from, const pipelink::TensorMap& map,
                                             unsigned column, unsigned row) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(from),
               "l"(&map), "r"(column), "r"(row)
               : "memory");
}

/// Register 4j + 2h + c of lane l in warp w of a warpgroup is row 16w + l/4 + 8h, column 8j + 2(l%4) + c.
PIPELINK_EXPORT(epilogue, void, pipelink::Self self, float (&acc)[64], unsigned m0, unsigned n0,
                unsigned warpgroup) {
  const unsigned thread = threadIdx.x % 128, lane = thread % 32;
  const unsigned turn = n0 / part_n(self) % kStages;
  const std::uint32_t own = stage.address(self) + (warpgroup * kStages + turn) * kBoxBytes;

  std::uint32_t packed[8][2];  // [column block of 8][h]
#pragma unroll
  for (int j = 0; j < 8; ++j)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float* gate = acc + 8 * j + 2 * h;
      const float* up = gate + 4;
      packed[j][h] = pack(silu(gate[0]) * up[0], silu(gate[1]) * up[1]);
    }

  if (thread == 0) {
    // With an even number of parts in a tile, calls take turns: the store before the last one had this stage.
    // Else the last one may have had it.
    if (tile_n(self) % static_cast<int>(kStages * part_n(self)) == 0)
      wait_read<kStages - 1>();
    else
      wait_read<0>();
  }
  sync(self, warpgroup);
  // Lane l addresses row l%8 of matrix l/8; the matrices are {block j, j + 1} × {rows +0, +8}.
  const unsigned row = thread / 32 * 16 + lane / 8 % 2 * 8 + lane % 8;
#pragma unroll
  for (int j = 0; j < 8; j += 2) {
    const unsigned chunk = (j + lane / 16) ^ (row % 8);  // 128-byte swizzle
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(own + row * 128 +
                                                                                          chunk * 16),
                 "r"(packed[j][0]), "r"(packed[j][1]), "r"(packed[j + 1][0]), "r"(packed[j + 1][1])
                 : "memory");
  }
  pipelink::fence_proxy_async();
  sync(self, warpgroup);
  if (thread == 0) {
    store(own, parameters(self).out, n0 / 2, m0 + warpgroup * kBoxRows);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
}

/// The stages must outlive the last store.
PIPELINK_EXPORT(finish, void, pipelink::Self self) {
  if (threadIdx.x % 128 == 0) wait_read<0>();
}

}  // namespace swiglu
