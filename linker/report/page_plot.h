// A picture of space that claims take at their times: addresses across, phases down.
#pragma once

#include <functional>

#include "linker/report/page_parts.h"

namespace pipelink::page {

struct PlotItem {
  const MapClaim* claim = nullptr;
  std::string id;    ///< of its row
  std::string kind;  ///< "ring" or "plain"
  std::int64_t offset = 0, size = 0;
  std::string shares;  ///< ids of the claims that have a part of it at other times
  std::int64_t end() const { return offset + size; }
};

/// `capacity` is the width; what lies from `taken` on, `free`, is hatched.
struct Plot {
  std::string id, title;
  std::vector<PlotItem> items;
  std::int64_t capacity = 0, taken = 0, free = 0;
  std::function<std::string(std::int64_t)> brief, exact;  ///< an amount as text
};

Outcome<std::string> draw(const Context& context, const Plot& plot);

}  // namespace pipelink::page
