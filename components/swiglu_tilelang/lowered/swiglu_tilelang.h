// Made by PipeLink's front end for TileLang from components/swiglu_tilelang/swiglu_tilelang.py; do not edit.
#pragma once

#include <pipelink/tensor_map.h>

namespace swiglu_tilelang {

/// What the caller gives; tensors are row-major and packed.
struct Arguments {
  void* out;  ///< [rows, columns], bfloat16
  unsigned rows;
  unsigned columns;
};

/// Read by the kernel.
struct Parameters {
  pipelink::TensorMap out_desc;
};

}  // namespace swiglu_tilelang
