// A set of small integers of a size that is known at run time.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace pipelink::place {

class Bits {
 public:
  Bits() = default;
  explicit Bits(std::size_t size) : words_((size + 63) / 64) {}

  bool test(std::size_t i) const { return (words_[i / 64] >> (i % 64)) & 1; }
  void set(std::size_t i) { words_[i / 64] |= std::uint64_t{1} << (i % 64); }
  void reset(std::size_t i) { words_[i / 64] &= ~(std::uint64_t{1} << (i % 64)); }

  bool none() const {
    for (std::uint64_t w : words_)
      if (w) return false;
    return true;
  }
  std::size_t count() const {
    std::size_t n = 0;
    for (std::uint64_t w : words_) n += static_cast<std::size_t>(std::popcount(w));
    return n;
  }
  bool contains(const Bits& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if (other.words_[i] & ~words_[i]) return false;
    return true;
  }
  bool intersects(const Bits& other) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      if (other.words_[i] & words_[i]) return true;
    return false;
  }
  Bits& operator&=(const Bits& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] &= other.words_[i];
    return *this;
  }
  Bits& operator|=(const Bits& other) {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  /// Whether f holds for a member of both sets.
  template <class F>
  bool any_of_both(const Bits& other, F&& f) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t w = words_[i] & other.words_[i]; w; w &= w - 1)
        if (f(i * 64 + static_cast<std::size_t>(std::countr_zero(w)))) return true;
    return false;
  }
  template <class F>
  void for_each(F&& f) const {
    for (std::size_t i = 0; i < words_.size(); ++i)
      for (std::uint64_t w = words_[i]; w; w &= w - 1)
        f(i * 64 + static_cast<std::size_t>(std::countr_zero(w)));
  }
  bool operator==(const Bits&) const = default;
  auto operator<=>(const Bits&) const = default;

 private:
  std::vector<std::uint64_t> words_;
};

}  // namespace pipelink::place
