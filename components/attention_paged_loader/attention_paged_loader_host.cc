// The host provider: tensor maps from the caller's operands.
#include <pipelink/provider.hpp>

#include "attention_paged_loader.h"

PIPELINK_HOST_PROVIDER(attention_paged_loader, attention_paged_loader::Arguments,
                       attention_paged_loader::Parameters) {
  const auto tile = host.fact<unsigned>("tile"), dim = host.fact<unsigned>("head_dim");
  const auto page = host.fact<unsigned>("page");
  const attention_paged_loader::Arguments& a = arguments;
  if (a.sequences == 0 || a.rows == 0 || a.pages == 0)
    host.fail("sequences, rows and pages must be at least 1");
  if (a.kv_heads == 0 || a.heads == 0 || a.heads % a.kv_heads != 0)
    host.fail("heads is " + std::to_string(a.heads) + ", which is not a multiple of kv_heads, " +
              std::to_string(a.kv_heads));
  if (a.heads > 0xffff || a.sequences > 0xffff) host.fail("there are more than 65535 heads or sequences");

  const auto map = [&](const void* address, unsigned rows, unsigned box, unsigned heads, unsigned count,
                       unsigned long long row, unsigned long long head, unsigned long long last) {
    return host.tensor_map({.address = address,
                            .rank = 5,
                            .extent = {64, rows, dim / 64, heads, count},
                            .stride = {row * 2, 128, head * 2, last * 2},
                            .box = {64, box, 1, 1, 1},
                            .swizzle = pipelink::Swizzle::k128B,
                            .l2_promotion = pipelink::L2Promotion::k256B});
  };
  parameters.q = map(a.q, a.rows, tile, a.heads, a.sequences, a.q_row, a.q_head, a.q_sequence);
  parameters.k = map(a.k, page, page, a.kv_heads, a.pages, a.kv_slot, a.kv_head, a.kv_page);
  parameters.v = map(a.v, page, page, a.kv_heads, a.pages, a.kv_slot, a.kv_head, a.kv_page);
  parameters.table = a.table;
  parameters.table_stride = a.table_stride;
  parameters.group = a.heads / a.kv_heads;
}
