// The core of attention for sm_90a: softmax(scale * Q·Kᵀ)·V for tiles of 128 queries, online over tiles of
// 128 keys, bfloat16 operands, float32 scores and accumulators in registers.
//
// Which tiles there are, what is masked, what else is done to scores and what becomes of the output is for
// others: tiles come through rings, the rest are callables. Two warpgroups have 64 queries each. They take
// turns at the tensor cores: while one computes its softmax, the other multiplies. Within a warpgroup, the
// scores of the next tile are multiplied before the softmax of this one's is used.
//
// An item's end is the next one's beginning: its last values are multiplied together with the next item's
// first scores, and its output is handed over after the softmax of these.
//
// The ring `tiles` says what is in the others, in words of 32 bits. For each item, which is 128 queries of
// one head: {first query, head | sequence << 16, tiles of keys, position of the first query among the keys};
// then for each tile {first key, kind, keys, 0}. kind 0: the mask leaves the tile as it is. An item of kEnd
// tiles ends the work; any other has a stage of `queries`, also without tiles.
#define PIPELINK_COMPONENT attention_core
#include <pipelink/component.h>

#include "attention_core.h"

namespace attention_core {

PIPELINK_PARAMETERS(attention_core::Parameters, "attention_core.h", scale);

/// Queries of an item, and keys of a tile.
PIPELINK_FACT(tile, int, 128);
PIPELINK_SETTABLE_FACT(head_dim, int, .value = 128, .domain = {64, 128});
/// 1: both warpgroups have read the next item's queries before either hands its output over, so that what is
/// live in `read` is free. 0: they have not, and an epilogue must share nothing.
PIPELINK_SETTABLE_FACT(joined, int, .value = 1, .domain = {0, 1});
/// Where a thread of a warpgroup has its scores when it calls `score` and `mask`.
PIPELINK_TEXT(score_layout, "wgmma_accumulator(64,128)");

PIPELINK_PHASE(read, .after_previous = "give");
PIPELINK_PHASE(give, .after = "read");

/// A stage of Q, K or V is 128 rows, in halves of 64 columns in 128-byte swizzled rows. That of Q is kept
/// from its reading to the end of the item before, for which the epilogue may use its bytes; so there is one.
PIPELINK_RING(queries, .side = pipelink::kConsumer, .stages = {1, 1}, .stage_bytes = "tile * head_dim * 2",
              .full_arrivals = 1, .transaction_bytes = "tile * head_dim * 2", .empty_arrivals = 8,
              .live = "read");
PIPELINK_RING(keys, .side = pipelink::kConsumer, .stages = {2, 4}, .stage_bytes = "tile * head_dim * 2",
              .full_arrivals = 1, .transaction_bytes = "tile * head_dim * 2", .empty_arrivals = 2);
PIPELINK_RING(values, .side = pipelink::kConsumer, .stages = {2, 4}, .stage_bytes = "tile * head_dim * 2",
              .full_arrivals = 1, .transaction_bytes = "tile * head_dim * 2", .empty_arrivals = 2);
PIPELINK_RING(tiles, .side = pipelink::kConsumer, .stages = {4, 8}, .stage_bytes = 16, .align = 16,
              .full_arrivals = 1, .empty_arrivals = 8, .tier = 2);
PIPELINK_NAMED_BARRIER(turn0, .threads = 256);
PIPELINK_NAMED_BARRIER(turn1, .threads = 256);
PIPELINK_NAMED_BARRIER(all, .threads = 256);

/// Changes the raw scores of a tile, before the mask: score · scale is what the softmax is of. `query` and
/// `key` are those of the warpgroup's first row and of the first column.
PIPELINK_IMPORT(score, void, pipelink::Self self, float (&s)[64], int query, int key, unsigned head,
                float scale);
/// Sets scores to −∞; only called for tiles of another kind than 0.
PIPELINK_IMPORT(mask, void, pipelink::Self self, float (&s)[64], int query, int key, int keys, unsigned kind);
/// Takes over 64 columns of the output, from `column` on, of 64 rows: not normalised. Of each of a thread's
/// two rows, the base of its exponentials, near the maximum of score · scale, and the sum of exp(score ·
/// scale − base); −∞ and 0 without keys.
PIPELINK_IMPORT_IN(epilogue, "give", void, pipelink::Self self, float (&o)[32], float (&base)[2],
                   float (&sum)[2], unsigned row, unsigned head, unsigned sequence, unsigned column,
                   unsigned warpgroup);
PIPELINK_EXPORT_TENSOR(o, .element = "f32", .tile = {64, 64}, .layout = "wgmma_accumulator(64,64)",
                       .via = "epilogue", .parameter = 0);

PIPELINK_STEPS(compute,
               .once =
                   "wait tiles; release tiles; wait queries; release queries; wait keys; wait tiles; release "
                   "tiles; release keys; call score; call mask",
               .loop =
                   "(wait keys; wait tiles; release tiles; wait values; release keys; call score; call "
                   "mask; release values)*; wait tiles; release tiles; wait queries; wait keys; wait tiles; "
                   "release tiles; wait values; release keys; call score; call mask; release values; sync "
                   "all; call epilogue; release queries");

constexpr int kEnd = -1;
constexpr float kMost = 0x1p24f;  // of the sum of a thread's exponentials in a row of a tile
constexpr int kEarly = 8;  // sixteenths of a tile whose exponentials are made while values are multiplied
constexpr float kNoBase = -0x1p99f;  // of a row without keys so far
constexpr float kLog2e = 1.4426950408889634f;
constexpr std::uint32_t kHalfBytes = tile * 128;  // 64 columns of a stage

/// Descriptor of an operand in 128-byte swizzled rows, eight of which are 1024 bytes: its lower word, to
/// which 16 bytes add 1; the upper one is kDescriptor. `halves` are so many bytes apart, for an operand whose
/// rows are along the products' depth; else unused.
static __device__ __forceinline__ std::uint32_t descriptor(std::uint32_t address, std::uint32_t halves) {
  return (address & 0x3ffff) >> 4 | halves >> 4 << 16;
}
constexpr std::uint32_t kDescriptor = 0x40000040;

static __device__ __forceinline__ void wgmma_fence() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
static __device__ __forceinline__ void wgmma_commit() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
/// Waits until at most `kPending` groups are in flight.
template <int kPending>
static __device__ __forceinline__ void wgmma_wait() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kPending) : "memory");
}
/// After a wait: the accumulators may be read from here on, and not before.
template <int kCount>
static __device__ __forceinline__ void settle(float (&acc)[kCount]) {
#pragma unroll
  for (float& value : acc) asm volatile("" : "+f"(value)::"memory");
}

