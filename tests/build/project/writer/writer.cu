#define PIPELINK_COMPONENT writer
#include <pipelink/component.h>

#include "writer.h"

namespace writer {

PIPELINK_USE_FACT(factor, int);
PIPELINK_PARAMETERS(writer::Parameters, "writer.h", out);
PIPELINK_HOST(writer::Arguments, "writer.h");
PIPELINK_IMPORT(apply, float, pipelink::Self self, float x);

PIPELINK_ROLE(write, .warps = 4, .registers = {24, 128})(pipelink::Self self) {
  const unsigned i = write.thread(self);
  parameters(self).out[i] = apply(self, static_cast<float>(i)) / factor(self);
}

}  // namespace writer
