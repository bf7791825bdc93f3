// Two exports of one signature, whose types only its own headers define.
#define PIPELINK_COMPONENT taps
#include <pipelink/component.h>

#include "exchange.h"

namespace taps {

PIPELINK_FACT(scale, int, 3);

PIPELINK_EXPORT(first, float2, pipelink::Self self, const exchange::Wide& wide, exchange::Sample& last,
                const exchange::Wide* history, float4 weights, bool negate) {
  float sum = 0;
#pragma unroll
  for (float lane : wide.lanes) sum += lane * weights.x;
  last = {sum * 0.5f, last.tag + 1};
  return make_float2(negate ? -sum : sum, static_cast<float>(history->stamp));
}

PIPELINK_EXPORT(second, float2, pipelink::Self self, const exchange::Wide& wide, exchange::Sample& last,
                const exchange::Wide* history, float4 weights, bool negate) {
  float product = 1;
#pragma unroll
  for (float lane : wide.lanes) product *= lane + weights.y;
  last = {product - 2.0f, last.tag ^ static_cast<unsigned>(history->stamp)};
  return make_float2(product, negate ? weights.w : weights.z);
}

}  // namespace taps
