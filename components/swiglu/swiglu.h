// What host and device of the component swiglu share.
#pragma once

#include <pipelink/tensor_map.h>

namespace swiglu {

/// The output, bfloat16, row-major, 16-byte aligned; columns is a multiple of 8.
struct Arguments {
  void* out;  ///< [rows, columns]
  unsigned rows, columns;
};

/// What one bulk store writes at most: a row is 128 bytes of shared memory, swizzled.
constexpr unsigned kBoxRows = 64, kBoxColumns = 64;

/// Filled by the host provider.
struct Parameters {
  pipelink::TensorMap out;
  pipelink::TensorMap rest;  ///< for the last part of a tile, where that has fewer columns: rows as they are
};

}  // namespace swiglu
