// Blanks of PTX text. A NUL is one: the text in a fatbin is padded with them.
#pragma once

#include <string_view>

namespace pipelink {

inline bool is_ptx_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0';
}

inline std::string_view trim_ptx(std::string_view text) {
  while (!text.empty() && is_ptx_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_ptx_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace pipelink
