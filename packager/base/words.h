// Small pieces of text for messages and reports.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace pipelink {

std::string quoted(std::string_view text);  ///< `text`

/// Of more than 200 bytes the first 160, "..." and how many there are.
std::string shortened(std::string_view text);

std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

std::string grouped(std::int64_t value);  ///< "196,608"

/// The nearest 64-bit float, as IEEE 754 rounds: 0 for "1e-400", infinite for "1e400". Nullopt for what is no
/// number, "inf" and "nan" among it.
std::optional<double> real_of(std::string_view text);

}  // namespace pipelink
