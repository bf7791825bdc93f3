// The host provider: the tensor map of the output.
#include <pipelink/provider.hpp>

#include "swiglu.h"

PIPELINK_HOST_PROVIDER(swiglu, swiglu::Arguments, swiglu::Parameters) {
  const auto [out, rows, columns] = arguments;
  if (rows == 0 || columns == 0) host.fail("rows and columns must be at least 1");
  if (columns % 8 != 0) host.fail("columns is " + std::to_string(columns) + ", which is not a multiple of 8");
  const auto rest = host.fact<unsigned>("tile_n") % host.fact<unsigned>("part_n") / 2;
  pipelink::TensorMapSpec spec{.address = out,
                               .rank = 2,
                               .extent = {columns, rows},
                               .stride = {std::uint64_t{columns} * 2},
                               .box = {swiglu::kBoxColumns, swiglu::kBoxRows},
                               .swizzle = pipelink::Swizzle::k128B};
  parameters.rest = parameters.out = host.tensor_map(spec);
  if (rest != 0) {
    spec.box[0] = rest;
    spec.swizzle = pipelink::Swizzle::kNone;
    parameters.rest = host.tensor_map(spec);
  }
}
