// Random problems and texts for the tests; the same ones everywhere.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linker/place/problem.h"

namespace pipelink::place::test {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0x9e3779b97f4a7c15ULL + 1) {}
  int below(int n) {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return static_cast<int>((state_ >> 20) % static_cast<std::uint64_t>(n));
  }
  int between(int low, int high) { return low + below(high - low + 1); }

  template <class T>
  void shuffle(std::vector<T>& list) {
    for (std::size_t i = list.size(); i > 1; --i) std::swap(list[i - 1], list[below(static_cast<int>(i))]);
  }

 private:
  std::uint64_t state_;
};

/// Phases p0… with random orders; with `loop`, also to the next iteration.
std::vector<Phase> random_phases(Random& random, int count, bool loop);

/// A small problem with buffers, rings and barriers that often just fits, or just does not.
Problem random_problem(Random& random, int buffers, bool loop);

/// The same problem with every list in another order.
Problem shuffled(const Problem& problem, Random& random);

/// Of tests/data/placement.
Problem load(const std::string& name);

}  // namespace pipelink::place::test
