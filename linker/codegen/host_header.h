// The host side of a composition as text: launch description, C++ header, C source.
#pragma once

#include <string>
#include <vector>

#include "packager/base/outcome.h"
#include "pipelink/launch_description.h"

namespace pipelink {

/// Launch descriptions of one composition, one per architecture, in the order in which the header lists them.
struct HostHeaderInput {
  std::string composition;
  std::vector<LaunchDescription> images;
};

/// NAME.ARCH.launch; `parse_launch` reads it back. L-HOST if it would not.
Outcome<std::string> launch_text(const LaunchDescription& launch);

/// <pipelink/NAME.h>: Arguments, load, open for C++; pipelink_NAME_load for C. It refers to the symbols that
/// PipeLinkEmbed.cmake defines, and to the providers. L-HOST: the images disagree, or a type is not known.
Outcome<std::string> host_header(const HostHeaderInput& input);

/// NAME.host.cc: defines pipelink_NAME_load and the functions of <pipelink/c_api.h>. Part of the
/// composition's library.
Outcome<std::string> host_source(const HostHeaderInput& input);

}  // namespace pipelink
