// What the masks share: which keys of a tile a thread keeps in each of its two rows.
#pragma once

namespace attention_masks {

/// The thread's row of the two that is `h`; `s` is laid out as wgmma_accumulator(64,128).
[[maybe_unused]] static __device__ __forceinline__ int row_of(int h) {
  return static_cast<int>(threadIdx.x % 128 / 32 * 16 + threadIdx.x % 32 / 4) + 8 * h;
}

/// Sets the scores of row `h` to −∞ but for keys `from` to `to`.
[[maybe_unused]] static __device__ __forceinline__ void keep(float (&s)[64], int h, int key, int from,
                                                             int to) {
  const int own = key + static_cast<int>(threadIdx.x % 4) * 2;  // of the thread's first column
  const int low = from - own, high = to - own;
#pragma unroll
  for (int j = 0; j < 16; ++j)
#pragma unroll
    for (int c = 0; c < 2; ++c)
      if (low > 8 * j + c || high < 8 * j + c) s[4 * j + 2 * h + c] = -INFINITY;
}

/// The same from key 0 on.
[[maybe_unused]] static __device__ __forceinline__ void keep_to(float (&s)[64], int h, int key, int to) {
  const int high = to - key - static_cast<int>(threadIdx.x % 4) * 2;
#pragma unroll
  for (int j = 0; j < 16; ++j)
#pragma unroll
    for (int c = 0; c < 2; ++c)
      if (high < 8 * j + c) s[4 * j + 2 * h + c] = -INFINITY;
}

}  // namespace attention_masks
