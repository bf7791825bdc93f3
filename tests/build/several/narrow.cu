#define PIPELINK_COMPONENT narrow
#include <pipelink/component.h>

#include "output.h"

namespace narrow {

PIPELINK_PARAMETERS(output::Parameters, "output.h", out);
PIPELINK_IMPORT(apply, float, pipelink::Self self, float x);

PIPELINK_ROLE(write, .warps = 4, .registers = {24, 128})(pipelink::Self self) {
  const unsigned i = write.thread(self);
  parameters(self).out[i] = apply(self, static_cast<float>(i));
}

}  // namespace narrow
