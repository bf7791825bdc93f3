// silu(gate) · up on the accumulators of a matrix product whose columns alternate 8 gates and 8 ups, stored
// as bfloat16.
//
// A thread holds a gate and its up in registers of neighbouring column blocks, so nothing is exchanged. A
// call takes one part of a tile, 64 × 128 accumulators of a warpgroup or fewer columns, and writes half as
// many results to the part's stage in shared memory. The last part's call hands the tile to the bulk copy
// unit; the next tile's first call waits until that has read it.
#define PIPELINK_COMPONENT swiglu
#include <pipelink/component.h>

#include "swiglu.h"

namespace swiglu {

PIPELINK_PARAMETERS(swiglu::Parameters, "swiglu.h", out, rest);
PIPELINK_HOST(swiglu::Arguments, "swiglu.h", out, rows, columns);

PIPELINK_FACT(interleave, int, 8);
PIPELINK_USE_FACT(tile_m, int);
PIPELINK_USE_FACT(tile_n, int);
PIPELINK_USE_FACT(part_n, int);
PIPELINK_REQUIRE(two_warpgroups, "(tile_m == 64 || tile_m == 128) && part_n == 128");
PIPELINK_REQUIRE(two_parts, "tile_n <= 2 * part_n");

PIPELINK_BUFFER(stage, .bytes = "2 * tile_m * part_n", .align = 1024);  // two of tile_m × part_n/2 bfloat16
PIPELINK_NAMED_BARRIER(warpgroup0, .threads = 128);
PIPELINK_NAMED_BARRIER(warpgroup1, .threads = 128);
PIPELINK_IMPORT_TENSOR(acc, .element = "f32", .tile = {64, 128}, .space = "registers", .scope = "warpgroup",
                       .layout = "((4,8,4),(2,2,16)):((2,128,2048),(1,1024,8))", .via = "epilogue",
                       .parameter = 0);

// In the first part's call and in the last one's; a tile's only part is both.
PIPELINK_STEPS(epilogue, .once = "sync warpgroup0; sync warpgroup1");

constexpr unsigned kBoxBytes = kBoxRows * kBoxColumns * 2;
constexpr unsigned kParts = 2;  // of a tile at most: each has a stage

static __device__ __forceinline__ void sync(pipelink::Self self, unsigned warpgroup) {
  if (warpgroup == 0)
    warpgroup0.sync(self);
  else
    warpgroup1.sync(self);
}

static __device__ __forceinline__ std::uint32_t pack(float low, float high) {
  std::uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

/// silu(x) * up for two values, to a few units in the last place of float32: x / (1 + exp(-x)). One
/// reciprocal serves both, as the unit that makes it is what bounds an epilogue. So exp is bounded, that the
/// product of two stays finite: below -43, silu is x * 2^-62, which is nothing beside any result's rounding.
static __device__ __forceinline__ std::uint32_t swiglu(float x0, float up0, float x1, float up1) {
  float e0, e1, r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e0) : "f"(fminf(x0 * -1.4426950408889634f, 62.0f)));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e1) : "f"(fminf(x1 * -1.4426950408889634f, 62.0f)));
  e0 += 1.0f;
  e1 += 1.0f;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(e0 * e1));
  return pack(x0 * (r * e1) * up0, x1 * (r * e0) * up1);
}

/// Waits until this thread's stores have read their stages.
static __device__ __forceinline__ void wait_read() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

static __device__ __forceinline__ void store(std::uint32_t from, const pipelink::TensorMap& map,
                                             unsigned column, unsigned row) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(from),
               "l"(&map), "r"(column), "r"(row)
               : "memory");
}

/// Register 4j + 2h + c of lane l in warp w of a warpgroup is row 16w + l/4 + 8h, column 8j + 2(l%4) + c. A
/// tile's last part has as many of the 128 columns as are left.
PIPELINK_EXPORT(epilogue, void, pipelink::Self self, float (&acc)[64], unsigned m0, unsigned n0,
                unsigned part, unsigned warpgroup) {
  const unsigned thread = threadIdx.x % 128, lane = thread % 32;
  const int rest = tile_n(self) % part_n(self);
  const unsigned parts = tile_n(self) / part_n(self) + (rest != 0);
  const bool whole = rest == 0 || part + 1 != parts;
  const int blocks = (whole ? part_n(self) : rest) / 16;  // of 8 columns of results
  // Of tiles of 64 rows, a warpgroup has one part of two.
  const bool all_parts = tile_m(self) == 128;
  const std::uint32_t stages = stage.address(self) + (all_parts ? warpgroup * kParts * kBoxBytes : 0);
  const std::uint32_t own = stages + part * kBoxBytes;

  std::uint32_t packed[8][2];  // [column block of 8][h]
#pragma unroll
  for (int j = 0; j < 8; ++j)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float* gate = acc + 8 * j + 2 * h;
      const float* up = gate + 4;
      packed[j][h] = j < blocks ? swiglu(gate[0], up[0], gate[1], up[1]) : 0;
    }

  if (!all_parts || part == 0) {
    if (thread == 0) wait_read();
    sync(self, warpgroup);
  }
  // Lane l addresses row l%8 of matrix l/8; the matrices are {block j, j + 1} × {rows +0, +8}. A whole row is
  // 128 bytes and swizzled; a shorter one is what it is.
  const unsigned row = thread / 32 * 16 + lane / 8 % 2 * 8 + lane % 8;
  const std::uint32_t line = own + row * (whole ? kBoxColumns * 2 : blocks * 16);
#pragma unroll
  for (int j = 0; j < 8; j += 2) {
    const unsigned chunk = (j + lane / 16) ^ (whole ? row % 8 : 0);
    if (j + 1 < blocks)
      asm volatile(
          "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(line + chunk * 16),
          "r"(packed[j][0]), "r"(packed[j][1]), "r"(packed[j + 1][0]), "r"(packed[j + 1][1])
          : "memory");
    else if (j < blocks)
      asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(line + chunk * 16),
                   "r"(packed[j][0]), "r"(packed[j][1])
                   : "memory");
  }
  if (all_parts && part + 1 != parts) return;
  pipelink::fence_proxy_async();
  sync(self, warpgroup);
  if (thread == 0) {
    const unsigned first_row = m0 + (all_parts ? kBoxRows * warpgroup : 0);
    if (all_parts && parts == kParts) store(stages, parameters(self).out, n0 / 2 - kBoxColumns, first_row);
    store(own, whole ? parameters(self).out : parameters(self).rest, n0 / 2, first_row);
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
  }
}

/// The stages must outlive the last store.
PIPELINK_EXPORT(finish, void, pipelink::Self self) {
  if (threadIdx.x % 128 == 0) wait_read();
}

}  // namespace swiglu
