// The texts of templates/, embedded by embed.cmake.
#pragma once

#include <string_view>

namespace pipelink {

/// `name` is the file's name without ".mustache". Empty if there is none.
std::string_view template_text(std::string_view name);

}  // namespace pipelink
