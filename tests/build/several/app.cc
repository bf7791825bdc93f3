// Refers to what the composition's library brings for both architectures; without a GPU, loading says so.
#include <pipelink/several.h>

#include <cstdio>

int main() {
  const pipelink::several::Arguments arguments{.producer = {nullptr}};
  auto kernel = pipelink::several::load();
  if (kernel && !pipelink::several::open(*kernel, arguments)) return 1;
  std::printf("%s\n", kernel ? "loaded" : kernel.error().message.c_str());
  return pipelink_image_several_sm_90a_size == 0 || pipelink_image_several_sm_120a_size == 0;
}
