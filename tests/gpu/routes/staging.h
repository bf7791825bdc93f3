#pragma once

namespace staging {

struct Parameters {
  const float* in;  ///< 32 for each thread
  unsigned* out;    ///< 4 for each thread
  unsigned turns;
};

}  // namespace staging
