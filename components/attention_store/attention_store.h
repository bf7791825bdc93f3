// What host and device of the component attention_store share.
#pragma once

#include <pipelink/tensor_map.h>

namespace attention_store {

/// The output, bfloat16: [sequences, rows, heads, head_dim] by these distances in elements, multiples of 8;
/// aligned to 16 bytes. A row without keys is 0.
struct Arguments {
  void* out;
  unsigned sequences, rows, heads;
  unsigned long long row, head, sequence;  ///< from one to the next
};

/// Filled by the host provider. The dimensions of the map: {64 columns, row, half, head, sequence}.
struct Parameters {
  pipelink::TensorMap out;
};

}  // namespace attention_store
