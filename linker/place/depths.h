// How deep each ring becomes, and whether that was the best possible.
#pragma once

#include <vector>

#include "linker/place/items.h"
#include "linker/place/meter.h"
#include "linker/place/pack.h"
#include "linker/place/problem.h"

namespace pipelink::place {

/// One ring one stage deeper. The steps are taken in this order, each if everything still fits; as less
/// always fits if more does, the result is the best in the order of the steps.
struct Step {
  int ring = 0;   ///< index in the canonical problem
  int depth = 0;  ///< the depth that it leads to
};

std::vector<Step> steps_of(const Problem& canonical);

/// Shared memory for given depths, in the order of the canonical problem's buffers.
std::vector<std::int64_t> buffer_bytes(const Problem& canonical, const std::vector<int>& depths);
Items shared_items(const Problem& canonical, const Conflicts& conflicts, const std::vector<int>& depths);

struct Depths {
  Answer answer = Answer::kUnknown;  ///< of the least depths
  std::vector<int> depths;
  bool proven = true;      ///< every step was decided
  std::vector<int> bound;  ///< of each ring by itself, depths that were not excluded
  Offsets offset;          ///< a placement at `depths`, with kYes; in units of shared_items
};

Depths choose_depths(const Problem& canonical, const Conflicts& conflicts, Meter& meter);

}  // namespace pipelink::place