/// s = Q·Kᵀ + (accumulate ? s : 0), 64 × 128 × 16, with Q in registers.
static __device__ __forceinline__ void multiply_keys(float (&s)[64], const std::uint32_t* q, std::uint32_t k,
                                                     bool accumulate) {
  asm volatile(
      "{ .reg .pred p; .reg .b64 k; setp.ne.b32 p, %69, 0; mov.b64 k, {%68, %70}; "
      "wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, k, p, 1, 1, 0; }"
      : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3]), "+f"(s[4]), "+f"(s[5]), "+f"(s[6]), "+f"(s[7]),
        "+f"(s[8]), "+f"(s[9]), "+f"(s[10]), "+f"(s[11]), "+f"(s[12]), "+f"(s[13]), "+f"(s[14]), "+f"(s[15]),
        "+f"(s[16]), "+f"(s[17]), "+f"(s[18]), "+f"(s[19]), "+f"(s[20]), "+f"(s[21]), "+f"(s[22]),
        "+f"(s[23]), "+f"(s[24]), "+f"(s[25]), "+f"(s[26]), "+f"(s[27]), "+f"(s[28]), "+f"(s[29]),
        "+f"(s[30]), "+f"(s[31]), "+f"(s[32]), "+f"(s[33]), "+f"(s[34]), "+f"(s[35]), "+f"(s[36]),
        "+f"(s[37]), "+f"(s[38]), "+f"(s[39]), "+f"(s[40]), "+f"(s[41]), "+f"(s[42]), "+f"(s[43]),
        "+f"(s[44]), "+f"(s[45]), "+f"(s[46]), "+f"(s[47]), "+f"(s[48]), "+f"(s[49]), "+f"(s[50]),
        "+f"(s[51]), "+f"(s[52]), "+f"(s[53]), "+f"(s[54]), "+f"(s[55]), "+f"(s[56]), "+f"(s[57]),
        "+f"(s[58]), "+f"(s[59]), "+f"(s[60]), "+f"(s[61]), "+f"(s[62]), "+f"(s[63])
      : "r"(q[0]), "r"(q[1]), "r"(q[2]), "r"(q[3]), "r"(k), "r"(static_cast<int>(accumulate)),
        "n"(kDescriptor));
}

