#pragma once

namespace twin {

/// The output, row-major.
struct Parameters {
  float* out;  ///< [rows, columns]
  unsigned rows, columns;
};

}  // namespace twin
