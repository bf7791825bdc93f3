// How a tile is routed, in words: for `--why`, the link map and the page.
#pragma once

#include <string>
#include <vector>

#include "linker/link.h"

namespace pipelink {

/// "8 stores of 32 wavefronts, the least possible", one entry for each part of what the transfer costs.
std::vector<std::string> cost_lines(const transfer::Cost& cost);

/// Everything about one route, several lines: how, what was tried before and why it does not serve, what it
/// claims and where that is, what it costs, its steps.
std::string route_text(const Checked& checked, std::size_t route, bool steps);

}  // namespace pipelink
