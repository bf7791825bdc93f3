// Used twice in one kernel: each instance calls an export of its own, and reads placements of its own.
#define PIPELINK_COMPONENT relay
#include <pipelink/component.h>

#include "exchange.h"
#include "relay.h"

namespace relay {

PIPELINK_PARAMETERS(relay::Parameters, "relay.h", out, count);
PIPELINK_HOST(relay::Arguments, "relay.h");

PIPELINK_FACT(rows, int, 4);
#ifdef WIDTH  // the same component with a constant in place of the settable fact
PIPELINK_FACT(width_fixed, int, WIDTH);
static __device__ __forceinline__ int width(pipelink::Self) {
  return WIDTH;
}
#define WIDTH_EXPRESSION "width_fixed"
#else
PIPELINK_SETTABLE_FACT(width, int, .value = 2, .domain = {1, 2, 4});
#define WIDTH_EXPRESSION "width"
#endif
PIPELINK_USE_FACT(scale, int);
PIPELINK_USE_FACT_OR(bias, int, 3);
PIPELINK_REQUIRE(fits, "rows * " WIDTH_EXPRESSION " <= 64 && scale > 0");

PIPELINK_BUFFER(scratch, .bytes = "rows * " WIDTH_EXPRESSION " * 128", .align = 128);
PIPELINK_MBARRIERS(turns, .count = 2, .arrivals = WIDTH_EXPRESSION);
PIPELINK_NAMED_BARRIER(all, .threads = 32);

PIPELINK_IMPORT(transform, float2, pipelink::Self self, const exchange::Wide& wide, exchange::Sample& last,
                const exchange::Wide* history, float4 weights, bool negate);

PIPELINK_STEPS(run, .loop = "call transform; sync all; arrive turns; wait turns; sync all");

template <int kWidth>
static __device__ __forceinline__ float body(pipelink::Self self, float x) {
  exchange::Wide wide{};
#pragma unroll
  for (int i = 0; i < kWidth; ++i) wide.lanes[i] = x * static_cast<float>(i + 1);
  exchange::Wide history{};
  history.stamp = threadIdx.x;
  exchange::Sample last{x, kWidth};
  const float2 got = transform(self, wide, last, &history, make_float4(x, 1.0f, x, 2.0f), x < 0);
  return got.x + last.value + got.y + static_cast<float>(last.tag);
}

PIPELINK_ROLE(run, .warps = 1, .registers = {24, 128})(pipelink::Self self) {
  const Parameters& p = parameters(self);
  const unsigned lane = run.thread(self);
  for (unsigned i = lane; i < p.count; i += 32) {
    float x = p.out[i] * static_cast<float>(scale(self)) + static_cast<float>(bias(self));
    switch (width(self)) {
      case 1:
        x = body<1>(self, x);
        break;
      case 2:
        x = body<2>(self, x);
        break;
      default:
        x = body<4>(self, x);
        break;
    }
    scratch.data<float>(self)[lane] = x;
    all.sync(self);
    if (lane < width(self)) turns.arrive(self, 0);
    turns.wait(self, 0, (i / 32) & 1);
    p.out[i] = scratch.data<float>(self)[31 - lane];
    all.sync(self);
  }
}

}  // namespace relay
