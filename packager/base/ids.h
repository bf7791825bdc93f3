// Names that users give: components, ports, facts, phases.
#pragma once

#include <string>
#include <string_view>

namespace pipelink {

inline constexpr std::size_t kMaxNameLength = 64;

/// True for [a-z][a-z0-9_]* without "__" and without a final "_", at most kMaxNameLength characters: such
/// names can be joined with "__" into symbols and split again without doubt.
bool valid_name(std::string_view name);

/// Why `name` is not valid, e.g. "has the character 'A'"; empty if it is.
std::string name_fault(std::string_view name);

/// Whether C++20 takes `name` for a keyword.
bool is_keyword(std::string_view name);

/// True for [A-Za-z_][A-Za-z0-9_]*(::…)*: a type or a function of a public header.
bool valid_cpp_name(std::string_view name);

/// True for `sm_` digits and an optional `a` or `f`.
bool valid_arch(std::string_view arch);

}  // namespace pipelink
