// GEMM + SwiGLU as a person fuses it: a peer of the linked kernel, with nothing of PipeLink in it. The
// algorithm is that of tma_loader, wgmma_gemm and swiglu; what the linker decides for those is written down.
//
// Threads   warps 0 … 3     thread 0 loads                                          40 registers
//           warps 4 … 7     multiply, first warpgroup; named barrier 1              232 registers
//           warps 8 … 11    multiply, second warpgroup; named barrier 2             232 registers
//           named barrier 3: the second warpgroup may begin, two k-blocks after the first
// Shared    0 …             ring of stages: A, 64 bfloat16 of tile_m rows, then B, of tile_n rows
//           out …           results: for each warpgroup 64 rows, 64 columns of one part, then of the other
//           full, empty …   a barrier for each stage
//
// B's rows alternate 8 gates and 8 ups, so a thread has both in its registers. `hand_fused.py` launches it.
#include <cuda.h>

#include <cstdint>

namespace {

// What depends on the tile's shape. An opt-in block has 232448 bytes of shared memory.
template <int kTileM, int kTileN>
struct Plan;
template <>
struct Plan<128, 256> {
  static constexpr unsigned stages = 4, stage_bytes = 49152, out = 196608, full = 229376, empty = 229408;
};
template <>
struct Plan<128, 240> {
  static constexpr unsigned stages = 4, stage_bytes = 47104, out = 188416, full = 221184, empty = 221216;
};
template <>
struct Plan<128, 224> {
  static constexpr unsigned stages = 4, stage_bytes = 45056, out = 180224, full = 212992, empty = 213024;
};
template <>
struct Plan<128, 208> {
  static constexpr unsigned stages = 4, stage_bytes = 43008, out = 172032, full = 204800, empty = 204832;
};
template <>
struct Plan<128, 160> {
  static constexpr unsigned stages = 5, stage_bytes = 36864, out = 184320, full = 217088, empty = 217128;
};
template <>
struct Plan<64, 208> {
  static constexpr unsigned stages = 6, stage_bytes = 34816, out = 208896, full = 225280, empty = 225328;
};

constexpr unsigned kRow = 128;         // bytes of an operand's row in a stage
constexpr unsigned kPartBytes = 8192;  // of results: 64 rows of 128 bytes

extern __shared__ __align__(1024) unsigned char shared[];

// ---- barriers

__device__ __forceinline__ std::uint32_t at(unsigned offset) {
  return static_cast<std::uint32_t>(__cvta_generic_to_shared(shared)) + offset;
}

__device__ __forceinline__ void wait(std::uint32_t barrier, unsigned parity) {
  std::uint32_t done;
  do {
    asm volatile(
        "{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
        : "=r"(done)
        : "r"(barrier), "r"(parity)
        : "memory");
  } while (done == 0);
}

__device__ __forceinline__ void init(std::uint32_t barrier, unsigned arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(arrivals) : "memory");
}

/// Of the 128 threads of a multiplying warpgroup, 0 or 1.
__device__ __forceinline__ void sync_warpgroup(unsigned warpgroup) {
  if (warpgroup == 0)
    asm volatile("barrier.sync 1, 128;" ::: "memory");
  else
    asm volatile("barrier.sync 2, 128;" ::: "memory");
}

// ---- the tiles of a block

struct Problem {
  unsigned m_tiles, n_tiles, k_blocks;
};

/// The `step`-th: its row and column of tiles. kGroupM rows of tiles are walked together, column by column.
template <int kGroupM>
__device__ __forceinline__ bool find_tile(const Problem& problem, unsigned step, unsigned& row,
                                          unsigned& column) {
  const unsigned tile = blockIdx.x + step * gridDim.x;
  if (tile >= problem.m_tiles * problem.n_tiles) return false;
  const unsigned first = tile / (kGroupM * problem.n_tiles) * kGroupM;
  const unsigned rows = min(static_cast<unsigned>(kGroupM), problem.m_tiles - first);
  const unsigned local = tile - first * problem.n_tiles;
  row = first + local % rows;
  column = local / rows;
  return true;
}

// ---- loading