/// o += P·V, 64 × 128 × 16, with P in registers.
static __device__ __forceinline__ void multiply_values(float (&left)[32], float (&right)[32],
                                                       const std::uint32_t* p, std::uint32_t v) {
  asm volatile(
      "{ .reg .b64 v; mov.b64 v, {%68, %69}; wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31, "
      "%32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, %47, "
      "%48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, "
      "{%64, %65, %66, %67}, v, 1, 1, 1, 1; }"
      : "+f"(left[0]), "+f"(left[1]), "+f"(left[2]), "+f"(left[3]), "+f"(left[4]), "+f"(left[5]),
        "+f"(left[6]), "+f"(left[7]), "+f"(left[8]), "+f"(left[9]), "+f"(left[10]), "+f"(left[11]),
        "+f"(left[12]), "+f"(left[13]), "+f"(left[14]), "+f"(left[15]), "+f"(left[16]), "+f"(left[17]),
        "+f"(left[18]), "+f"(left[19]), "+f"(left[20]), "+f"(left[21]), "+f"(left[22]), "+f"(left[23]),
        "+f"(left[24]), "+f"(left[25]), "+f"(left[26]), "+f"(left[27]), "+f"(left[28]), "+f"(left[29]),
        "+f"(left[30]), "+f"(left[31]), "+f"(right[0]), "+f"(right[1]), "+f"(right[2]), "+f"(right[3]),
        "+f"(right[4]), "+f"(right[5]), "+f"(right[6]), "+f"(right[7]), "+f"(right[8]), "+f"(right[9]),
        "+f"(right[10]), "+f"(right[11]), "+f"(right[12]), "+f"(right[13]), "+f"(right[14]), "+f"(right[15]),
        "+f"(right[16]), "+f"(right[17]), "+f"(right[18]), "+f"(right[19]), "+f"(right[20]), "+f"(right[21]),
        "+f"(right[22]), "+f"(right[23]), "+f"(right[24]), "+f"(right[25]), "+f"(right[26]), "+f"(right[27]),
        "+f"(right[28]), "+f"(right[29]), "+f"(right[30]), "+f"(right[31])
      : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(v), "n"(kDescriptor));
}

/// o += P·V, 64 × 64 × 16.
static __device__ __forceinline__ void multiply_values(float (&o)[32], const std::uint32_t* p,
                                                       std::uint32_t v) {
  asm volatile(
      "{ .reg .b64 v; mov.b64 v, {%36, %37}; wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {"
      "%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, v, 1, 1, 1, 1; }"
      : "+f"(o[0]), "+f"(o[1]), "+f"(o[2]), "+f"(o[3]), "+f"(o[4]), "+f"(o[5]), "+f"(o[6]), "+f"(o[7]),
        "+f"(o[8]), "+f"(o[9]), "+f"(o[10]), "+f"(o[11]), "+f"(o[12]), "+f"(o[13]), "+f"(o[14]), "+f"(o[15]),
        "+f"(o[16]), "+f"(o[17]), "+f"(o[18]), "+f"(o[19]), "+f"(o[20]), "+f"(o[21]), "+f"(o[22]),
        "+f"(o[23]), "+f"(o[24]), "+f"(o[25]), "+f"(o[26]), "+f"(o[27]), "+f"(o[28]), "+f"(o[29]),
        "+f"(o[30]), "+f"(o[31])
      : "r"(p[0]), "r"(p[1]), "r"(p[2]), "r"(p[3]), "r"(v), "n"(kDescriptor));
}

