// Two roles written with kittens' names: one fills a stage of a ring's kind by hand, the other reverses it.
#define PIPELINK_COMPONENT reversed
#include <pipelink/component.h>

#include <kittens.cuh>

#include <pipelink/thunderkittens.h>

namespace reversed {

struct Parameters {
  const float* in;
  float* out;
};
PIPELINK_PARAMETERS(reversed::Parameters, "reversed.h", in, out);

struct Tile {
  float values[128];
};
PIPELINK_BUFFER(tiles, .bytes = pipelink::tk::bytes_of<Tile, Tile[2]>, .align = 1024);
PIPELINK_NAMED_BARRIER(both, .threads = 128);
PIPELINK_NAMED_BARRIER(again, .threads = 128);
PIPELINK_MBARRIERS(filled, .count = 2, .arrivals = 4);

PIPELINK_ROLE(fill, .warps = 4, .registers = {24, 64})(pipelink::Self self) {
  auto allocator = pipelink::tk::allocator(tiles, self);
  allocator.allocate<Tile>();
  auto& halves = allocator.allocate<Tile, 2>();
  const int thread = kittens::warpgroup::laneid();
  for (int i = 0; i < 2; ++i) {
    halves[i].values[thread] = parameters(self).in[128 * i + thread];
    kittens::warpgroup::arrive(pipelink::tk::semaphore(filled, self, i));
  }
}

PIPELINK_ROLE(reverse, .warps = 4, .registers = {24, 64})(pipelink::Self self) {
  auto allocator = pipelink::tk::allocator(tiles, self);
  auto& sum = allocator.allocate<Tile>();
  auto& halves = allocator.allocate<Tile, 2>();
  const int thread = kittens::warpgroup::laneid();
  for (int i = 0; i < 2; ++i) kittens::warpgroup::wait(pipelink::tk::semaphore(filled, self, i), 0);
  sum.values[thread] = halves[0].values[thread] + halves[1].values[thread];
  both.sync(self);
  const float other = sum.values[127 - thread];
  again.sync(self);
  parameters(self).out[thread] = other;
}

}  // namespace reversed
