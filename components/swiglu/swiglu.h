// What host and device of the component swiglu share.
#pragma once

#include <pipelink/tensor_map.h>

namespace swiglu {

/// The output, bfloat16, row-major, 16-byte aligned; columns is a multiple of 8.
struct Arguments {
  void* out;  ///< [rows, columns]
  unsigned rows, columns;
};

/// What one bulk store writes: a row is 128 bytes of shared memory, swizzled.
constexpr unsigned kBoxRows = 64, kBoxColumns = 64;

/// Filled by the host provider.
struct Parameters {
  pipelink::TensorMap out;
};

}  // namespace swiglu
