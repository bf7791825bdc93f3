#define PIPELINK_COMPONENT extra
#include <pipelink/component.h>

namespace extra {

PIPELINK_ROLE(idle, .warps = 4, .registers = {24, 64})(pipelink::Self self) {
  if (idle.thread(self) == 4096) __trap();
}

}  // namespace extra
