#include "packager/base/demangle.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <regex>

namespace pipelink {

std::string demangled(const std::string& symbol) {
  if (!symbol.starts_with("_Z")) return symbol;
  int status = 0;
  const std::unique_ptr<char, void (*)(void*)> name(
      abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &status), std::free);
  if (status != 0 || !name) return symbol;
  // nvcc's namespace of a file's own names holds a hash of its path, which says nothing to people.
  static const std::regex kOfFile("_INTERNAL_[0-9a-f]+_[0-9]+_[A-Za-z0-9_]*?_[0-9a-f]{8}(_[0-9]+)?::");
  return std::regex_replace(std::string(name.get()), kOfFile, "");
}

}  // namespace pipelink
