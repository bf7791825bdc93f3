// Types that components hand to one another: the linker knows their names, sizes and alignments only.
#pragma once

namespace exchange {

struct Sample {
  float value;
  unsigned tag;
};

struct alignas(16) Wide {
  float lanes[8];
  unsigned long long stamp;
};

enum class Mode : unsigned { kAdd = 1, kScale = 5 };

struct alignas(32) Large {
  double values[8];
};

}  // namespace exchange
