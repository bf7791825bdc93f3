// Gathers the tokens of the block's expert, tile by tile, into the ring `tokens`.
#define PIPELINK_COMPONENT dispatch
#include <pipelink/component.h>

#include "experts.h"

namespace dispatch {

PIPELINK_PARAMETERS(dispatch::Parameters, "experts.h", tokens, order, first, experts);

PIPELINK_FACT(tile_rows, int, 64);
PIPELINK_IMPORT_RING(tokens, .side = pipelink::kProducer, .stage_bytes = tile_rows * mixture::kRowBytes,
                     .full_arrivals = 128);

static __device__ __forceinline__ unsigned find(const Parameters& p, unsigned step, const unsigned*& order) {
  if (blockIdx.x >= p.experts) return 0;
  const unsigned begin = p.first[blockIdx.x] + step * tile_rows, end = p.first[blockIdx.x + 1];
  order = p.order + begin;
  return begin < end ? min(end - begin, tile_rows) : 0;
}

/// The tokens of the block's `step`-th tile. Returns how many there are; 0: there is no such tile.
PIPELINK_EXPORT(tile, unsigned, pipelink::Self self, unsigned step, const unsigned*& order) {
  return find(parameters(self), step, order);
}

PIPELINK_ROLE(gather, .warps = 4, .registers = {24, 64})(pipelink::Self self) {
  constexpr unsigned kVectors = mixture::kHidden / 4;
  const Parameters& p = parameters(self);
  const float4* from = reinterpret_cast<const float4*>(p.tokens);
  const unsigned* order = nullptr;
  pipelink::RingCursor at;
  for (unsigned step = 0; const unsigned rows = find(p, step, order); ++step) {
    tokens.acquire(self, at);
    float4* to = reinterpret_cast<float4*>(tokens.data(self, at));
    for (unsigned i = gather.thread(self); i < tile_rows * kVectors; i += 128) {
      const unsigned row = i / kVectors;
      to[i] = row < rows ? from[order[row] * kVectors + i % kVectors] : float4{};
    }
    pipelink::mbarrier::arrive(tokens.full(self, at));
    at.advance(tokens.stages(self));
  }
}

}  // namespace dispatch
