// Fills a ring: word i of step s is 1000 * s + i.
#define PIPELINK_COMPONENT guard_producer
#include <pipelink/component.h>

#include "planted.h"

namespace guard_producer {

PIPELINK_PARAMETERS(guard_producer::Parameters, "planted.h", steps, block, fault);
PIPELINK_IMPORT_RING(queue, .side = pipelink::kProducer, .stage_bytes = 1024, .align = 128,
                     .full_arrivals = 32, .empty_arrivals = 128);

PIPELINK_ROLE(produce, .warps = 1, .registers = {24, 64})(pipelink::Self self) {
  const Parameters& p = parameters(self);
  const int fault = blockIdx.x == p.block ? p.fault : planted::kNone;
  const unsigned lane = produce.thread(self);
  pipelink::RingCursor at;
  for (unsigned step = 0; step < p.steps; ++step) {
    queue.acquire(self, at);
    unsigned char* stage = queue.data(self, at);
    for (unsigned i = lane; i < 256; i += 32) reinterpret_cast<unsigned*>(stage)[i] = 1000 * step + i;
    if (lane == 31 && step == 1 && fault == planted::kAfterStages) stage[1024] = 0;  // two stages: the last
    if (lane == 0 && step == 0 && fault == planted::kBeforeStages) stage[-1] = 0;
    if (!(lane == 7 && step == 2 && fault == planted::kNoFull))
      pipelink::mbarrier::arrive(queue.full(self, at));
    at.advance(queue.stages(self));
  }
}

}  // namespace guard_producer