template <int kTileM, int kTileN, int kGroupM>
__device__ __forceinline__ void load(const CUtensorMap& a, const CUtensorMap& b, const Problem& problem) {
  using P = Plan<kTileM, kTileN>;
  asm volatile("prefetch.tensormap [%0];" ::"l"(&a) : "memory");
  asm volatile("prefetch.tensormap [%0];" ::"l"(&b) : "memory");
  unsigned stage = 0, parity = 1, row, column;
  for (unsigned step = 0; find_tile<kGroupM>(problem, step, row, column); ++step)
    for (unsigned block = 0; block < problem.k_blocks; ++block) {
      wait(at(P::empty + 8 * stage), parity);
      const std::uint32_t full = at(P::full + 8 * stage), to = at(P::stage_bytes * stage);
      asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(full), "r"(P::stage_bytes)
                   : "memory");
      asm volatile(
          "cp.async.bulk.tensor.2d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, "
          "%4}], "
          "[%2];" ::"r"(to),
          "l"(&a), "r"(full), "r"(block * 64), "r"(row * kTileM)
          : "memory");
      asm volatile(
          "cp.async.bulk.tensor.4d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %5, "
          "%5, %4}], [%2];" ::"r"(to + kTileM * kRow),
          "l"(&b), "r"(full), "r"(block * 64), "r"(column * (kTileN / 16)), "r"(0)
          : "memory");
      if (++stage == P::stages) {
        stage = 0;
        parity ^= 1;
      }
    }
}

// ---- multiplying

/// Of rows of 128 bytes with the 128-byte swizzle, eight of which are 1024 bytes.
__device__ __forceinline__ std::uint64_t descriptor(std::uint32_t address) {
  return 1ull << 62 | 64ull << 32 | 1ull << 16 | (address & 0x3ffff) >> 4;
}

#define NAMES(t) \
  "%" #t "0, %" #t "1, %" #t "2, %" #t "3, %" #t "4, %" #t "5, %" #t "6, %" #t "7, %" #t "8, %" #t "9"
#define NAMES_40 NAMES() ", " NAMES(1) ", " NAMES(2) ", " NAMES(3)
#define NAMES_60 NAMES_40 ", " NAMES(4) ", " NAMES(5)
#define NAMES_80 NAMES_60 ", " NAMES(6) ", " NAMES(7)
#define NAMES_100 NAMES_80 ", " NAMES(8) ", " NAMES(9)
#define D2(i) "+f"(d[i]), "+f"(d[i + 1])
#define D4(i) D2(i), D2(i + 2)
#define D8(i) D4(i), D4(i + 4)
#define D40(i) D8(i), D8(i + 8), D8(i + 16), D8(i + 24), D8(i + 32)

/// d (+)= A·Bᵀ, 64 × kN × 16; d is kN/2 registers of each thread.
template <int kN>
__device__ __forceinline__ void multiply(float (&d)[kN / 2], std::uint64_t a, std::uint64_t b,
                                         int accumulate) {
#define WGMMA(N, D, A, B, P, ...)                                                                \
  if constexpr (kN == N)                                                                         \
  asm volatile("{ .reg .pred p; setp.ne.b32 p, %" #P ", 0; wgmma.mma_async.sync.aligned.m64n" #N \
               "k16.f32.bf16.bf16 {" D "}, %" #A ", %" #B ", p, 1, 1, 0, 0; }"                   \
               : __VA_ARGS__                                                                     \
               : "l"(a), "l"(b), "r"(accumulate))
  WGMMA(80, NAMES_40, 40, 41, 42, D40(0));
  WGMMA(128, NAMES_60 ", %60, %61, %62, %63", 64, 65, 66, D40(0), D8(40), D8(48), D8(56));
  WGMMA(160, NAMES_80, 80, 81, 82, D40(0), D40(40));
  WGMMA(208, NAMES_100 ", %100, %101, %102, %103", 104, 105, 106, D40(0), D40(40), D8(80), D8(88), D8(96));
  WGMMA(224, NAMES_100 ", " NAMES(10) ", %110, %111", 112, 113, 114, D40(0), D40(40), D8(80), D8(88), D8(96),
        D8(104));
  WGMMA(240, NAMES_100 ", " NAMES(10) ", " NAMES(11), 120, 121, 122, D40(0), D40(40), D40(80));
  WGMMA(256, NAMES_100 ", " NAMES(10) ", " NAMES(11) ", %120, %121, %122, %123, %124, %125, %126, %127", 128,
        129, 130, D40(0), D40(40), D40(80), D8(120));
#undef WGMMA
}

#undef NAMES
#undef NAMES_40
#undef NAMES_60
#undef NAMES_80
#undef NAMES_100
#undef D2
#undef D4
#undef D8
#undef D40

// ---- SwiGLU and the store

