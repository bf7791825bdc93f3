// What a map says of a tile: who holds which element, and how often.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "packager/layout/layout.h"

namespace pipelink::layout {

/// Empty if every index of 0…tile_size-1 is held by exactly `replicas` (thread, value) pairs; else what is
/// wrong, e.g. "tile element 5 is held twice, by thread 0 value 1 and thread 4 value 0". For a layout of two
/// modes.
std::string cover_fault(const Layout& layout, std::int64_t tile_size, std::int64_t replicas = 1);

/// Empty if no two coordinates have one index; for a tile of elements in memory, where gaps may be. Says e.g.
/// "(1, 0) and (0, 4) are both at 8".
std::string injective_fault(const Layout& layout);

/// The permutation p with a(t, v) == b(t, p[v]) for all threads and values, if the two hold the same elements
/// in each thread in one common order; nullopt otherwise.
std::optional<std::vector<std::int64_t>> value_permutation(const Layout& a, const Layout& b);

}  // namespace pipelink::layout
