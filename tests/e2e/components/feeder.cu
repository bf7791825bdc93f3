// Fills the ring of another component and takes its results.
#define PIPELINK_COMPONENT feeder
#include <pipelink/component.h>

#include "feeder.h"

namespace feeder {

PIPELINK_PARAMETERS(feeder::Parameters, "feeder.h", in, out, steps);
PIPELINK_USE_FACT(stage_rows, int);
PIPELINK_IMPORT_RING(queue, .side = pipelink::kProducer, .stage_bytes = "stage_rows * 64", .align = 128,
                     .full_arrivals = 32, .empty_arrivals = 128);
PIPELINK_REQUIRE(deep, "queue.stages >= 2");

PIPELINK_PHASE(deliver_time);
PIPELINK_BUFFER(staging, .bytes = 2048, .align = 256, .live = "deliver_time");

PIPELINK_EXPORT(next, bool, pipelink::Self self, unsigned step) {
  return step < parameters(self).steps;
}

PIPELINK_EXPORT_IN(deliver, "deliver_time", void, pipelink::Self self, const float* from) {
  const unsigned thread = threadIdx.x % 128;
  staging.data<float>(self)[thread] = from[thread];
  parameters(self).out[blockIdx.x * 128 + thread] = staging.data<float>(self)[thread];
}

PIPELINK_ROLE(feed, .warps = 1, .registers = {24, 64})(pipelink::Self self) {
  pipelink::RingCursor at;
  const Parameters& p = parameters(self);
  for (unsigned step = 0; step < p.steps; ++step) {
    queue.acquire(self, at);
    float* stage = reinterpret_cast<float*>(queue.data(self, at));
    for (unsigned i = feed.thread(self); i < stage_rows(self) * 16; i += 32) stage[i] = p.in[step * 256 + i];
    pipelink::mbarrier::arrive(queue.full(self, at));
    at.advance(queue.stages(self));
  }
}

}  // namespace feeder
