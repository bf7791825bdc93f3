// Values of facts as text, and the ranges of the types that read them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "linker/bind/bindings.h"
#include "packager/contract/type_text.h"

namespace pipelink::binding {

/// Reads `text` as a value of the type into `value`, in canonical form. False if it is none: "true", "false",
/// 0 and 1 are booleans; a real number is kept in its shortest form.
bool parse_value(std::string_view text, contract::FactType type, FactValue& value);

/// As a message shows it: `128`, `true`, `0.5`.
std::string value_text(const FactValue& value);
std::string value_text(std::int64_t value, contract::FactType type);

/// The type as the fact's handle returns it, or by its kind.
std::string type_text(const contract::Fact& fact);

/// The values that the C++ type of an integer fact holds; nullopt for a type that is not known here.
std::optional<contract::IntegerRange> range_of(const contract::Fact& fact);

/// "16, 32, 64"
std::string domain_text(const contract::Fact& fact);

/// A set real as a number of the owner's type: all who read it read that one.
void round_to_type(const contract::Fact& owner, FactValue& value);

/// Of a settable real: `text` is a number of its range.
bool in_range(const contract::Fact& fact, const std::string& text);

/// Of a settable real: `text` is a number beyond its range, at the upper end.
bool above_range(const contract::Fact& fact, const std::string& text);

/// "one of 4, 8", "a number from 0 to 1": what a settable fact may be set to.
std::string allowed_text(const contract::Fact& fact);

}  // namespace pipelink::binding
