#define PIPELINK_COMPONENT fill
#include <pipelink/component.h>

#include "fill.h"

namespace fill {

PIPELINK_PARAMETERS(fill::Parameters, "fill.h", out);
PIPELINK_IMPORT(apply, float, pipelink::Self self, float x);

PIPELINK_ROLE(run, .warps = 4, .registers = {24, 64})(pipelink::Self self) {
  const unsigned i = 128 * blockIdx.x + run.thread(self);
  parameters(self).out[i] = apply(self, static_cast<float>(i));
}

}  // namespace fill
