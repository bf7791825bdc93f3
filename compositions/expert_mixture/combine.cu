// Scatters the rows of the ring `results` to their tokens, times the router's weight.
#define PIPELINK_COMPONENT combine
#include <pipelink/component.h>

#include "experts.h"

namespace combine {

using mixture::kHidden;

constexpr unsigned kWarps = 4;

PIPELINK_PARAMETERS(combine::Parameters, "experts.h", scale, out);
PIPELINK_USE_FACT(tile_rows, int);
PIPELINK_IMPORT(tile, unsigned, pipelink::Self self, unsigned step, const unsigned*& order);
PIPELINK_RING(results, .side = pipelink::kConsumer, .stages = {2, 4}, .stage_bytes = "tile_rows * 128",
              .align = 128, .full_arrivals = 128, .empty_arrivals = kWarps * 32);
PIPELINK_BUFFER(listed, .bytes = "tile_rows * 8");
PIPELINK_NAMED_BARRIER(all, .threads = kWarps * 32);

struct Row {
  unsigned token;
  float scale;
};

static __device__ __forceinline__ void sync(pipelink::Self self) {
  all.sync(self);
}

PIPELINK_ROLE(scatter, .warps = kWarps, .registers = {24, 64})(pipelink::Self self) {
  const Parameters& p = parameters(self);
  const int thread = scatter.thread(self), threads = kWarps * 32, tile_size = tile_rows(self) * kHidden;
  Row* list = listed.data<Row>(self);
  const unsigned* order = nullptr;
  pipelink::RingCursor at;
  for (unsigned step = 0; const int rows = tile(self, step, order); ++step) {
    for (int row = thread; row < min(rows, tile_rows(self)); row += threads)
      list[row] = {order[row], p.scale[order[row]]};
    sync(self);
    results.wait(self, at);
    const float* from = reinterpret_cast<const float*>(results.data(self, at));
    for (int i = thread; i < tile_size; i += threads) {
      const int row = i / kHidden;
      if (row < rows) p.out[list[row].token * kHidden + i % kHidden] = list[row].scale * from[i];
    }
    results.release(self, at);
    at.advance(results.stages(self));
    sync(self);
  }
}

}  // namespace combine
