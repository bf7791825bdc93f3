// Fills the rings of attention_core from Q, K and V that lie in memory by fixed distances, a bulk tensor copy
// for each tile. Rows past the end are read as zeros.
//
// Which items a block has and which tiles an item has, the callables `item_at` and `tile_at` say.
#define PIPELINK_COMPONENT attention_loader
#include <pipelink/component.h>

#include "attention_loader.h"

namespace attention_loader {

PIPELINK_PARAMETERS(attention_loader::Parameters, "attention_loader.h", q, k, v, group);
PIPELINK_HOST(attention_loader::Arguments, "attention_loader.h", q, k, v, sequences, rows, keys, heads,
              kv_heads, q_row, q_head, q_sequence, kv_row, kv_head, kv_sequence);

PIPELINK_USE_FACT(tile, int);
PIPELINK_USE_FACT(head_dim, int);
PIPELINK_REQUIRE(one_box, "tile <= 256 && head_dim % 64 == 0");

PIPELINK_IMPORT_RING(queries, .side = pipelink::kProducer, .stage_bytes = "tile * head_dim * 2",
                     .align = 1024, .full_arrivals = 1, .transaction_bytes = "tile * head_dim * 2");
PIPELINK_IMPORT_RING(keys, .side = pipelink::kProducer, .stage_bytes = "tile * head_dim * 2", .align = 1024,
                     .full_arrivals = 1, .transaction_bytes = "tile * head_dim * 2");
PIPELINK_IMPORT_RING(values, .side = pipelink::kProducer, .stage_bytes = "tile * head_dim * 2", .align = 1024,
                     .full_arrivals = 1, .transaction_bytes = "tile * head_dim * 2");
PIPELINK_IMPORT_RING(tiles, .side = pipelink::kProducer, .stage_bytes = 16, .full_arrivals = 1);

/// The block's `step`-th item: `tile` queries of a head, from `row` on, the first of which has the position
/// `position` among `keys` keys. Returns its number of tiles; ~0: there is no such item.
PIPELINK_IMPORT(item_at, unsigned, pipelink::Self self, unsigned step, unsigned& row, unsigned& head,
                unsigned& sequence, int& position, unsigned& keys);
/// The first key of the item's `i`-th tile, a multiple of `tile`, and its kind.
PIPELINK_IMPORT(tile_at, unsigned, pipelink::Self self, unsigned row, unsigned head, unsigned sequence,
                int position, unsigned keys, unsigned i, unsigned& kind);

PIPELINK_STEPS(load, .loop =
                         "acquire tiles; arrive tiles; acquire tiles; arrive tiles; acquire keys; arrive "
                         "keys; acquire queries; arrive queries; (acquire tiles; arrive tiles; acquire keys; "
                         "arrive keys; acquire values; arrive values)*; acquire values; arrive values");

static __device__ __forceinline__ void load_rows(std::uint32_t to, const pipelink::TensorMap& map,
                                                 std::uint32_t full, unsigned row, unsigned head,
                                                 unsigned sequence) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %3, "
      "%5, %6}], [%2];" ::"r"(to),
      "l"(&map), "r"(full), "r"(0), "r"(row), "r"(head), "r"(sequence)
      : "memory");
}

static __device__ __forceinline__ void prefetch(const pipelink::TensorMap& map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(&map) : "memory");
}

PIPELINK_ROLE(load, .warps = 4, .registers = {24, 24})(pipelink::Self self) {
  if (load.thread(self) != 0) return;
  const Parameters& p = parameters(self);
  prefetch(p.q);
  prefetch(p.k);
  prefetch(p.v);
  const unsigned bytes = tile(self) * head_dim(self) * 2;
  pipelink::RingCursor at_query, at_key, at_value, at_tile;
  const auto tell = [&](unsigned a, unsigned b, unsigned c, unsigned d) {
    tiles.acquire(self, at_tile);
    *reinterpret_cast<uint4*>(tiles.data(self, at_tile)) = make_uint4(a, b, c, d);
    pipelink::mbarrier::arrive(tiles.full(self, at_tile));
    at_tile.advance(tiles.stages(self));
  };

  for (unsigned step = 0;; ++step) {
    unsigned row = 0, head = 0, sequence = 0, length = 0;
    int position = 0;
    const unsigned count = item_at(self, step, row, head, sequence, position, length);
    tell(row, head | sequence << 16, count, static_cast<unsigned>(position));
    if (count == ~0u) return;
    const unsigned kv_head = head / p.group;
    unsigned before = 0;  // first key of the tile whose values are yet to be loaded
    for (unsigned i = 0; i <= count; ++i) {
      unsigned key = 0;
      if (i < count) {
        unsigned kind = 0;
        key = tile_at(self, row, head, sequence, position, length, i, kind);
        tell(key, kind, length, 0);
        keys.acquire(self, at_key);
        pipelink::mbarrier::arrive_expect(keys.full(self, at_key), bytes);
        load_rows(keys.address(self, at_key), p.k, keys.full(self, at_key), key, kv_head, sequence);
        at_key.advance(keys.stages(self));
      }
      if (i == 0) {
        queries.acquire(self, at_query);
        pipelink::mbarrier::arrive_expect(queries.full(self, at_query), bytes);
        load_rows(queries.address(self, at_query), p.q, queries.full(self, at_query), row, head, sequence);
        at_query.advance(queries.stages(self));
      }
      if (i > 0) {
        values.acquire(self, at_value);
        pipelink::mbarrier::arrive_expect(values.full(self, at_value), bytes);
        load_rows(values.address(self, at_value), p.v, values.full(self, at_value), before, kv_head,
                  sequence);
        at_value.advance(values.stages(self));
      }
      before = key;
    }
  }
}

}  // namespace attention_loader
