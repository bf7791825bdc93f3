// Made by PipeLink's front end for TileLang from tests/e2e/tilelang/scale_rows.py; do not edit.
#include <pipelink/provider.hpp>

#include <cstdint>
#include <string>

#include "scale_rows.h"

PIPELINK_HOST_PROVIDER(scale_rows, scale_rows::Arguments, scale_rows::Parameters) {
  const auto [x, y, rows] = arguments;
  if (rows == 0)
    host.fail("rows must be at least 1");
  parameters.x_desc = host.tensor_map({.element = pipelink::Element::kF32,
                                       .address = x,
                                       .rank = 2,
                                       .extent = {64, rows},
                                       .stride = {256},
                                       .box = {64, 128},
                                       .swizzle = pipelink::Swizzle::kNone});
  parameters.y = static_cast<float*>(y);
  parameters.rows = rows;
  host.request_blocks(((rows + 511) / 512));
}
