// Refers to what the composition's library brings; loading is not tried.
#include <pipelink/demo.h>

#include <cstdio>

int main() {
  std::printf("%zu bytes\n", static_cast<std::size_t>(pipelink_image_demo_sm_90a_size));
  return pipelink_image_demo_sm_90a_size == 0;
}
