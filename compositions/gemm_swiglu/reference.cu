// Kernels of the runner, independent of the components: inputs, a plain reference, comparisons. One launch
// shape each.
#include <cuda_bf16.h>
#include <mma.h>

#include <cstdint>

namespace wmma = nvcuda::wmma;
using bf16 = __nv_bfloat16;

namespace {

__device__ std::uint32_t hash(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdull;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ull;
  return static_cast<std::uint32_t>(x >> 32);
}

__device__ float silu(float x) {
  return x / (1.0f + expf(-x));
}

constexpr int kRows = 128, kColumns = 64, kDepth = 32, kPitch = kDepth + 8;

// Rows row0 … row0 + rows of a [limit, k] matrix, columns k0 … k0 + kDepth; zero outside.
__device__ void copy_tile(bf16* to, const bf16* from, int rows, long long row0, long long limit, int k0,
                          int k) {
  for (int i = threadIdx.x; i < rows * (kDepth / 8); i += blockDim.x) {
    const int row = i / (kDepth / 8), column = i % (kDepth / 8) * 8;
    uint4 value = {};
    if (row0 + row < limit && k0 + column < k)
      value = *reinterpret_cast<const uint4*>(from + (row0 + row) * k + k0 + column);
    *reinterpret_cast<uint4*>(to + row * kPitch + column) = value;
  }
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

/// out = silu(A·Gᵀ) · (A·Uᵀ) in float32; w holds G, then U. 256 threads, grid {columns/64, m/128} rounded up.
extern "C" __global__ void __launch_bounds__(256)
    reference(const bf16* a, const bf16* w, float* out, int m, int columns, int k) {
  __shared__ __align__(128) bf16 sa[kRows * kPitch];
  __shared__ __align__(128) bf16 sg[kColumns * kPitch];
  __shared__ __align__(128) bf16 su[kColumns * kPitch];
  __shared__ __align__(128) float scratch[8][2][16 * 16];
  const long long row0 = static_cast<long long>(blockIdx.y) * kRows,
                  column0 = static_cast<long long>(blockIdx.x) * kColumns;
  const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
  const int wr = warp / 2 * 32, wc = warp % 2 * 32;  // this warp's 32 × 32 of the tile

  wmma::fragment<wmma::accumulator, 16, 16, 16, float> gate[2][2], up[2][2];
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      wmma::fill_fragment(gate[i][j], 0.0f);
      wmma::fill_fragment(up[i][j], 0.0f);
    }
  for (int k0 = 0; k0 < k; k0 += kDepth) {
    copy_tile(sa, a, kRows, row0, m, k0, k);
    copy_tile(sg, w, kColumns, column0, columns, k0, k);
    copy_tile(su, w + static_cast<long long>(columns) * k, kColumns, column0, columns, k0, k);
    __syncthreads();
    for (int kk = 0; kk < kDepth; kk += 16) {
      wmma::fragment<wmma::matrix_a, 16, 16, 16, bf16, wmma::row_major> fa[2];
      for (int i = 0; i < 2; ++i) wmma::load_matrix_sync(fa[i], sa + (wr + 16 * i) * kPitch + kk, kPitch);
      for (int j = 0; j < 2; ++j) {
        wmma::fragment<wmma::matrix_b, 16, 16, 16, bf16, wmma::col_major> fg, fu;
        wmma::load_matrix_sync(fg, sg + (wc + 16 * j) * kPitch + kk, kPitch);
        wmma::load_matrix_sync(fu, su + (wc + 16 * j) * kPitch + kk, kPitch);
        for (int i = 0; i < 2; ++i) {
          wmma::mma_sync(gate[i][j], fa[i], fg, gate[i][j]);
          wmma::mma_sync(up[i][j], fa[i], fu, up[i][j]);
        }
      }
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      wmma::store_matrix_sync(scratch[warp][0], gate[i][j], 16, wmma::mem_row_major);
      wmma::store_matrix_sync(scratch[warp][1], up[i][j], 16, wmma::mem_row_major);
      __syncwarp();
      for (int e = lane; e < 256; e += 32) {
        const long long row = row0 + wr + 16 * i + e / 16, column = column0 + wc + 16 * j + e % 16;
        if (row < m && column < columns)
          out[row * columns + column] = silu(scratch[warp][0][e]) * scratch[warp][1][e];
      }
      __syncwarp();
    }
}

/// The reference itself against float64, one sampled element per block of 32 threads. result: {Σ(ref − x)²,
/// Σx²}.
extern "C" __global__ void sample(const bf16* a, const bf16* w, const float* reference, int m, int columns,
                                  int k, unsigned long long seed, double* result) {
  const long long row = hash(seed + 2ull * blockIdx.x) % m,
                  column = hash(seed + 2ull * blockIdx.x + 1) % columns;
  double gate = 0, up = 0;
  for (int i = threadIdx.x; i < k; i += 32) {
    const double x = __bfloat162float(a[row * k + i]);
    gate += x * __bfloat162float(w[column * k + i]);
    up += x * __bfloat162float(w[(columns + column) * k + i]);
  }
  for (int o = 16; o > 0; o /= 2) {
    gate += __shfl_down_sync(~0u, gate, o);
    up += __shfl_down_sync(~0u, up, o);
  }
  if (threadIdx.x != 0) return;
  const double exact = gate / (1 + exp(-gate)) * up, difference = reference[row * columns + column] - exact;
  atomicAdd(result, difference * difference);
  atomicAdd(result + 1, exact * exact);
}

/// result: {Σ(out − ref)², Σref², max |out − ref|, elements that are not finite}. 256 threads, grid-stride.
extern "C" __global__ void compare(const bf16* out, const float* reference, unsigned long long count,
                                   double* result) {
  double difference = 0, norm = 0, bad = 0, most = 0;
  const unsigned long long stride = static_cast<unsigned long long>(gridDim.x) * blockDim.x;
  for (unsigned long long i = static_cast<unsigned long long>(blockIdx.x) * blockDim.x + threadIdx.x;
       i < count; i += stride) {
    const double x = __bfloat162float(out[i]), r = reference[i], d = x - r;
    if (!isfinite(x)) {
      bad += 1;
      continue;
    }
    difference += d * d;
    norm += r * r;
    most = fmax(most, fabs(d));
  }
  atomicAdd(result, difference);
  atomicAdd(result + 1, norm);
  atomicMax(reinterpret_cast<unsigned long long*>(result + 2),
            static_cast<unsigned long long>(__double_as_longlong(most)));
  atomicAdd(result + 3, bad);
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
