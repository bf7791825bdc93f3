#include <pipelink/provider.hpp>

#include "sample_component.h"

PIPELINK_HOST_PROVIDER(loader, loader::Arguments, loader::Parameters) {
  const unsigned tile = host.fact<unsigned>("tile_m");
  if (arguments.rows % tile) host.fail("rows must be a multiple of tile_m (" + std::to_string(tile) + ")");
  parameters.tiles = arguments.rows / tile * host.fact<unsigned>("operands.stages");
  parameters.blocks = host.grid().blocks;
  parameters.map = host.tensor_map({.element = pipelink::Element::kBf16,
                                    .address = arguments.data,
                                    .rank = 2,
                                    .extent = {arguments.columns, arguments.rows},
                                    .box = {64, tile},
                                    .swizzle = pipelink::Swizzle::k128B});
  if (arguments.ask_blocks) host.request_blocks(arguments.ask_blocks);
  if (arguments.ask_scratch) parameters.scratch = host.request_scratch(arguments.ask_scratch, true);
}
