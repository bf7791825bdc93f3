// What host and device of the component attention_paged_loader share.
#pragma once

#include <pipelink/tensor_map.h>

namespace attention_paged_loader {

/// Operands of attention, bfloat16, with K and V in pages of the fact `page` keys. Distances are in elements,
/// multiples of 8; addresses are aligned to 16 bytes. heads is a multiple of kv_heads. A page that holds keys
/// holds finite numbers everywhere, also past the last key.
struct Arguments {
  const void* q;  ///< [sequences, rows, heads, head_dim] by these distances
  const void* k;  ///< [pages, page, kv_heads, head_dim], and so v
  const void* v;
  const unsigned* table;  ///< [sequences, table_stride]: the page of each `page` keys of a sequence
  unsigned table_stride, pages;
  unsigned sequences, rows, heads, kv_heads;
  unsigned long long q_row, q_head, q_sequence;  ///< from one to the next
  unsigned long long kv_slot, kv_head, kv_page;  ///< of k and of v
};

/// Filled by the host provider. The dimensions of a map: {64 columns, row, half, head, sequence or page}.
struct Parameters {
  pipelink::TensorMap q, k, v;
  const unsigned* table;
  unsigned table_stride;
  unsigned group;  ///< heads of Q to a head of K
};

}  // namespace attention_paged_loader
