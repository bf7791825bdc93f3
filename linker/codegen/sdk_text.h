// SDK text that goes into the glue, embedded from packager/sdk so that there is one definition.
#pragma once

#include <string_view>

namespace pipelink {

/// pipelink/self.h without its include guard.
std::string_view self_header_text();

}  // namespace pipelink
