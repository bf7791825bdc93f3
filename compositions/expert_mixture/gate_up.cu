// The first product: silu(x · gate) · (x · up), handed on in chunks of columns through the ring `hidden`.
#define PIPELINK_COMPONENT gate_up
#include <pipelink/component.h>

#include "experts.h"

namespace gate_up {

using mixture::kHidden;
using mixture::kInner;

constexpr unsigned kArrivals = 128;  // at a full stage of `hidden`: all threads, or with 4 one of each warp
constexpr unsigned kPitch = 32;      // floats from one row of staged weights to the next

PIPELINK_PARAMETERS(gate_up::Parameters, "experts.h", weights);
PIPELINK_FACT(columns, int, 32);  // of a stage of `hidden`: one for each lane
PIPELINK_USE_FACT(tile_rows, int);
PIPELINK_IMPORT(tile, unsigned, pipelink::Self self, unsigned step, const unsigned*& order);
PIPELINK_RING(tokens, .side = pipelink::kConsumer, .stages = {2, 4}, .stage_bytes = "tile_rows * 128",
              .align = 128, .full_arrivals = 128, .empty_arrivals = 128);
PIPELINK_IMPORT_RING(hidden, .side = pipelink::kProducer, .stage_bytes = "tile_rows * columns * 4",
                     .full_arrivals = kArrivals);
PIPELINK_BUFFER(staged, .bytes = 2 * kInner * kPitch * 4);
PIPELINK_NAMED_BARRIER(all, .threads = 128);

PIPELINK_ROLE(project, .warps = 4, .registers = {24, 128})(pipelink::Self self) {
  const unsigned thread = project.thread(self), warp = thread / 32, lane = thread % 32;
  const unsigned* order = nullptr;
  if (tile(self, 0, order) == 0) return;
  const float* from = parameters(self).weights + blockIdx.x * 2 * kInner * kHidden;
  float* weights = staged.data<float>(self);
  for (unsigned i = thread; i < 2 * kInner * kHidden; i += 128)
    weights[i / kHidden * kPitch + i % kHidden] = from[i];
  all.sync(self);

  pipelink::RingCursor in, out;
  for (unsigned step = 0; tile(self, step, order) != 0; ++step) {
    tokens.wait(self, in);
    const float* x = reinterpret_cast<const float*>(tokens.data(self, in));
    for (unsigned column = lane; column < kInner; column += columns) {
      hidden.acquire(self, out);
      float* to = reinterpret_cast<float*>(hidden.data(self, out));
      const float *gate = weights + column * kPitch, *up = gate + kInner * kPitch;
      for (int row = warp; row < tile_rows(self); row += 4) {
        float g = 0, u = 0;
        for (unsigned k = 0; k < kHidden; ++k) {
          g = fmaf(x[row * kHidden + k], gate[k], g);
          u = fmaf(x[row * kHidden + k], up[k], u);
        }
        to[row * columns + lane] = u * g / (1.0f + __expf(-g));
      }
      __syncwarp();
      if (thread % (128 / kArrivals) == 0) pipelink::mbarrier::arrive(hidden.full(self, out));
      out.advance(hidden.stages(self));
    }
    tokens.release(self, in);
    in.advance(tokens.stages(self));
  }
}

}  // namespace gate_up
