// The host provider: tensor maps and tile counts from the caller's operands.
#include <pipelink/provider.hpp>

#include <algorithm>

#include "tma_loader.h"

PIPELINK_HOST_PROVIDER(tma_loader, tma_loader::Arguments, tma_loader::Parameters) {
  const auto tile_m = host.fact<unsigned>("tile_m"), tile_n = host.fact<unsigned>("tile_n");
  const auto tile_k = host.fact<unsigned>("tile_k"), interleave = host.fact<unsigned>("interleave");
  const auto [a, b, m, n, k] = arguments;
  const unsigned halves = interleave == 0 ? 1 : 2, group = interleave == 0 ? 8 : interleave;

  if (m == 0 || n == 0 || k == 0) host.fail("m, n and k must be at least 1");
  if (k % 8 != 0) host.fail("k is " + std::to_string(k) + ", which is not a multiple of 8");
  if (n % (halves * group) != 0)
    host.fail("n is " + std::to_string(n) + ", which is not a multiple of " + std::to_string(halves * group));

  const std::uint64_t row = std::uint64_t{k} * 2;  // bytes
  parameters.a = host.tensor_map({.address = a,
                                  .rank = 2,
                                  .extent = {k, m},
                                  .stride = {row},
                                  .box = {tile_k, tile_m},
                                  .swizzle = pipelink::Swizzle::k128B});
  parameters.b = host.tensor_map({.address = b,
                                  .rank = 4,
                                  .extent = {k, group, halves, n / (halves * group)},
                                  .stride = {row, n / halves * row, group * row},
                                  .box = {tile_k, group, halves, tile_n / (halves * group)},
                                  .swizzle = pipelink::Swizzle::k128B});
  parameters.m_tiles = (m - 1) / tile_m + 1;
  parameters.n_tiles = (n - 1) / tile_n + 1;
  parameters.k_blocks = std::max((k - 1) / tile_k + 1, host.fact<unsigned>("min_k_blocks"));
  if (std::uint64_t{parameters.m_tiles} * parameters.n_tiles > 0x7fffffff)
    host.fail("there are more than 2^31 tiles");
}
