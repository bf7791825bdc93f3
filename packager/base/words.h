// Small pieces of text for messages and reports.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pipelink {

std::string quoted(std::string_view text);  ///< `text`

/// Of more than 200 bytes the first 160, "..." and how many there are.
std::string shortened(std::string_view text);

std::string joined(const std::vector<std::string>& parts, std::string_view separator = ", ");

std::string grouped(std::int64_t value);  ///< "196,608"

}  // namespace pipelink
