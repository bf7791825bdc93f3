#include "packager/base/words.h"

#include <charconv>
#include <cmath>
#include <cstdlib>

namespace pipelink {

std::string quoted(std::string_view text) {
  return "`" + std::string(text) + "`";
}

std::string shortened(std::string_view text) {
  constexpr std::size_t kWhole = 200, kShown = 160;
  if (text.size() <= kWhole) return std::string(text);
  std::size_t end = kShown;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // a whole character
  return std::string(text.substr(0, end)) + "... (" + grouped(static_cast<std::int64_t>(text.size())) +
         " bytes)";
}

std::string joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (&part != parts.data()) out += separator;
    out += part;
  }
  return out;
}

std::string grouped(std::int64_t value) {
  std::string digits = std::to_string(value);
  for (std::size_t at = digits.size(); at > 3 && digits[at - 4] != '-'; at -= 3) digits.insert(at - 3, ",");
  return digits;
}

std::optional<double> real_of(std::string_view text) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [last, error] = std::from_chars(text.data(), end, value);
  if (last != end || error == std::errc::invalid_argument) return std::nullopt;
  if (error == std::errc::result_out_of_range)  // does not say at which end
    return std::strtod(std::string(text).c_str(), nullptr);
  if (!std::isfinite(value)) return std::nullopt;
  return value;
}

}  // namespace pipelink
