// Made by PipeLink's front end for TileLang from tests/e2e/tilelang/scale_rows.py; do not edit.
#pragma once

#include <pipelink/tensor_map.h>

namespace scale_rows {

/// What the caller gives; tensors are row-major and packed.
struct Arguments {
  const float* x;  ///< [rows, 64], float32
  float* y;  ///< [rows, 64], float32
  unsigned rows;
};

/// Read by the kernel.
struct Parameters {
  pipelink::TensorMap x_desc;
  float* y;
  unsigned rows;
};

}  // namespace scale_rows
