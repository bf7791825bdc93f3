// The four owners in one kernel as it is done by hand: what PipeLink would generate, with the numbers that
// somebody chose when the owners were as they are in this folder. The vendor's linker joins it with the same
// objects by symbol.
#include <pipelink/self.h>

#include "experts.h"

using pipelink::Self;

namespace {

constexpr unsigned kTileRows = 64, kStages = 2, kStageBytes = kTileRows * mixture::kRowBytes;

// Shared memory.
constexpr unsigned kTokens = 0;
constexpr unsigned kHidden = kTokens + kStages * kStageBytes;
constexpr unsigned kResults = kHidden + kStages * kStageBytes;
constexpr unsigned kGateUp = kResults + kStages * kStageBytes;                    // gate_up's weights
constexpr unsigned kDown = kGateUp + 2 * mixture::kInner * mixture::kHidden * 4;  // down's weights
constexpr unsigned kListed = kDown + mixture::kInner * mixture::kHidden * 4;      // combine's list
constexpr unsigned kBarriers = kListed + kTileRows * 8;                           // three rings' mbarriers
constexpr unsigned kSharedBytes = kBarriers + 3 * 2 * kStages * 8;

// Warps: four for each owner.
constexpr unsigned kGather = 0, kGateUpProject = 4, kDownProject = 8, kScatter = 12, kThreads = 512;

struct Parameters {
  dispatch::Parameters dispatch;
  gate_up::Parameters gate_up;
  down::Parameters down;
  combine::Parameters combine;
};

}  // namespace

__shared__ __align__(128) unsigned char shared[kSharedBytes];

#define WARP(role, first)                                       \
  extern "C" __device__ unsigned pl__##role##__warp(unsigned) { \
    return first;                                               \
  }                                                             \
  extern "C" __device__ void pl__##role(Self)
#define RING(ring, offset, number)                                     \
  extern "C" __device__ unsigned char* pl__##ring##__data(unsigned) {  \
    return shared + offset;                                            \
  }                                                                    \
  extern "C" __device__ unsigned char* pl__##ring##__full(unsigned) {  \
    return shared + kBarriers + number * 2 * kStages * 8;              \
  }                                                                    \
  extern "C" __device__ unsigned char* pl__##ring##__empty(unsigned) { \
    return shared + kBarriers + (number * 2 + 1) * kStages * 8;        \
  }                                                                    \
  extern "C" __device__ unsigned pl__##ring##__stages(unsigned) {      \
    return kStages;                                                    \
  }                                                                    \
  extern "C" __device__ unsigned pl__##ring##__stage_bytes(unsigned) { \
    return kStageBytes;                                                \
  }
#define BUFFER(buffer, offset)                                  \
  extern "C" __device__ unsigned char* pl__##buffer(unsigned) { \
    return shared + offset;                                     \
  }
#define BARRIER(barrier, id)                               \
  extern "C" __device__ unsigned pl__##barrier(unsigned) { \
    return id;                                             \
  }
#define PARAMETERS(owner)                                                           \
  extern "C" __device__ const unsigned char* pl__##owner##__parameters(Self self) { \
    return self.parameters + offsetof(Parameters, owner);                           \
  }
#define TILES(owner)                                                                   \
  extern "C" __device__ int pl__##owner##__fact__tile_rows(unsigned) {                 \
    return kTileRows;                                                                  \
  }                                                                                    \
  extern "C" __device__ unsigned pl__##owner##__import__tile(Self self, unsigned step, \
                                                             const unsigned*& order) { \
    return pl__dispatch__export__tile(self, step, order);                              \
  }

WARP(dispatch__role__gather, kGather);
WARP(gate_up__role__project, kGateUpProject);
WARP(down__role__project, kDownProject);
WARP(combine__role__scatter, kScatter);
RING(dispatch__ring__tokens, kTokens, 0)
RING(gate_up__ring__tokens, kTokens, 0)
RING(gate_up__ring__hidden, kHidden, 1)
RING(down__ring__hidden, kHidden, 1)
RING(down__ring__results, kResults, 2)
RING(combine__ring__results, kResults, 2)
BUFFER(gate_up__buffer__staged, kGateUp)
BUFFER(down__buffer__staged, kDown)
BUFFER(combine__buffer__listed, kListed)
BARRIER(gate_up__barrier__all, 1)
BARRIER(down__barrier__all, 2)
BARRIER(combine__barrier__all, 3)
PARAMETERS(dispatch)
PARAMETERS(gate_up)
PARAMETERS(down)
PARAMETERS(combine)
extern "C" __device__ unsigned pl__dispatch__export__tile(Self self, unsigned step, const unsigned*& order);
TILES(gate_up)
TILES(down)
TILES(combine)
extern "C" __device__ bool pl__guard__wait(unsigned, unsigned) {
  return false;
}
extern "C" __device__ bool pl__guard__barrier(unsigned, unsigned, bool) {
  return false;
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    expert_mixture(const __grid_constant__ Parameters parameters) {
  if (threadIdx.x == 0) {
    for (unsigned i = 0; i < 3 * 2 * kStages; ++i)
      asm volatile("mbarrier.init.shared::cta.b64 [%0], 128;" ::"r"(
                       static_cast<unsigned>(__cvta_generic_to_shared(shared + kBarriers + 8 * i)))
                   : "memory");
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  }
  __syncthreads();
  const Self self{0, reinterpret_cast<const unsigned char*>(&parameters)};
  const unsigned warp = threadIdx.x / 32;
  if (warp < kGateUpProject)
    pl__dispatch__role__gather(self);
  else if (warp < kDownProject)
    pl__gate_up__role__project(self);
  else if (warp < kScatter)
    pl__down__role__project(self);
  else
    pl__combine__role__scatter(self);
}
