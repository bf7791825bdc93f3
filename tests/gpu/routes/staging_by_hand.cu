// What staging_take gets by a route, written by hand: the accumulators go through shared memory column by
// column, padded so that neither the floats stored nor the fours loaded conflict.
#define PIPELINK_COMPONENT staging_by_hand
#include <pipelink/component.h>

namespace staging_by_hand {

constexpr unsigned kPitch = 84, kHalf = 48;  // of a column and of its halves, in floats
PIPELINK_BUFFER(stage, .bytes = 2 * 64 * kPitch * 4, .align = 16);
PIPELINK_NAMED_BARRIER(first, .threads = 128);
PIPELINK_NAMED_BARRIER(second, .threads = 128);
PIPELINK_IMPORT_TENSOR(tile, .element = "f32", .tile = {64, 64}, .layout = "wgmma_accumulator(64,64)",
                       .via = "take", .parameter = 0);

PIPELINK_EXPORT(take, void, pipelink::Self self, const float (&tile)[32], unsigned (&sums)[4]) {
  const unsigned warpgroup = threadIdx.x / 128 % 2, thread = threadIdx.x % 128;
  const unsigned stage_at = stage.address(self) + warpgroup * (64 * kPitch * 4);
  const auto sync = [&] {
    if (warpgroup == 0)
      first.sync(self);
    else
      second.sync(self);
  };
  sync();  // the tile before was read
  const unsigned row = thread / 32 * 16 + thread % 32 / 4, column = thread % 4 * 2;
  const unsigned to = stage_at + (column * kPitch + (row < 32 ? row : kHalf + row - 32)) * 4;
#pragma unroll
  for (int j = 0; j < 8; ++j)
#pragma unroll
    for (int h = 0; h < 2; ++h)
#pragma unroll
      for (int c = 0; c < 2; ++c)
        asm volatile("st.shared.f32 [%0], %1;" ::"r"(to + ((8 * j + c) * kPitch + 8 * h) * 4),
                     "f"(tile[4 * j + 2 * h + c])
                     : "memory");
  sync();
  float mine[32];
  const unsigned from = stage_at + (thread / 2 * kPitch + thread % 2 * kHalf) * 4;
#pragma unroll
  for (int i = 0; i < 8; ++i)
    asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(mine[4 * i]), "=f"(mine[4 * i + 1]), "=f"(mine[4 * i + 2]), "=f"(mine[4 * i + 3])
                 : "r"(from + 16 * i)
                 : "memory");
#pragma unroll
  for (int v = 0; v < 32; ++v) sums[v % 4] = sums[v % 4] * 3 + __float_as_uint(mine[v]);
}

}  // namespace staging_by_hand
