#pragma once

namespace feeder {

struct Parameters {
  const float* in;
  float* out;
  unsigned long long steps;
};

}  // namespace feeder
