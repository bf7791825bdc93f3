// What nvcc leaves behind: a fatbin file, or a host object whose section __nv_relfatbin holds one.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "packager/capture/fatbin.h"

namespace pipelink {

/// By content, not by extension. I-FILE, I-OBJECT.
Outcome<std::vector<FatbinEntry>> read_object(const std::string& path);

/// As read_object, for bytes at hand.
Outcome<std::vector<FatbinEntry>> parse_object(std::string_view bytes, std::string_view name);

}  // namespace pipelink
