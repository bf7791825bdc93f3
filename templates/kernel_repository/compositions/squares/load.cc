// Loads the kernel where there is a GPU for it; else the test is skipped.
#include <pipelink/squares.h>

#include <cstdio>

int main() {
  const auto kernel = pipelink::squares::load();
  if (kernel) {
    std::printf("squares is loaded: %u blocks\n", kernel->default_blocks());
    return 0;
  }
  using enum pipelink::ErrorCode;
  const pipelink::ErrorCode code = kernel.error().code;
  const bool no_gpu =
      code == kDriverMissing || code == kDriverTooOld || code == kNoDevice || code == kNoImage;
  std::printf("%s%s\n", no_gpu ? "SKIPPED: " : "", kernel.error().message.c_str());
  return no_gpu ? 77 : 1;
}
