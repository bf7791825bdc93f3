// A tensor map by value, for parameter structs that host and device share: a CUtensorMap without the
// toolkit's header. It is aligned to the 64 bytes that the hardware asks for; CUDA 13's CUtensorMap is
// aligned to 128.
#pragma once

namespace pipelink {

struct alignas(64) TensorMap {
  unsigned long long opaque[16];
};

static_assert(sizeof(TensorMap) == 128 && alignof(TensorMap) == 64, "what the hardware reads");

}  // namespace pipelink
