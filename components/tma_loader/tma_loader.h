// What host and device of the component tma_loader share.
#pragma once

#include <pipelink/tensor_map.h>

namespace tma_loader {

/// The operands of C = A·Bᵀ, bfloat16, row-major, 16-byte aligned; k is a multiple of 8.
struct Arguments {
  const void* a;  ///< [m, k]
  const void* b;  ///< [n, k]; with the fact `interleave`, the first n/2 rows are gates and the others ups
  unsigned m, n, k;
};

/// Filled by the host provider.
struct Parameters {
  pipelink::TensorMap a;
  pipelink::TensorMap b;  ///< {k, row of a group, gate or up, group}
  unsigned m_tiles, n_tiles;
  unsigned k_blocks;  ///< per tile
};

}  // namespace tma_loader
