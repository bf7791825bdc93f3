#define PIPELINK_COMPONENT extra
#include <pipelink/component.h>

namespace extra {

PIPELINK_BUFFER(marks, .bytes = 384);

PIPELINK_ROLE(mark, .warps = 12, .registers = {24, 64})(pipelink::Self self) {
  const unsigned i = mark.thread(self);
  static_cast<volatile unsigned char*>(marks.data(self))[i] = 1;
}

}  // namespace extra
