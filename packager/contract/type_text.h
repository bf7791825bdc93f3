// C++ types as text, the way a contract names them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "packager/contract/model.h"

namespace pipelink::contract {

/// The text that C++ has for a type that nvcc's front end names: it writes `bool` as `__nv_bool`.
std::string spelt_type(std::string name);

bool is_reference(const Type& type);

/// Whether a type's text names nothing but what the language itself knows.
bool is_builtin_type(const std::string& name);

/// The values that an integer type or bool holds, those above INT64_MAX left out; nothing for another type.
struct IntegerRange {
  std::int64_t low, high;
};
std::optional<IntegerRange> integer_range(std::string_view type);

/// What a type's text says of its bytes, of a reference those of the referee. `bytes` is 0 if a word of it is
/// not known; then they are a multiple of `count`.
struct TextSize {
  std::int64_t bytes = 0;
  std::int64_t count = 1;  ///< elements of the array that it is
};
/// Nothing for a text whose form is not known.
std::optional<TextSize> size_by_text(std::string_view type);

/// Whether a value of this type cannot be passed on by code that does not see the type's definition. A
/// stand-in of the same size will not do: the two functions then differ in type, and the vendor linker
/// inlines no such call.
bool needs_definition(const Type& type);

}  // namespace pipelink::contract
