// Scores within ±cap: cap · tanh(score · scale / cap).
#define PIPELINK_COMPONENT soft_cap
#include <pipelink/component.h>

namespace soft_cap {

PIPELINK_SETTABLE_REAL(cap, float, .value = 50, .least = 1e-3, .most = 1e6);

PIPELINK_EXPORT(score, void, pipelink::Self self, float (&s)[64], int, int, unsigned, float scale) {
  const float in = scale / cap(self), out = cap(self) / scale;
#pragma unroll
  for (float& x : s) {
    asm("tanh.approx.f32 %0, %1;" : "=f"(x) : "f"(x * in));
    x *= out;
  }
}

}  // namespace soft_cap
