// The public headers of the sample's components.
#pragma once

#include <pipelink/tensor_map.h>

namespace loader {
struct Arguments {
  const void* data;
  unsigned rows, columns;
  unsigned ask_blocks;
  unsigned ask_scratch;
};
struct Parameters {
  pipelink::TensorMap map;
  unsigned tiles;
  unsigned blocks;
  void* scratch;
};
}  // namespace loader

namespace scaler {
struct Parameters {
  float factor;
  void* out;
};
}  // namespace scaler
