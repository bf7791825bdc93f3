#include "packager/capture/ltoir.h"

#include "packager/base/bytes.h"

namespace pipelink {

std::optional<LtoirHeader> parse_ltoir_header(std::string_view bytes) {
  constexpr std::size_t kHeader = 24;
  constexpr int kArchTag = 1, kVariantTag = 0x20, kEndTag = 0x63;
  if (bytes.size() < kHeader || load<std::uint32_t>(bytes, 0) != kLtoirMagic) return std::nullopt;
  const auto byte = [&](std::size_t i) { return static_cast<int>(static_cast<unsigned char>(bytes[i])); };
  LtoirHeader header{byte(4), byte(5), byte(6), byte(7), byte(8), byte(9), {}};
  const std::size_t begin = *load<std::uint16_t>(bytes, 12);
  const std::size_t end = *load<std::uint32_t>(bytes, 16);
  if (begin < kHeader || end < begin || end > bytes.size() || end - begin > 1024) return std::nullopt;
  int arch = 0, variant = 0;
  for (std::size_t at = begin; at + 4 <= end; at += 4) {
    const int tag = *load<std::uint16_t>(bytes, at), value = *load<std::uint16_t>(bytes, at + 2);
    if (tag == kEndTag || tag == 0) break;
    if (tag == kArchTag) arch = value / 10;
    if (tag == kVariantTag) variant = value;
  }
  if (arch > 0) header.arch = "sm_" + std::to_string(arch) + (variant == 1 ? "a" : "");
  return header;
}

}  // namespace pipelink
