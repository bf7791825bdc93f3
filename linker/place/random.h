// Numbers that look random and are the same everywhere (xorshift64*).
#pragma once

#include <cstddef>
#include <cstdint>

namespace pipelink::place {

/// 1024 times the binary logarithm of a positive number, rounded down, without floating point.
inline std::int64_t logarithm(std::uint64_t k) {
  std::int64_t result = 0;
  while ((k >> (result + 1)) != 0) ++result;
  std::uint64_t x = (k << 30) >> result;  // in [1, 2), with 30 bits behind the point
  for (int bit = 0; bit < 10; ++bit) {
    x = (x * x) >> 30;
    result *= 2;
    if (x >> 31) {
      x >>= 1;
      ++result;
    }
  }
  return result;
}

class Random {
 public:
  /// Seed 0 stands for none.
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL) {}
  bool on() const { return state_ != 0; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((next() >> 33) % n); }
  /// 1024 times a number of the exponential distribution with mean 1, in 64 steps.
  std::int64_t exponential() { return (std::int64_t{7} * 1024 - logarithm(2 * below(64) + 1)) * 710 / 1024; }

 private:
  std::uint64_t next() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return state_ * 2685821657736338717ULL;
  }
  std::uint64_t state_;
};

}  // namespace pipelink::place
