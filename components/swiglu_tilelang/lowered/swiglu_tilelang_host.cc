// Made by PipeLink's front end for TileLang from components/swiglu_tilelang/swiglu_tilelang.py; do not edit.
#include <pipelink/provider.hpp>

#include <cstdint>
#include <string>

#include "swiglu_tilelang.h"

PIPELINK_HOST_PROVIDER(swiglu_tilelang, swiglu_tilelang::Arguments, swiglu_tilelang::Parameters) {
  const auto [out, rows, columns] = arguments;
  if (rows == 0 || columns == 0)
    host.fail("rows and columns must be at least 1");
  if ((std::uint64_t{columns} * 2) % 16 != 0)
    host.fail("rows of out are " + std::to_string((std::uint64_t{columns} * 2)) +
              " bytes apart, which is not a multiple of 16");
  parameters.out_desc = host.tensor_map({.element = pipelink::Element::kBf16,
                                         .address = out,
                                         .rank = 2,
                                         .extent = {columns, rows},
                                         .stride = {(std::uint64_t{columns} * 2)},
                                         .box = {64, 64},
                                         .swizzle = pipelink::Swizzle::k128B});
}
