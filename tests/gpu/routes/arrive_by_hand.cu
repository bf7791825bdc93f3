// A word goes from each thread of one role to a thread of another, by hand, as a producer and its consumer do
// it with two hardware barriers: each side arrives at the one and waits at the other. It is right; what
// racecheck says of it is what it understands of such barriers.
#define PIPELINK_COMPONENT arrive_by_hand
#include <pipelink/component.h>

#include "staging.h"

namespace arrive_by_hand {

PIPELINK_PARAMETERS(staging::Parameters, "staging.h", in, out, turns);
PIPELINK_BUFFER(words, .bytes = 512, .align = 16);
PIPELINK_NAMED_BARRIER(full, .threads = 256);
PIPELINK_NAMED_BARRIER(empty, .threads = 256);
PIPELINK_STEPS(give, .once = "(sync empty; arrive full)*");
PIPELINK_STEPS(take, .once = "(arrive empty; sync full)*");

PIPELINK_ROLE(give, .warps = 4, .registers = {24, 64})(pipelink::Self self) {
  const unsigned thread = give.thread(self), at = words.address(self) + 4 * thread;
  for (unsigned turn = 0; turn < parameters(self).turns; ++turn) {
    empty.sync(self);
    asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(thread * 7 + turn) : "memory");
    full.arrive(self);
  }
}

PIPELINK_ROLE(take, .warps = 4, .registers = {24, 64})(pipelink::Self self) {
  const unsigned thread = take.thread(self), at = words.address(self) + 4 * (127 - thread);
  unsigned sum = 0;
  for (unsigned turn = 0; turn < parameters(self).turns; ++turn) {
    empty.arrive(self);
    full.sync(self);
    unsigned word = 0;
    asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
    sum = sum * 3 + word;
  }
  parameters(self).out[blockIdx.x * 128 + thread] = sum;
}

}  // namespace arrive_by_hand
