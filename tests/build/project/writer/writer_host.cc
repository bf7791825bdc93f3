#include "writer.h"

#include <pipelink/host_provider.h>

#include <cstring>

extern "C" int pipelink_host_writer_v1(const pipelink_host_context_v1*, const void* arguments, size_t,
                                       void* region, size_t, pipelink_host_result_v1* result) {
  const writer::Parameters parameters{static_cast<const writer::Arguments*>(arguments)->out};
  std::memcpy(region, &parameters, sizeof parameters);
  result->blocks = 1;
  return 0;
}
