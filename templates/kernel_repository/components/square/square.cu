#define PIPELINK_COMPONENT square
#include <pipelink/component.h>

namespace square {

PIPELINK_EXPORT(apply, float, pipelink::Self self, float x) {
  return x * x;
}

}  // namespace square
