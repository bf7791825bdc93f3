// The second product, summed over the chunks of the ring `hidden` into a stage of the ring `results`.
#define PIPELINK_COMPONENT down
#include <pipelink/component.h>

#include "experts.h"

namespace down {

using mixture::kHidden;
using mixture::kInner;

PIPELINK_PARAMETERS(down::Parameters, "experts.h", weights);
PIPELINK_FACT(chunk, int, 32);
PIPELINK_USE_FACT(tile_rows, int);
PIPELINK_IMPORT(tile, unsigned, pipelink::Self self, unsigned step, const unsigned*& order);
PIPELINK_RING(hidden, .side = pipelink::kConsumer, .stages = {2, 4}, .stage_bytes = "tile_rows * chunk * 4",
              .align = 128, .full_arrivals = 128, .empty_arrivals = 128);
PIPELINK_IMPORT_RING(results, .side = pipelink::kProducer, .stage_bytes = "tile_rows * 128",
                     .full_arrivals = 128);
PIPELINK_BUFFER(staged, .bytes = kInner * kHidden * 4);
PIPELINK_NAMED_BARRIER(all, .threads = 128);

PIPELINK_ROLE(project, .warps = 4, .registers = {24, 128})(pipelink::Self self) {
  const unsigned thread = project.thread(self), warp = thread / 32, lane = thread % 32;
  const unsigned* order = nullptr;
  if (tile(self, 0, order) == 0) return;
  const float* from = parameters(self).weights + blockIdx.x * kHidden * kInner;
  float* weights = staged.data<float>(self);  // transposed: [kInner, kHidden]
  for (unsigned i = thread; i < kHidden * kInner; i += 128)
    weights[i % kInner * kHidden + i / kInner] = from[i];
  all.sync(self);

  pipelink::RingCursor in, out;
  for (unsigned step = 0; tile(self, step, order) != 0; ++step) {
    results.acquire(self, out);
    float* to = reinterpret_cast<float*>(results.data(self, out));
    for (int k0 = 0; k0 < static_cast<int>(kInner); k0 += chunk) {
      hidden.wait(self, in);
      const float* h = reinterpret_cast<const float*>(hidden.data(self, in));
      for (int row = warp; row < tile_rows(self); row += 4) {
        float sum = k0 == 0 ? 0 : to[row * kHidden + lane];
        for (int k = 0; k < chunk; ++k)
          sum = fmaf(h[row * chunk + k], weights[(k0 + k) * kHidden + lane], sum);
        to[row * kHidden + lane] = sum;
      }
      hidden.release(self, in);
      in.advance(hidden.stages(self));
    }
    pipelink::mbarrier::arrive(results.full(self, out));
    out.advance(results.stages(self));
  }
}

}  // namespace down
