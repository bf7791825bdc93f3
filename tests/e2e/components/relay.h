// Public header of relay: what a caller lends, and what the kernel gets.
#pragma once

namespace relay {

struct Arguments {
  float* out;
  unsigned count;
};

struct Parameters {
  float* out;
  unsigned count;
};

}  // namespace relay
