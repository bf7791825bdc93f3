// Holds a tile of 64 × 64 elements in the registers of a warpgroup as LAYOUT says, and hands it on.
// -DPIPELINK_COMPONENT=… -DVALUE=<C++ type> -DELEMENT=… -DLAYOUT=… -DVALUES=<of a thread> -DWARPS=…
// -DROLES: to another role.
#include <pipelink/component.h>

#include "routes.h"

namespace PIPELINK_COMPONENT {

PIPELINK_PARAMETERS(routes::Parameters, "routes.h", in, held, out, tiles);

#ifdef ROLES
PIPELINK_IMPORT(put, void, pipelink::Self self, const VALUE (&tile)[VALUES]);
PIPELINK_EXPORT_TENSOR(tile, .element = ELEMENT, .tile = {64, 64}, .layout = LAYOUT, .via = "put");
#else
/// The tile, its number, and where its elements are to go.
PIPELINK_IMPORT(take, void, pipelink::Self self, const VALUE (&tile)[VALUES], unsigned number,
                unsigned char* out);
PIPELINK_EXPORT_TENSOR(tile, .element = ELEMENT, .tile = {64, 64}, .layout = LAYOUT, .via = "take",
                       .parameter = 0);
#endif

PIPELINK_ROLE(hold, .warps = WARPS, .registers = {24, 240})(pipelink::Self self) {
  const routes::Parameters& p = parameters(self);
  const unsigned thread = hold.thread(self) % 128, group = hold.thread(self) / 128;
  for (unsigned t = blockIdx.x * (WARPS / 4) + group; t < p.tiles; t += gridDim.x * (WARPS / 4)) {
    VALUE tile[VALUES];
    const VALUE* from = reinterpret_cast<const VALUE*>(p.in) + t * 4096ull;
#pragma unroll
    for (int v = 0; v < VALUES; ++v) tile[v] = from[p.held[thread * VALUES + v]];
#ifdef ROLES
    put(self, tile);
#else
    take(self, tile, t, p.out);
#endif
  }
}

}  // namespace PIPELINK_COMPONENT
