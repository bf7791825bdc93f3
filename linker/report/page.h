// The link map as a page: one HTML file that needs nothing else.
#pragma once

#include <string>

#include "packager/base/outcome.h"

namespace pipelink {

/// A page that is a function of the map alone, for `pipelink inspect FILE.map.json --html OUT`. I-JSON if the
/// text is no link map.
Outcome<std::string> page_of_map(const std::string& json, const std::string& file);

}  // namespace pipelink
