// Kernels of the runner, independent of the components: inputs, a plain reference in float32, comparisons.
#include <cuda_bf16.h>

#include <cstdint>

using bf16 = __nv_bfloat16;

constexpr int kMostKeys = 8192;

namespace {

__device__ std::uint32_t hash(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return static_cast<std::uint32_t>(x >> 32);
}

/// The sum, or the maximum, of a value of each of the block's 128 threads.
template <bool kMaximum>
__device__ float reduce(float x) {
  __shared__ float parts[4];
  for (int o = 16; o > 0; o /= 2) {
    const float y = __shfl_xor_sync(~0u, x, o);
    x = kMaximum ? fmaxf(x, y) : x + y;
  }
  __syncthreads();
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = x;
  __syncthreads();
  x = parts[0];
  for (int i = 1; i < 4; ++i) x = kMaximum ? fmaxf(x, parts[i]) : x + parts[i];
  return x;
}

}  // namespace

/// Normal values of the given standard deviation, two per thread. Grid-stride.
extern "C" __global__ void fill_normal(bf16* out, unsigned long long count, unsigned long long seed,
                                       float deviation) {
  const unsigned long long stride = 2ull * gridDim.x * blockDim.x;
  for (unsigned long long i = 2ull * (blockIdx.x * blockDim.x + threadIdx.x); i < count; i += stride) {
    const float u = (hash(i * 2 + seed * 0x9e3779b97f4a7c15ull) + 0.5f) * 0x1p-32f;
    const float angle = hash((i * 2 + 1) + seed * 0x9e3779b97f4a7c15ull) * 0x1p-32f * 6.2831853f;
    const float radius = sqrtf(-2.0f * logf(fminf(u, 0.99999994f))) * deviation;
    out[i] = __float2bfloat16(radius * cosf(angle));
    if (i + 1 < count) out[i + 1] = __float2bfloat16(radius * sinf(angle));
  }
}

/// Attention in float32, a query of a head in each block of 128 threads; grid {rows, heads · sequences}; at
/// most kMostKeys keys. q: [sequences, rows, heads, dim]; k and v: [sequences, keys, kv_heads, dim].
/// lse: [sequences, heads, rows], the logarithm of the sum of the exponentials.
/// A query sees the keys first … last (of [sequences, rows] each) whose tile is one of `blocks` (bytes of
/// [heads, tiles of rows, tiles of keys], or null). A score is capped if `cap` is not 0, and gets
/// slopes[head] · (key − position) if there are slopes.
extern "C" __global__ void __launch_bounds__(128)
    reference(const bf16* q, const bf16* k, const bf16* v, float* out, float* lse, int rows, int keys,
              int heads, int kv_heads, int dim, const int* first, const int* last,
              const unsigned char* blocks, float scale, float cap, const float* slopes,
              const int* positions) {
  __shared__ float p[kMostKeys];
  __shared__ float query[128];
  const int row = blockIdx.x, head = blockIdx.y % heads, sequence = blockIdx.y / heads;
  const int kv_head = head / (heads / kv_heads);
  const std::size_t at = (static_cast<std::size_t>(sequence) * rows + row) * heads + head;
  if (threadIdx.x < dim) query[threadIdx.x] = __bfloat162float(q[at * dim + threadIdx.x]);
  __syncthreads();
  const int begin = first[sequence * rows + row], end = last[sequence * rows + row];
  const int row_tiles = (rows + 127) / 128, key_tiles = (keys + 127) / 128;
  float most = -INFINITY;
  for (int key = threadIdx.x; key < keys; key += 128) {
    bool seen = key >= begin && key <= end;
    if (seen && blocks != nullptr)
      seen = blocks[(static_cast<std::size_t>(head) * row_tiles + row / 128) * key_tiles + key / 128] != 0;
    float x = -INFINITY;
    if (seen) {
      const bf16* from = k + ((static_cast<std::size_t>(sequence) * keys + key) * kv_heads + kv_head) * dim;
      x = 0;
      for (int i = 0; i < dim; ++i) x += query[i] * __bfloat162float(from[i]);
      x *= scale;
      if (cap != 0) x = cap * tanhf(x / cap);
      if (slopes != nullptr) x += slopes[head] * static_cast<float>(key - (positions[sequence] + row));
    }
    p[key] = x;
    most = fmaxf(most, x);
  }
  most = reduce<true>(most);
  float sum = 0;
  for (int key = threadIdx.x; key < keys; key += 128) {
    const float e = p[key] == -INFINITY ? 0.0f : expf(p[key] - most);
    p[key] = e;
    sum += e;
  }
  sum = reduce<false>(sum);  // all of p is there after it
  if (threadIdx.x == 0)
    lse[static_cast<std::size_t>(blockIdx.y) * rows + row] = sum == 0 ? -INFINITY : most + logf(sum);
  if (threadIdx.x >= dim) return;
  float x = 0;
  for (int key = 0; key < keys; ++key)
    if (p[key] != 0)
      x += p[key] *
           __bfloat162float(v[((static_cast<std::size_t>(sequence) * keys + key) * kv_heads + kv_head) * dim +
                              threadIdx.x]);
  out[at * dim + threadIdx.x] = sum == 0 ? 0.0f : x / sum;
}

/// result: {Σ(out − ref)², Σref², elements far off or not finite, max |out − ref|}. A row of `dim` elements
/// for each block of 128 threads; far off is more than 1/32 of the element and the row's root mean square
/// together.
extern "C" __global__ void compare(const bf16* out, const float* reference, int dim, double* result) {
  const std::size_t at = static_cast<std::size_t>(blockIdx.x) * dim + threadIdx.x;
  const bool mine = threadIdx.x < dim;
  const float x = mine ? __bfloat162float(out[at]) : 0, r = mine ? reference[at] : 0, d = x - r;
  const float norm = reduce<false>(r * r), rms = sqrtf(norm / static_cast<float>(dim));
  const bool bad = mine && !(fabsf(d) <= (fabsf(r) + rms) * 0x1p-5f);
  const float wrong = reduce<false>(bad ? 1 : 0), difference = reduce<false>(isfinite(d) ? d * d : 0),
              most = reduce<true>(isfinite(d) ? fabsf(d) : 0);
  if (threadIdx.x != 0) return;
  atomicAdd(result, static_cast<double>(difference));
  atomicAdd(result + 1, static_cast<double>(norm));
  if (wrong != 0) atomicAdd(result + 2, static_cast<double>(wrong));
  atomicMax(reinterpret_cast<unsigned long long*>(result + 3),
            static_cast<unsigned long long>(__double_as_longlong(most)));
}

/// result[0] += words that differ. 256 threads, grid-stride.
extern "C" __global__ void differing(const std::uint16_t* x, const std::uint16_t* y, unsigned long long count,
                                     double* result) {
  double differ = 0;
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count; i += stride)
    differ += x[i] != y[i];
  if (differ != 0) atomicAdd(result, differ);
}
