// Packages and objects: whatever the bytes, a value or a diagnostic.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "packager/base/render.h"
#include "packager/capture/object.h"
#include "packager/package/package.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto package = pipelink::parse_package(bytes, "fuzz.plk");
  const auto object = pipelink::parse_object(bytes, "fuzz.o");
  if (!package && package.diagnostics.empty()) std::abort();
  if (!object && object.diagnostics.empty()) std::abort();
  pipelink::render_sarif(package.diagnostics);
  return 0;
}
