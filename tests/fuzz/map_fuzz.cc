// A link map, which may come from anybody: the page and the summary of it, or diagnostics.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "linker/report/map.h"
#include "linker/report/page.h"
#include "tests/fuzz/slowest.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const pipelink::fuzz::Timed timed;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const auto page = pipelink::page_of_map(text, "fuzz.map.json");
  const auto summary = pipelink::summary_of_map(text, "fuzz.map.json");
  if (!page && page.diagnostics.empty()) std::abort();
  if (!summary && summary.diagnostics.empty()) std::abort();
  return 0;
}
