// What host and device of the component scale_fp8 share.
#pragma once

#include <cstdint>

namespace scale_fp8 {

struct Parameters {
  std::uint8_t* out;       ///< e4m3 [rows, columns]
  const float* scale;      ///< one
  unsigned rows, columns;  ///< columns is a multiple of 8
};

}  // namespace scale_fp8
