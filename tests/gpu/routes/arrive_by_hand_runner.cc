// Runs arrive_by_hand, for record.py to see what racecheck says of it. Exit status: 0 right, 1 not, 77 there
// is no GPU.
#include <pipelink/arrive_by_hand_alone.h>

#include <cstdio>
#include <stdexcept>
#include <vector>

#include "compositions/device.h"
#include "compositions/want.h"

namespace {

using runner::want;

constexpr unsigned kTurns = 70, kMostBlocks = 4096;

}  // namespace

int main() {
  try {
    if (const auto driver = pipelink::runtime_internal::machine_driver(); !driver) {
      std::printf("SKIPPED: %s\n", driver.error().message.c_str());
      return 77;
    }
    runner::Device device(nullptr);
    const auto kernel = want(pipelink::arrive_by_hand_alone::load());
    const std::uint64_t out = device.allocate(std::size_t{kMostBlocks} * 512);
    const staging::Parameters parameters{nullptr, reinterpret_cast<unsigned*>(out), kTurns};
    const auto session = want(pipelink::arrive_by_hand_alone::open(kernel, {.arrive_by_hand = parameters}));
    if (const auto done = session.launch(nullptr); !done) throw std::runtime_error(done.error().message);
    device.synchronize();
    std::vector<unsigned> sums(std::size_t{session.blocks()} * 128);
    device.read(sums.data(), out, sums.size() * 4);
    for (std::size_t i = 0; i < sums.size(); ++i) {
      unsigned sum = 0;
      for (unsigned turn = 0; turn < kTurns; ++turn)
        sum = sum * 3 + static_cast<unsigned>(127 - i % 128) * 7 + turn;
      if (sum != sums[i]) throw std::runtime_error("thread " + std::to_string(i) + " has another sum");
    }
    std::puts("all right");
    return 0;
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