/// silu(x) · up of two columns, in bfloat16. One reciprocal serves both; exp2 is bounded, so that the product
/// of two denominators is finite.
__device__ __forceinline__ std::uint32_t swiglu(float x0, float up0, float x1, float up1) {
  float e0, e1, r;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e0) : "f"(fminf(x0 * -1.4426950408889634f, 62.0f)));
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(e1) : "f"(fminf(x1 * -1.4426950408889634f, 62.0f)));
  e0 += 1.0f;
  e1 += 1.0f;
  asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(r) : "f"(e0 * e1));
  std::uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(x1 * (r * e0) * up1), "f"(x0 * (r * e1) * up0));
  return packed;
}

__device__ __forceinline__ void wait_stored() {
  asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
}

__device__ __forceinline__ void store(std::uint32_t from, const CUtensorMap& map, unsigned column,
                                      unsigned row) {
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%1, {%2, %3}], [%0];" ::"r"(from),
               "l"(&map), "r"(column), "r"(row)
               : "memory");
}

/// 64 × kColumns accumulators, the first of which is d[kFrom], to as many results.
template <int kFrom, int kColumns, int kAll>
__device__ __forceinline__ void activate(const float (&d)[kAll], std::uint32_t (&packed)[8][2]) {
#pragma unroll
  for (int j = 0; j < kColumns / 16; ++j)
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float* gate = d + kFrom + 8 * j + 2 * h;
      packed[j][h] = swiglu(gate[0], gate[4], gate[1], gate[5]);
    }
}

/// To shared memory: rows of 128 bytes, swizzled, if there are 64 columns of results; else as they are.
template <int kColumns>
__device__ __forceinline__ void stage(std::uint32_t to, const std::uint32_t (&packed)[8][2]) {
  constexpr int kBlocks = kColumns / 16;
  const unsigned thread = threadIdx.x % 128, lane = thread % 32;
  const unsigned row = thread / 32 * 16 + lane / 8 % 2 * 8 + lane % 8;
  const std::uint32_t line = to + row * kBlocks * 16;
#pragma unroll
  for (int j = 0; j < kBlocks; j += 2) {
    const unsigned chunk = (j + lane / 16) ^ (kBlocks == 8 ? row % 8 : 0);
    if (j + 1 < kBlocks)
      asm volatile(
          "stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(line + chunk * 16),
          "r"(packed[j][0]), "r"(packed[j][1]), "r"(packed[j + 1][0]), "r"(packed[j + 1][1])
          : "memory");
    else
      asm volatile("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%0], {%1, %2};" ::"r"(line + chunk * 16),
                   "r"(packed[j][0]), "r"(packed[j][1])
                   : "memory");
  }
}

/// Stores a warpgroup's kColumns columns of accumulators, the first of which is `column` of the tile.
template <int kColumns>
__device__ __forceinline__ void finish_tile(const float (&d)[kColumns / 2], std::uint32_t results,
                                            unsigned warpgroup, const CUtensorMap& out,
                                            const CUtensorMap& rest, unsigned row, unsigned column) {
  constexpr int kFirst = kColumns < 128 ? 0 : 128, kRest = kColumns - kFirst;
  const bool elected = threadIdx.x % 128 == 0;
  std::uint32_t packed[8][2];
  if constexpr (kFirst != 0)
    activate<0, kFirst>(d, packed);
  else
    activate<0, kRest>(d, packed);
  if (elected) wait_stored();
  sync_warpgroup(warpgroup);
  if constexpr (kFirst != 0) {
    stage<kFirst>(results, packed);
    if constexpr (kRest != 0) activate<64, kRest>(d, packed);
  }
  const std::uint32_t second = results + (kFirst != 0 ? kPartBytes : 0);
  if constexpr (kRest != 0) stage<kRest>(second, packed);
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  sync_warpgroup(warpgroup);
  if (!elected) return;
  if constexpr (kFirst != 0) store(results, out, column / 2, row);
  if constexpr (kRest != 0) store(second, kRest == 128 ? out : rest, (column + kFirst) / 2, row);
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// ---- the multiplying warpgroups

/// A warpgroup's kColumns columns of each tile, from `first_column` on, and 64 rows from `first_row` on.
/// Their operands are `offset_a` and `offset_b` bytes into a stage.
template <int kTileM, int kTileN, int kGroupM, int kColumns>
__device__ __forceinline__ void compute(const CUtensorMap& out, const CUtensorMap& rest,
                                        const Problem& problem, unsigned warpgroup, unsigned first_row,
                                        unsigned first_column, unsigned offset_a, unsigned offset_b,
                                        unsigned results) {
  using P = Plan<kTileM, kTileN>;
  const bool elected = threadIdx.x % 128 == 0;
  const auto release = [&](unsigned stage) {
    if (elected)
      asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at(P::empty + 8 * stage)) : "memory");
  };
  float d[kColumns / 2];
  unsigned stage = 0, parity = 0, oldest = 0, row, column;
  for (unsigned step = 0; find_tile<kGroupM>(problem, step, row, column); ++step) {
    if (step == 0 && warpgroup == 1) asm volatile("barrier.sync 3, 256;" ::: "memory");
    for (unsigned block = 0; block < problem.k_blocks; ++block) {
      wait(at(P::full + 8 * stage), parity);
      const std::uint32_t address = at(P::stage_bytes * stage);
      const std::uint64_t a = descriptor(address + offset_a), b = descriptor(address + offset_b);
      asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#pragma unroll
      for (int k = 0; k < 4; ++k) multiply<kColumns>(d, a + 2 * k, b + 2 * k, block != 0 || k != 0);
      asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
      asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");  // the block before is done
      if (block != 0) {
        release(oldest);
        oldest = oldest + 1 == P::stages ? 0 : oldest + 1;
      }
      if (step == 0 && block == 1 && warpgroup == 0) asm volatile("barrier.arrive 3, 256;" ::: "memory");
      if (++stage == P::stages) {
        stage = 0;
        parity ^= 1;
      }
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    release(oldest);
    oldest = oldest + 1 == P::stages ? 0 : oldest + 1;
#pragma unroll
    for (float& value : d) asm volatile("" : "+f"(value)::"memory");  // not to be read before the wait
    finish_tile<kColumns>(d, at(results), warpgroup, out, rest, row * kTileM + first_row,
                          column * kTileN + first_column);
  }
  if (elected) wait_stored();
}

