#define PIPELINK_COMPONENT scale
#include <pipelink/component.h>

namespace scale {

PIPELINK_FACT(factor, int, 3);
PIPELINK_SETTABLE_FACT(bias, int, .value = 1, .domain = {1, 2, 4});

PIPELINK_EXPORT(apply, float, pipelink::Self self, float x) {
  return x * factor + bias(self);
}

}  // namespace scale
