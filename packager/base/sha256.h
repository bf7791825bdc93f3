// SHA-256 as 64 lower-case hexadecimal digits.
#pragma once

#include <string>
#include <string_view>

namespace pipelink {

std::string sha256_hex(std::string_view bytes);

/// True for 64 lower-case hexadecimal digits.
bool is_sha256_hex(std::string_view text);

}  // namespace pipelink