template <int kTileM, int kTileN, int kGroupM>
__device__ __forceinline__ void run(const CUtensorMap& a, const CUtensorMap& b, const CUtensorMap& out,
                                    const CUtensorMap& rest, const Problem& problem) {
  using P = Plan<kTileM, kTileN>;
  static_assert(P::stage_bytes == (kTileM + kTileN) * kRow && P::out == P::stages * P::stage_bytes);
  static_assert(P::full == P::out + kTileM / 64 * 2 * kPartBytes && P::empty == P::full + 8 * P::stages);
  const unsigned warpgroup = __shfl_sync(~0u, threadIdx.x / 128, 0);
  if (threadIdx.x == 0) {
    for (unsigned stage = 0; stage < P::stages; ++stage) {
      init(at(P::full + 8 * stage), 1);
      init(at(P::empty + 8 * stage), 2);
    }
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  }
  __syncthreads();
  if (warpgroup == 0) {
    asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
    if (threadIdx.x == 0) load<kTileM, kTileN, kGroupM>(a, b, problem);
    return;
  }
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
  if constexpr (kTileM == 128) {  // each warpgroup has 64 rows
    const unsigned mine = warpgroup - 1;
    compute<kTileM, kTileN, kGroupM, kTileN>(out, rest, problem, mine, 64 * mine, 0, 64 * kRow * mine,
                                             kTileM * kRow, P::out + 2 * kPartBytes * mine);
  } else if (warpgroup == 1) {  // each has its part of the columns
    compute<kTileM, kTileN, kGroupM, 128>(out, rest, problem, 0, 0, 0, 0, kTileM * kRow, P::out);
  } else {
    compute<kTileM, kTileN, kGroupM, kTileN - 128>(out, rest, problem, 1, 0, 128, 0, (kTileM + 128) * kRow,
                                                   P::out + kPartBytes);
  }
}

}  // namespace

// hand_fused_<tile_m>_<tile_n>_<rows of tiles walked together>. 384 threads; a, b, out and rest are the
// tensor maps that hand_fused.py makes.
#define KERNEL(TILE_M, TILE_N, GROUP_M)                                                                    \
  extern "C" __global__ void __launch_bounds__(384, 1) hand_fused_##TILE_M##_##TILE_N##_##GROUP_M(         \
      const __grid_constant__ CUtensorMap a, const __grid_constant__ CUtensorMap b,                        \
      const __grid_constant__ CUtensorMap out, const __grid_constant__ CUtensorMap rest, unsigned m_tiles, \
      unsigned n_tiles, unsigned k_blocks) {                                                               \
    run<TILE_M, TILE_N, GROUP_M>(a, b, out, rest, {m_tiles, n_tiles, k_blocks});                           \
  }
KERNEL(64, 208, 16)
KERNEL(128, 208, 16)
KERNEL(128, 160, 16)
KERNEL(128, 224, 16)
KERNEL(128, 240, 16)
KERNEL(128, 256, 8)
KERNEL(128, 256, 16)
