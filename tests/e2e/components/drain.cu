// Owns a ring and consumes it. The copy it keeps and the room for results are never live together.
#define PIPELINK_COMPONENT drain
#include <pipelink/component.h>

namespace drain {

PIPELINK_FACT(stage_rows, int, 16);
PIPELINK_RING(queue, .side = pipelink::kConsumer, .stages = {2, 4}, .stage_bytes = "stage_rows * 64",
              .align = 128, .full_arrivals = 32, .empty_arrivals = 128, .tier = 0, .weight = 1);
PIPELINK_FACT(slots, int, 2);

PIPELINK_PHASE(take, .after_previous = "give");
PIPELINK_PHASE(give, .after = "take");
PIPELINK_BUFFER(kept, .bytes = 6144, .align = 256, .live = "take");
PIPELINK_BUFFER(results, .bytes = 4096, .align = 256, .live = "give");
PIPELINK_NAMED_BARRIER(taken, .threads = 128, .live = "take");
PIPELINK_NAMED_BARRIER(given, .threads = 128, .live = "give");

PIPELINK_IMPORT(next, bool, pipelink::Self self, unsigned step);
PIPELINK_IMPORT_IN(deliver, "give", void, pipelink::Self self, const float* from);

PIPELINK_ROLE(consume, .warps = 4, .registers = {32, 96})(pipelink::Self self) {
  pipelink::RingCursor at;
  const unsigned thread = consume.thread(self);
  for (unsigned step = 0; next(self, step); ++step) {
    queue.wait(self, at);
    const float* stage = reinterpret_cast<const float*>(queue.data(self, at));
    kept.data<float>(self)[thread] = stage[thread];
    taken.sync(self);
    const float x = kept.data<float>(self)[thread ^ 1] * static_cast<float>(slots);
    taken.sync(self);
    queue.release(self, at);
    at.advance(queue.stages(self));
    results.data<float>(self)[thread] = x;
    given.sync(self);
    deliver(self, results.data<float>(self));
    given.sync(self);
  }
}

}  // namespace drain
