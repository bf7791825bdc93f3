// What host and device of the component bias_gelu share.
#pragma once

#include <cstdint>

namespace bias_gelu {

struct Parameters {
  std::uint16_t* out;      ///< bfloat16 [rows, columns]
  const float* bias;       ///< [columns]
  unsigned rows, columns;  ///< columns is a multiple of 8
};

}  // namespace bias_gelu
