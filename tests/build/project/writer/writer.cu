#define PIPELINK_COMPONENT writer
#include <pipelink/component.h>

#include "writer.h"

namespace writer {

PIPELINK_USE_FACT(factor, int);
PIPELINK_PARAMETERS(writer::Parameters, "writer.h", out);
PIPELINK_HOST(writer::Arguments, "writer.h");
PIPELINK_IMPORT(apply, float, pipelink::Self self, float x);
PIPELINK_BUFFER(values, .bytes = 384 * 4);

PIPELINK_ROLE(write, .warps = 12, .registers = {24, 128})(pipelink::Self self) {
  const unsigned i = write.thread(self);
  volatile float* value = values.data<float>(self) + i;
  *value = apply(self, static_cast<float>(i));
  parameters(self).out[i] = *value / factor(self);
}

}  // namespace writer
