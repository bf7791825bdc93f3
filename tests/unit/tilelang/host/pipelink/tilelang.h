// In place of pipelink/tilelang.h: the same functions on the host, as far as swiglu_tilelang calls them.
#pragma once

#include <pipelink/tensor_map.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <functional>

struct float2 {
  float x, y;
};
struct uint1 {
  unsigned x;
};

/// To the nearest, ties to even; of finite numbers.
inline std::uint16_t to_bfloat16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return static_cast<std::uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}
struct __nv_bfloat162 {  // NOLINT: CUDA's name
  std::uint16_t x, y;
};
inline __nv_bfloat162 __float22bfloat162_rn(float2 v) {  // NOLINT: CUDA's name
  return {to_bfloat16(v.x), to_bfloat16(v.y)};
}
inline float __expf(float x) {
  return std::exp(x);
}  // NOLINT: CUDA's name

namespace pipelink::tilelang {
namespace names {
using bfloat16_t = std::uint16_t;
using uint = unsigned;
}  // namespace names

template <int kThreads>
bool tl_shuffle_elect(int thread) {
  return thread % kThreads == 0;
}
inline float fast_rcp(float x) {
  return 1 / x;
}
template <int kPending, bool kRead>
void tma_store_wait() {}
inline void fence_proxy_async() {}
inline void tma_store_arrive() {}

/// What the test does with a store: (first element in shared memory, column, row).
inline std::function<void(const void*, int, int)> on_store;
inline void tma_store(const TensorMap&, const void* from, int x, int y) {
  on_store(from, x, y);
}

}  // namespace pipelink::tilelang
