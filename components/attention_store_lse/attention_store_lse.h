// What host and device of the component attention_store_lse share.
#pragma once

namespace attention_store_lse {

/// Filled by the caller. Distances in elements, of `out` even; `out` is aligned to 4 bytes. A row without
/// keys is 0, and its logarithm −∞.
struct Parameters {
  void* out;   ///< bfloat16: [sequences, rows, heads, head_dim] by these distances
  float* lse;  ///< [sequences, heads, rows]: the logarithm of the sum of exp(score · scale)
  unsigned rows, heads;
  unsigned long long row, head, sequence;  ///< of out, from one to the next
};

}  // namespace attention_store_lse
