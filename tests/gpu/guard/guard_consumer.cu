// Takes a ring: thread t adds up its word of each stage and twice that of its neighbour, through a buffer and
// a named barrier, and takes turns at mbarriers.
#define PIPELINK_COMPONENT guard_consumer
#include <pipelink/component.h>

#include "planted.h"

namespace guard_consumer {

PIPELINK_PARAMETERS(guard_consumer::Parameters, "planted.h", out, never, steps, block, fault);
PIPELINK_RING(queue, .side = pipelink::kConsumer, .stages = {2, 6}, .stage_bytes = 1024, .align = 128,
              .full_arrivals = 32, .empty_arrivals = 128);
PIPELINK_PHASE(take, .after_previous = "give");
PIPELINK_PHASE(give, .after = "take");
PIPELINK_BUFFER(early, .bytes = 512, .align = 16, .live = "take");
PIPELINK_BUFFER(late, .bytes = 512, .align = 16, .live = "give");
PIPELINK_BUFFER(odd, .bytes = 101, .align = 16);
PIPELINK_BUFFER(aligned, .bytes = 1000, .align = 1024);
PIPELINK_MBARRIERS(turns, .count = 3, .arrivals = 2);
PIPELINK_NAMED_BARRIER(all, .threads = 128);

static __device__ __forceinline__ void overrun(pipelink::Self self, int fault) {
  using namespace planted;
  if (fault == kAfterOdd || fault == kOverrunAndTimeout) odd.data(self)[101] = 0;
  if (fault == kBeforeOdd) odd.data(self)[-1] = 0;
  if (fault == kAfterAligned) aligned.data(self)[1000] = 0;
  if (fault == kBeforeAligned) aligned.data(self)[-1] = 0;
  if (fault == kAfterEarly) early.data(self)[512] = 0;
  if (fault == kAfterMbarriers)
    asm volatile("st.shared.u8 [%0], %1;" ::"r"(turns.address(self, 3)), "r"(0) : "memory");
}

PIPELINK_ROLE(consume, .warps = 4, .registers = {24, 96})(pipelink::Self self) {
  using namespace planted;
  const Parameters& p = parameters(self);
  const int fault = blockIdx.x == p.block ? p.fault : kNone;
  const bool no_turn = fault == kNoTurn || fault == kRawLoop || fault == kOverrunAndTimeout;
  const unsigned thread = consume.thread(self);
  if (thread < 101) odd.data(self)[thread] = 0;
  for (unsigned i = thread; i < 1000; i += 128) aligned.data(self)[i] = 0;
  if (thread == 0) overrun(self, fault);
  pipelink::RingCursor at;
  unsigned sum = 0;
  for (unsigned step = 0; step < p.steps; ++step) {
    queue.wait(self, at);
    const unsigned word = reinterpret_cast<const unsigned*>(queue.data(self, at))[thread];
    early.data<unsigned>(self)[thread] = word;
    if (fault == kNoWarp && step == 3 && thread / 32 == 2) return;
    all.sync(self);
    const unsigned other = early.data<unsigned>(self)[thread ^ 1];
    all.sync(self);
    if (!(thread == 5 && step == 1 && fault == kNoEmpty)) queue.release(self, at);
    at.advance(queue.stages(self));
    late.data<unsigned>(self)[thread] = word + 2 * other;
    if (thread == 0 || (thread == 64 && !(step == 1 && no_turn))) turns.arrive(self, step % 3);
    if (fault == kRawLoop && step == 1 && thread / 32 == 3)
      while (*p.never == 0) {
      }
    turns.wait(self, step % 3, step / 3 & 1);
    sum += late.data<unsigned>(self)[thread];
  }
  p.out[128 * blockIdx.x + thread] = sum;
}

}  // namespace guard_consumer