static __device__ __forceinline__ float exp2(float x) {
  float y;
  asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
  return y;
}
static __device__ __forceinline__ std::uint32_t pack(float low, float high) {
  std::uint32_t packed;
  // Volatile, so that it stays after a wait for the product that reads the register before.
  asm volatile("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(high), "f"(low));
  return packed;
}

/// The row statistics of a thread's two rows, in units of binary exponents, and what to multiply older
/// results by. The sum is the thread's own part.
struct Softmax {
  float base[2], sum[2], correction[2];

  __device__ __forceinline__ void begin() {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      base[h] = kNoBase;
      sum[h] = 0;
    }
  }
  /// What the epilogue gets.
  __device__ __forceinline__ void end(float (&bases)[2], float (&sums)[2]) const {
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      bases[h] = base[h] == kNoBase ? -INFINITY : base[h] * (1 / kLog2e);
      sums[h] = sum[h] + __shfl_xor_sync(~0u, sum[h], 1);
      sums[h] += __shfl_xor_sync(~0u, sums[h], 2);
    }
  }
  /// Whether the base is too small for scores with these sums of exponentials, in any row of the warp; so it
  /// is if there is none yet.
  static __device__ __forceinline__ bool too_small_for(const float (&part)[2][2]) {
    return __any_sync(~0u, !(part[0][0] + part[0][1] <= kMost && part[1][0] + part[1][1] <= kMost));
  }
  /// Makes the base that of these scores too.
  __device__ __forceinline__ void rebase(const float (&s)[64], float scale_log2) {
    float top[2] = {s[0], s[2]};
#pragma unroll
    for (int j = 0; j < 16; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) top[h] = fmaxf(top[h], fmaxf(s[4 * j + 2 * h], s[4 * j + 2 * h + 1]));
#pragma unroll
    for (int lanes = 1; lanes <= 2; ++lanes)
#pragma unroll
      for (int h = 0; h < 2; ++h) top[h] = fmaxf(top[h], __shfl_xor_sync(~0u, top[h], lanes));
#pragma unroll
    for (int h = 0; h < 2; ++h) {
      const float own = fmaxf(top[h] * scale_log2, kNoBase);
      const float next = fmaxf(base[h], own);
      correction[h] = exp2(base[h] - next);
      sum[h] *= correction[h];
      base[h] = next;
    }
  }
  /// exp2(score · scale − base) of scores 4 · kBegin to 4 · kEnd, in pairs; `part` has their sums added.
  template <int kBegin, int kEnd>
  __device__ __forceinline__ void exponentials(const float (&s)[64], float scale_log2, std::uint32_t* p,
                                               float (&part)[2][2]) const {
#pragma unroll
    for (int j = kBegin; j < kEnd; ++j)
#pragma unroll
      for (int h = 0; h < 2; ++h) {
        float value[2];
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          value[i] = exp2(__fmaf_rn(s[4 * j + 2 * h + i], scale_log2, -base[h]));
          part[h][i] += value[i];
        }
        p[2 * (j - kBegin) + h] = pack(value[0], value[1]);
      }
  }
  __device__ __forceinline__ void add(const float (&part)[2][2]) {
#pragma unroll
    for (int h = 0; h < 2; ++h) sum[h] += part[h][0] + part[h][1];
  }
  __device__ __forceinline__ void correct(float (&o)[32]) const {
#pragma unroll
    for (int i = 0; i < 32; ++i) o[i] *= correction[i / 2 % 2];
  }
};

