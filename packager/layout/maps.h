// Maps by name: the fragments of matrix instructions, the shapes of copy instructions and tiles in shared
// memory, usable wherever a layout's text is. The definitions are those of the PTX ISA.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "packager/layout/layout.h"

namespace pipelink::layout {

struct NamedMap {
  std::string_view name;
  std::string_view arguments;  ///< "m, n, warps_m = 1"
  std::string_view gives;      ///< the two sides: "(thread, value) → element of m x n"
  std::string_view summary;    ///< one sentence
  std::string_view example;    ///< a call with numbers
  std::size_t least, most;     ///< number of arguments
  Result<Layout> (*make)(std::span<const std::int64_t> arguments);
};

/// All maps, in the order in which the documentation lists them.
std::span<const NamedMap> named_maps();

/// nullptr if there is none of that name.
const NamedMap* find_map(std::string_view name);

}  // namespace pipelink::layout
