// Normalises the output of attention and stores it as bfloat16, through shared memory and bulk tensor stores.
//
// The staging is live only while an item is handed over and has been read on return, so it gets bytes of a
// ring that attention does not use then.
#define PIPELINK_COMPONENT attention_store
#include <pipelink/component.h>

#include "attention_store.h"

namespace attention_store {

PIPELINK_PARAMETERS(attention_store::Parameters, "attention_store.h", out);
PIPELINK_HOST(attention_store::Arguments, "attention_store.h", out, sequences, rows, heads, row, head,
              sequence);

PIPELINK_USE_FACT(tile, int);
PIPELINK_USE_FACT(head_dim, int);
PIPELINK_USE_FACT(joined, int);
PIPELINK_REQUIRE(two_warpgroups, "tile == 128");
PIPELINK_REQUIRE(shares, "joined == 1");

PIPELINK_PHASE(store);
PIPELINK_BUFFER(stage, .bytes = "tile * head_dim * 2", .align = 1024, .live = "store");
PIPELINK_NAMED_BARRIER(warpgroup0, .threads = 128);
PIPELINK_NAMED_BARRIER(warpgroup1, .threads = 128);
PIPELINK_IMPORT_TENSOR(o, .element = "f32", .tile = {64, 64}, .layout = "wgmma_accumulator(64,64)",
                       .via = "epilogue", .parameter = 0);

PIPELINK_STEPS(epilogue, .once = "sync warpgroup0; sync warpgroup1");

constexpr unsigned kHalfBytes = 64 * 128;  // 64 rows of 64 columns

static __device__ __forceinline__ std::uint32_t pack(float low, float high) {
  std::uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

/// Register 4j + 2h + c of lane l in warp w of a warpgroup is row 16w + l/4 + 8h, column 8j + 2(l%4) + c.
PIPELINK_EXPORT_IN(epilogue, "store", void, pipelink::Self self, float (&o)[32], float (&)[2],
                   float (&sum)[2], unsigned row, unsigned head, unsigned sequence, unsigned column,
                   unsigned warpgroup) {
  const unsigned thread = threadIdx.x % 128, lane = thread % 32;
  const std::uint32_t own = stage.address(self) + warpgroup * (head_dim(self) / 64) * kHalfBytes;
  float factor[2];
#pragma unroll
  for (int h = 0; h < 2; ++h) {
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(factor[h]) : "f"(sum[h]));
    if (sum[h] == 0) factor[h] = 0;
  }
  // Lane l addresses row l%8 of matrix l/8; the matrices are {block j, j + 1} × {rows +0, +8}.
  const unsigned at = thread / 32 * 16 + lane / 8 % 2 * 8 + lane % 8;
#pragma unroll
  for (int j = 0; j < 8; j += 2) {
    std::uint32_t packed[4];
#pragma unroll
    for (int m = 0; m < 4; ++m) {
      const float* from = o + 4 * (j + m / 2) + 2 * (m % 2);
      packed[m] = pack(from[0] * factor[m % 2], from[1] * factor[m % 2]);
    }
    const unsigned chunk = (j + lane / 16) ^ (at % 8);  // 128-byte swizzle
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(
                     own + column / 64 * kHalfBytes + at * 128 + chunk * 16),
                 "r"(packed[0]), "r"(packed[1]), "r"(packed[2]), "r"(packed[3])
                 : "memory");
  }
  if (column + 64 != head_dim(self)) return;
  pipelink::fence_proxy_async();
  if (warpgroup == 0)
    warpgroup0.sync(self);
  else
    warpgroup1.sync(self);
  if (thread != 0) return;
  asm volatile(
      "cp.async.bulk.tensor.5d.global.shared::cta.tile.bulk_group [%1, {%2, %3, %2, %4, %5}], [%0];\n"
      "cp.async.bulk.commit_group;\n"
      "cp.async.bulk.wait_group.read 0;" ::"r"(own),
      "l"(&parameters(self).out), "r"(0), "r"(row), "r"(head), "r"(sequence)
      : "memory");
}

}  // namespace attention_store
