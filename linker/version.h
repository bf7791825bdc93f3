#pragma once

namespace pipelink {
inline constexpr const char kVersion[] = PIPELINK_VERSION;
}  // namespace pipelink
