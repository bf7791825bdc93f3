// What host and device of the component attention_loader share.
#pragma once

#include <pipelink/tensor_map.h>

namespace attention_loader {

/// Operands of attention, bfloat16; the elements of a head are together. Distances are in elements, multiples
/// of 8; addresses are aligned to 16 bytes. heads is a multiple of kv_heads: each head of K and V is that of
/// heads / kv_heads heads of Q.
struct Arguments {
  const void* q;  ///< [sequences, rows, heads, head_dim] by these distances
  const void* k;  ///< [sequences, keys, kv_heads, head_dim], and so v
  const void* v;
  unsigned sequences, rows, keys, heads, kv_heads;
  unsigned long long q_row, q_head, q_sequence;     ///< from one to the next
  unsigned long long kv_row, kv_head, kv_sequence;  ///< of k and of v
};

/// Filled by the host provider. The dimensions of a map: {64 columns, row, half, head, sequence}.
struct Parameters {
  pipelink::TensorMap q, k, v;
  unsigned group;  ///< heads of Q to a head of K
};

}  // namespace attention_loader
