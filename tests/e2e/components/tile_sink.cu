// Multiplies each element of a tile by a factor of its place. With REVERSED it wants a thread's values in
// another order, and says so in its layout; the arithmetic is the same for each element.
#define PIPELINK_COMPONENT tile_sink
#include <pipelink/component.h>

namespace tile_sink {

#ifdef REVERSED  // value v of thread t is element 8t + (v's bits reversed)
#define LAYOUT "(128,(2,2,2)):(8,(4,2,1))"
static __device__ constexpr int element(int v) {
  return (v & 1) * 4 + (v & 2) + (v & 4) / 4;
}
#else
#define LAYOUT "(128,(4,2)):(8,(1,4))"
static __device__ constexpr int element(int v) {
  return v;
}
#endif

PIPELINK_IMPORT_TENSOR(tile, .element = "f32", .tile = {16, 64}, .space = "registers", .scope = "warpgroup",
                       .layout = LAYOUT, .via = "consume", .parameter = 1);

PIPELINK_EXPORT(consume, unsigned, pipelink::Self self, unsigned row, float (&tile)[8]) {
#pragma unroll
  for (int v = 0; v < 8; ++v) tile[v] *= static_cast<float>(element(v) * 3 + 1);
  return row + 1;
}

}  // namespace tile_sink
