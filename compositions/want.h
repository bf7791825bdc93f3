// What a runner wants of a call or of a file, or it ends with what went wrong.
#pragma once

#include <pipelink/runtime.h>

#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <utility>

namespace runner {

/// The value; a failed call throws std::runtime_error with its message.
template <class T>
T want(pipelink::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}
inline void want(const pipelink::Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().message);
}

/// All bytes of a file; throws std::runtime_error if it cannot be read.
inline std::string file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace runner