template <int kDim>
static __device__ __forceinline__ void run(pipelink::Self self, unsigned thread) {
  // The same in all lanes; told so that the compiler keeps it in a uniform register.
  const unsigned warpgroup = __shfl_sync(~0u, thread / 128, 0);
  const bool elected = thread % 128 == 0;
  const float scale = parameters(self).scale, scale_log2 = scale * kLog2e;
  pipelink::RingCursor at_query, at_key, at_value, at_tile;

  // A lane reads for its warp and releases what it has read.
  const auto take_tile = [&] {
    tiles.wait(self, at_tile);
    int4 words = {};
    if (thread % 32 == 0) {
      words = *reinterpret_cast<const int4*>(tiles.data(self, at_tile));
      tiles.release(self, at_tile);
    }
    at_tile.advance(tiles.stages(self));
    words.x = __shfl_sync(~0u, words.x, 0);
    words.y = __shfl_sync(~0u, words.y, 0);
    words.z = __shfl_sync(~0u, words.z, 0);
    words.w = __shfl_sync(~0u, words.w, 0);
    return words;
  };
  const auto my_turn = [&] {
    if (warpgroup == 0)
      turn0.sync(self);
    else
      turn1.sync(self);
  };
  const auto your_turn = [&] {
    if (warpgroup == 0)
      turn1.arrive(self);
    else
      turn0.arrive(self);
  };

  float s[64], o[kDim / 64][32];
  std::uint32_t q[kDim / 4], p[32];
  Softmax softmax;
  // The stage stays the warpgroup's until release_queries.
  const auto take_queries = [&](unsigned count) {
    queries.wait(self, at_query);
    if (count == 0) return;
    // Lane l addresses row l%8 of matrix l/8; the matrices are {rows +0, +8} × {columns +0, +8}.
    const unsigned lane = thread % 32, row = thread / 32 * 16 + lane % 16;
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i) {
      const std::uint32_t from = queries.address(self, at_query) + i / 4 * kHalfBytes + row * 128 +
                                 ((i % 4 * 2 + lane / 16) ^ (row % 8)) * 16;
      asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                   : "=r"(q[4 * i]), "=r"(q[4 * i + 1]), "=r"(q[4 * i + 2]), "=r"(q[4 * i + 3])
                   : "r"(from)
                   : "memory");
    }
  };
  const auto release_queries = [&] {
    __syncwarp();
    if (thread % 32 == 0) queries.release(self, at_query);
    at_query.advance(queries.stages(self));
  };
  const auto start_scores = [&] {
    const std::uint32_t k = descriptor(keys.address(self, at_key), 16);
#pragma unroll
    for (int i = 0; i < kDim / 16; ++i)
      multiply_keys(s, q + 4 * i, k + i / 4 * (kHalfBytes >> 4) + i % 4 * 2, i != 0);
    wgmma_commit();
  };
  const auto start_output = [&] {
    const std::uint32_t v = descriptor(values.address(self, at_value), kHalfBytes);
#pragma unroll
    for (int i = 0; i < tile / 16; ++i) {
      if constexpr (kDim == 128)
        multiply_values(o[0], o[1], p + 4 * i, v + i * (16 * 128 >> 4));
      else
        multiply_values(o[0], p + 4 * i, v + i * (16 * 128 >> 4));
    }
    wgmma_commit();
  };
  const auto release_keys = [&] {
    if (elected) keys.release(self, at_key);
    at_key.advance(keys.stages(self));
  };
  const auto release_values = [&] {
    if (elected) values.release(self, at_value);
    at_value.advance(values.stages(self));
  };
  const auto change_scores = [&](int4 item, int4 which) {
    const int query = item.w + static_cast<int>(warpgroup) * 64;
    score(self, s, query, which.x, static_cast<unsigned>(item.y) & 0xffff, scale);
    if (which.y != 0) mask(self, s, query, which.x, which.z, static_cast<unsigned>(which.y));
  };
  // The weights of a tile's scores, with a base that is large enough.
  const auto weigh = [&] {
    float part[2][2] = {};
    softmax.rebase(s, scale_log2);
    softmax.exponentials<0, 16>(s, scale_log2, p, part);
    softmax.add(part);
  };
  const auto give = [&](int4 item, float(&base)[2], float(&sum)[2]) {
#pragma unroll
    for (int half = 0; half < kDim / 64; ++half)
      epilogue(self, o[half], base, sum, item.x + warpgroup * 64, item.y & 0xffff,
               static_cast<unsigned>(item.y) >> 16, 64 * half, warpgroup);
  };
  const auto settle_output = [&] {
    wgmma_wait<0>();
#pragma unroll
    for (auto& half : o) settle(half);
    release_values();
  };
  const auto clear_output = [&] {
#pragma unroll
    for (int i = 0; i < kDim / 2; ++i) o[i / 32][i % 32] = 0;
  };
  // Multiplies the next tile's scores and the values of the tile before, whose weights are in p, and makes
  // the tile's weights of its scores. `item` is the tile's; if it begins with this tile, `before` is ended.
  const auto attend = [&](auto first, int4 item, int4 before) {
    constexpr bool kFirst = decltype(first)::value;
    keys.wait(self, at_key);
    my_turn();
    wgmma_fence();
    start_scores();
    const int4 which = take_tile();  // while it is multiplied
    values.wait(self, at_value);
    wgmma_fence();
    start_output();
    your_turn();
    float base[2], sum[2];
    if constexpr (kFirst) {
      if (joined(self) != 0 && warpgroup == 1) all.arrive(self);
      softmax.end(base, sum);
      softmax.begin();
    }
    wgmma_wait<1>();
    settle(s);
    release_keys();
    change_scores(item, which);
    if constexpr (kFirst) softmax.rebase(s, scale_log2);
    // The base is most often large enough, so the exponentials do not wait for a look at the scores: their
    // sums tell it, and the scores are still there. p is read until the values are multiplied, which takes
    // half of the time.
    std::uint32_t early[2 * kEarly];
    float part[2][2] = {};
    softmax.exponentials<0, kEarly>(s, scale_log2, early, part);
    // Never; but the compiler does not know, and so it does not begin to wait before the sums are there.
    if (part[0][0] + part[0][1] + part[1][0] + part[1][1] < 0) __trap();
    settle_output();
#pragma unroll
    for (int i = 0; i < 2 * kEarly; ++i) asm volatile("mov.b32 %0, %1;" : "=r"(p[i]) : "r"(early[i]));
    softmax.exponentials<kEarly, 16>(s, scale_log2, p + 2 * kEarly, part);
    if constexpr (kFirst) {
      softmax.add(part);
      // The other warpgroup comes after this one's turn: then this one has read its queries.
      if (joined(self) != 0 && warpgroup == 0) all.sync(self);
      give(before, base, sum);
      release_queries();
      clear_output();
    } else {
      if (Softmax::too_small_for(part)) {
        weigh();
#pragma unroll
        for (auto& half : o) softmax.correct(half);
      } else {
        softmax.add(part);
      }
    }
  };

  if (warpgroup == 1) turn0.arrive(self);
  int4 item = take_tile();
  if (item.z != kEnd) {
    take_queries(item.z);
    release_queries();
  }
  while (item.z != kEnd) {  // nothing is being multiplied here
    int4 next;
    softmax.begin();
    clear_output();
    if (item.z == 0) {
      next = take_tile();
    } else {
      keys.wait(self, at_key);
      wgmma_fence();
      start_scores();
      const int4 which = take_tile();
      wgmma_wait<0>();
      settle(s);
      release_keys();
      change_scores(item, which);
      weigh();
      for (;;) {
        for (int left = item.z - 1; left != 0; --left) attend(std::false_type{}, item, item);
        next = take_tile();
        if (next.z == 0 || next.z == kEnd) break;
        take_queries(next.z);
        attend(std::true_type{}, next, item);
        item = next;
      }
      values.wait(self, at_value);
      my_turn();
      wgmma_fence();
      start_output();
      your_turn();
      settle_output();
    }
    if (next.z != kEnd) take_queries(next.z);
    float base[2], sum[2];
    softmax.end(base, sum);
    if (joined(self) != 0) all.sync(self);
    give(item, base, sum);
    if (next.z != kEnd) release_queries();
    item = next;
  }
  if (warpgroup == 0) turn0.sync(self);  // for the arrival that was left
}

PIPELINK_ROLE(compute, .warps = 8, .registers = {232, 240})(pipelink::Self self) {
  switch (head_dim(self)) {
    case 64:
      return run<64>(self, compute.thread(self));
    default:
      return run<128>(self, compute.thread(self));
  }
}

}  // namespace attention_core
