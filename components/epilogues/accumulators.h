// Where wgmma_gemm, tcgen05_gemm and mma_gemm leave a part of a tile, for epilogues that store from
// registers. A component includes this within its namespace, after the facts that it reads.

/// Calls f(value0, value1, row, column) for each pair of neighbouring accumulators within rows × columns.
template <class F>
static __device__ __forceinline__ void for_each_pair(pipelink::Self self, const float (&acc)[64], unsigned m0,
                                                     unsigned n0, unsigned part, unsigned warpgroup,
                                                     unsigned rows, unsigned columns, F&& f) {
  const unsigned thread = threadIdx.x % 128, lane = thread % 32;
  const unsigned row = m0 + (tile_m(self) == 128 ? 64 * warpgroup : 0) + thread / 32 * 16 + lane / 4;
  const int of_part = min(part_n(self), tile_n(self) - static_cast<int>(part) * part_n(self));
#pragma unroll
  for (int j = 0; j < 16; ++j)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const unsigned r = row + 8 * h, c = n0 + 8 * j + 2 * (lane % 4);
      if (8 * j < of_part && r < rows && c < columns) f(acc[4 * j + 2 * h], acc[4 * j + 2 * h + 1], r, c);
    }
}

static __device__ __forceinline__ std::uint32_t pack(float low, float high) {
  std::uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}
static __device__ __forceinline__ float low(std::uint32_t packed) {
  return __uint_as_float(packed << 16);
}
static __device__ __forceinline__ float high(std::uint32_t packed) {
  return __uint_as_float(packed & 0xffff0000u);
}
