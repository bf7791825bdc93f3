// Blanks of PTX text, and lines that are none of its code. A NUL is a blank: the text in a fatbin is padded
// with them.
#pragma once

#include <string_view>

namespace pipelink {

inline bool is_ptx_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\0';
}

/// ".loc 1 23 4", to the end of its line; not ".local".
inline bool begins_loc(std::string_view text) {
  return text.starts_with(".loc") && text.size() > 4 && is_ptx_space(text[4]);
}

inline std::string_view trim_ptx(std::string_view text) {
  while (!text.empty() && is_ptx_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_ptx_space(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace pipelink
