// Loads the kernel where there is a GPU for it; else the test is skipped.
#include <pipelink/squares.h>

#include <cstdio>

int main() {
  const auto kernel = pipelink::squares::load();
  if (kernel) {
    std::printf("squares is loaded: %u blocks\n", kernel->default_blocks());
    return 0;
  }
  std::printf("%s\n", kernel.error().message.c_str());
  switch (kernel.error().code) {
    case pipelink::ErrorCode::kDriverMissing:
    case pipelink::ErrorCode::kNoDevice:
    case pipelink::ErrorCode::kNoImage:
      return 77;
    default:
      return 1;
  }
}
