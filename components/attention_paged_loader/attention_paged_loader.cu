// Fills the rings of attention_core as attention_loader does, with K and V from pages: a tile of 128 keys is
// one page of 128, or several smaller ones. Boxes are half of a page each. As a warp issues one after the
// other, four warps share them. The first one also expects a stage's bytes; the others' may come before,
// since a stage is not full without its arrival.
#define PIPELINK_COMPONENT attention_paged_loader
#include <pipelink/component.h>

#include "attention_paged_loader.h"

namespace attention_paged_loader {

PIPELINK_PARAMETERS(attention_paged_loader::Parameters, "attention_paged_loader.h", q, k, v, table,
                    table_stride, group);
PIPELINK_HOST(attention_paged_loader::Arguments, "attention_paged_loader.h", q, k, v, table, table_stride,
              pages, sequences, rows, heads, kv_heads, q_row, q_head, q_sequence, kv_slot, kv_head, kv_page);

PIPELINK_USE_FACT(tile, int);
PIPELINK_USE_FACT(head_dim, int);
/// Keys of a page.
PIPELINK_SETTABLE_FACT(page, int, .value = 128, .domain = {16, 32, 64, 128});
PIPELINK_REQUIRE(whole_pages, "tile % page == 0 && tile / page * (head_dim / 64) <= 32 && tile <= 256");

PIPELINK_IMPORT_RING(queries, .side = pipelink::kProducer, .stage_bytes = "tile * head_dim * 2",
                     .align = 1024, .full_arrivals = 1, .transaction_bytes = "tile * head_dim * 2");
PIPELINK_IMPORT_RING(keys, .side = pipelink::kProducer, .stage_bytes = "tile * head_dim * 2", .align = 1024,
                     .full_arrivals = 1, .transaction_bytes = "tile * head_dim * 2");
PIPELINK_IMPORT_RING(values, .side = pipelink::kProducer, .stage_bytes = "tile * head_dim * 2", .align = 1024,
                     .full_arrivals = 1, .transaction_bytes = "tile * head_dim * 2");
PIPELINK_IMPORT_RING(tiles, .side = pipelink::kProducer, .stage_bytes = 16, .full_arrivals = 1);

// As in attention_loader.
PIPELINK_IMPORT(item_at, unsigned, pipelink::Self self, unsigned step, unsigned& row, unsigned& head,
                unsigned& sequence, int& position, unsigned& keys);
PIPELINK_IMPORT(tile_at, unsigned, pipelink::Self self, unsigned row, unsigned head, unsigned sequence,
                int position, unsigned keys, unsigned i, unsigned& kind);

PIPELINK_STEPS(load, .loop =
                         "acquire tiles; arrive tiles; acquire tiles; arrive tiles; acquire keys; arrive "
                         "keys; acquire queries; arrive queries; (acquire tiles; arrive tiles; acquire keys; "
                         "arrive keys; acquire values; arrive values)*; acquire values; arrive values");

static __device__ __forceinline__ void load_box(std::uint32_t to, const pipelink::TensorMap& map,
                                                std::uint32_t full, unsigned row, unsigned half,
                                                unsigned head, unsigned last) {
  asm volatile(
      "cp.async.bulk.tensor.5d.shared::cta.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%3, %4, %5, "
      "%6, %7}], [%2];" ::"r"(to),
      "l"(&map), "r"(full), "r"(0), "r"(row), "r"(half), "r"(head), "r"(last)
      : "memory");
}

PIPELINK_ROLE(load, .warps = 4, .registers = {40, 40})(pipelink::Self self) {
  const Parameters& p = parameters(self);
  const unsigned halves = head_dim(self) / 64, pages = tile(self) / page(self);
  const unsigned warp = __shfl_sync(~0u, load.warp(self), 0), lane = load.thread(self) % 32;
  if (warp >= pages * halves) return;
  const unsigned bytes = tile(self) * head_dim(self) * 2;
  const unsigned box = warp + 4 * lane;
  const unsigned own = box / halves, half = box % halves;  // page of the tile, half of its columns
  const unsigned own_bytes = (half * tile(self) + own * page(self)) * 128;
  pipelink::RingCursor at_query, at_key, at_value, at_tile;
  const auto tell = [&](unsigned a, unsigned b, unsigned c, unsigned d) {
    if (warp == 0 && lane == 0) {
      tiles.acquire(self, at_tile);
      *reinterpret_cast<uint4*>(tiles.data(self, at_tile)) = make_uint4(a, b, c, d);
      pipelink::mbarrier::arrive(tiles.full(self, at_tile));
    }
    at_tile.advance(tiles.stages(self));
  };

  for (unsigned step = 0;; ++step) {
    unsigned row = 0, head = 0, sequence = 0, length = 0;
    int position = 0;
    const unsigned count = item_at(self, step, row, head, sequence, position, length);
    tell(row, head | sequence << 16, count, static_cast<unsigned>(position));
    if (count == ~0u) return;
    const unsigned kv_head = head / p.group;
    const unsigned* table = p.table + static_cast<std::size_t>(sequence) * p.table_stride;
    unsigned before = 0;  // this lane's page of the tile whose values are yet to be loaded
    for (unsigned i = 0; i <= count; ++i) {
      unsigned from = 0;
      if (i < count) {
        unsigned kind = 0;
        const unsigned key = tile_at(self, row, head, sequence, position, length, i, kind);
        // Past the last page with keys, that page once more: the mask drops it.
        from = __ldg(table + min(key / page(self) + min(own, pages - 1), (length - 1) / page(self)));
        tell(key, kind, length, 0);
        keys.acquire(self, at_key);
        if (warp == 0 && lane == 0) pipelink::mbarrier::arrive_expect(keys.full(self, at_key), bytes);
        __syncwarp();
        if (own < pages)
          load_box(keys.address(self, at_key) + own_bytes, p.k, keys.full(self, at_key), 0, half, kv_head,
                   from);
        at_key.advance(keys.stages(self));
      }
      if (i == 0) {
        if (warp == 0 && lane == 0) {
          queries.acquire(self, at_query);
          pipelink::mbarrier::arrive_expect(queries.full(self, at_query), bytes);
          for (unsigned h = 0; h < halves; ++h)
            load_box(queries.address(self, at_query) + h * tile(self) * 128, p.q,
                     queries.full(self, at_query), row, h, head, sequence);
        }
        at_query.advance(queries.stages(self));
      }
      if (i > 0) {
        values.acquire(self, at_value);
        if (warp == 0 && lane == 0) pipelink::mbarrier::arrive_expect(values.full(self, at_value), bytes);
        __syncwarp();
        if (own < pages)
          load_box(values.address(self, at_value) + own_bytes, p.v, values.full(self, at_value), 0, half,
                   kv_head, before);
        at_value.advance(values.stages(self));
      }
      before = from;
    }
  }
}

}  // namespace attention_paged_loader
