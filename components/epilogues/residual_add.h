// What host and device of the component residual_add share.
#pragma once

#include <cstdint>

namespace residual_add {

struct Parameters {
  std::uint16_t* out;             ///< bfloat16 [rows, columns]
  const std::uint16_t* residual;  ///< likewise; may be the output
  unsigned rows, columns;         ///< columns is a multiple of 8
};

}  // namespace residual_add
