// Numbers that look random and are the same everywhere (xorshift64*).
#pragma once

#include <cstddef>
#include <cstdint>

namespace pipelink::place {

class Random {
 public:
  /// Seed 0 stands for none.
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL) {}
  bool on() const { return state_ != 0; }
  std::size_t below(std::size_t n) { return static_cast<std::size_t>((next() >> 33) % n); }

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
