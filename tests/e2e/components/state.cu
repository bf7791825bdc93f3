// Keeps a counter in static device memory, which all its instances would share.
#define PIPELINK_COMPONENT state
#include <pipelink/component.h>

namespace state {

static __device__ unsigned calls;

PIPELINK_ROLE(count, .warps = 1, .registers = {24, 64})(pipelink::Self self) {
  if (count.thread(self) == 0) atomicAdd(&calls, 1u);
}

}  // namespace state
