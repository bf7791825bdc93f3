#include "packager/layout/banks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

namespace pipelink::layout {
namespace {

constexpr std::int64_t kBanks = 32, kWord = 4, kWarp = 32, kWidest = 16;

bool power_of_two(std::int64_t value) {
  return value > 0 && std::has_single_bit(static_cast<std::uint64_t>(value));
}

/// Whether every thread's groups of `count` values are each one aligned piece of memory.
bool grouped(std::span<const std::int64_t> addresses, std::int64_t values, std::int64_t element_bytes,
             std::int64_t count) {
  if (values % count != 0) return false;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    const auto within = static_cast<std::int64_t>(i) % count;
    const std::int64_t first = addresses[i - static_cast<std::size_t>(within)];
    if (addresses[i] != first + within * element_bytes || first % (count * element_bytes) != 0) return false;
  }
  return true;
}

/// Distinct words, and how many of them the fullest bank has.
std::pair<std::int64_t, std::int64_t> words_of(std::vector<std::int64_t>& words) {
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  std::array<std::int64_t, kBanks> in_bank{};
  std::int64_t most = 0;
  for (const std::int64_t word : words)
    most = std::max(most, ++in_bank[static_cast<std::size_t>(word % kBanks)]);
  return {static_cast<std::int64_t>(words.size()), most};
}

std::string shape_fault(std::span<const std::int64_t> addresses, std::int64_t values,
                        std::int64_t element_bytes, std::int64_t access_bytes) {
  if (values < 1 || addresses.empty() || static_cast<std::int64_t>(addresses.size()) % values != 0)
    return fmt::format("{} addresses are not of threads with {} values", addresses.size(), values);
  if (!power_of_two(element_bytes) || element_bytes > kWidest)
    return fmt::format("an element of {} bytes is none of 1, 2, 4, 8, 16", element_bytes);
  if (!power_of_two(access_bytes) || access_bytes > kWidest || access_bytes < element_bytes)
    return fmt::format("an access of {} bytes is none of {} to 16", access_bytes, element_bytes);
  const auto low = std::min_element(addresses.begin(), addresses.end());
  return *low < 0 ? fmt::format("the address {} is below the tile", *low) : std::string();
}

}  // namespace

Result<BankUse> bank_use(std::span<const std::int64_t> addresses, std::int64_t values,
                         std::int64_t element_bytes, std::int64_t access_bytes) {
  if (std::string fault = shape_fault(addresses, values, element_bytes, access_bytes); !fault.empty())
    return Result<BankUse>::fault(std::move(fault));
  const std::int64_t group = access_bytes / element_bytes;
  if (!grouped(addresses, values, element_bytes, group))
    return Result<BankUse>::fault(
        fmt::format("groups of {} values are not each {} aligned bytes", group, access_bytes));
  BankUse use;
  const std::int64_t threads = static_cast<std::int64_t>(addresses.size()) / values;
  const std::int64_t lanes = kWarp / std::max<std::int64_t>(access_bytes / kWord, 1);  // of a phase
  std::vector<std::int64_t> words;
  for (std::int64_t warp = 0; warp < threads; warp += kWarp)
    for (std::int64_t value = 0; value < values; value += group, ++use.accesses)
      for (std::int64_t lane = warp; lane < std::min(warp + kWarp, threads); lane += lanes) {
        const std::int64_t end = std::min({lane + lanes, warp + kWarp, threads});
        words.clear();
        for (std::int64_t thread = lane; thread < end; ++thread) {
          const std::int64_t first = addresses[static_cast<std::size_t>(thread * values + value)] / kWord;
          for (std::int64_t w = 0; w < std::max<std::int64_t>(access_bytes / kWord, 1); ++w)
            words.push_back(first + w);
        }
        const auto [distinct, fronts] = words_of(words);
        use.wavefronts += fronts;
        use.least += (distinct + kBanks - 1) / kBanks;
        if (fronts <= use.worst) continue;
        use.worst = fronts;
        if (fronts == (distinct + kBanks - 1) / kBanks) continue;
        use.where = fmt::format("warp {}, values {} to {}, lanes {} to {}", warp / kWarp, value,
                                value + group - 1, lane - warp, end - warp - 1);
      }
  return use;
}

std::int64_t vector_bytes(std::span<const std::int64_t> addresses, std::int64_t values,
                          std::int64_t element_bytes) {
  if (!shape_fault(addresses, values, element_bytes, element_bytes).empty()) return 0;
  for (std::int64_t bytes = kWidest; bytes >= element_bytes; bytes /= 2)
    if (grouped(addresses, values, element_bytes, bytes / element_bytes)) return bytes;
  return 0;
}

Result<std::vector<std::int64_t>> byte_addresses(const Layout& offsets, std::int64_t element_bytes) {
  std::vector<std::int64_t> out = thread_value_indices(offsets);
  for (std::int64_t& address : out) {
    if (address > kMaxStride)
      return Result<std::vector<std::int64_t>>::fault(
          fmt::format("the offset {} is more than 2^40", address));
    address *= element_bytes;
  }
  return out;
}

Result<std::vector<std::int64_t>> byte_addresses(const Layout& fragment, const Layout& tile,
                                                 std::int64_t element_bytes) {
  // As a row-major index does, the places run the second mode fastest.
  const Result<std::vector<std::int64_t>> places = byte_addresses(tile, element_bytes);
  if (!places) return places;
  std::vector<std::int64_t> out = thread_value_indices(fragment);
  for (std::int64_t& index : out) {
    if (index < 0 || index >= static_cast<std::int64_t>(places->size()))
      return Result<std::vector<std::int64_t>>::fault(
          fmt::format("the fragment holds element {}, the tile ends at {}", index, places->size() - 1));
    index = (*places)[static_cast<std::size_t>(index)];
  }
  return out;
}

}  // namespace pipelink::layout
