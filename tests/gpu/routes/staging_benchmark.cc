// A staging that PipeLink made against the same by hand, alternated in one process on random data. A line of
// JSON. Exit status: 0 equal results, 1 not, 2 usage, 77 there is no GPU.
#include <pipelink/staging_linked.h>
#include <pipelink/staging_written.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <stdexcept>
#include <vector>

#include "compositions/device.h"
#include "compositions/want.h"

namespace {

using runner::want;

constexpr unsigned kTurns = 20000, kRounds = 21;

double median(std::vector<double> list) {
  std::sort(list.begin(), list.end());
  return list[list.size() / 2];
}

}  // namespace

int main() {
  try {
    if (const auto driver = pipelink::runtime_internal::machine_driver(); !driver) {
      std::printf("SKIPPED: %s\n", driver.error().message.c_str());
      return 77;
    }
    runner::Device device(nullptr);
    const auto linked = want(pipelink::staging_linked::load());
    const auto written = want(pipelink::staging_written::load());
    const std::size_t threads = std::size_t{4096} * 256;  // more than any device has at a time
    const std::uint64_t in = device.allocate(threads * 32 * 4),
                        out[2] = {device.allocate(threads * 16), device.allocate(threads * 16)};
    std::mt19937 random(std::random_device{}());
    std::uniform_real_distribution<float> uniform(-1, 1);
    std::vector<float> data(threads * 32);
    for (float& x : data) x = uniform(random);
    device.write(in, data.data(), data.size() * 4);
    const auto parameters = [&](int which) {
      return staging::Parameters{reinterpret_cast<const float*>(in), reinterpret_cast<unsigned*>(out[which]),
                                 kTurns};
    };
    const auto a = want(pipelink::staging_linked::open(linked, {.staging_give = parameters(0)}));
    const auto b = want(pipelink::staging_written::open(written, {.staging_give = parameters(1)}));
    const auto time = [&](const pipelink::Session& session) {
      const auto begin = std::chrono::steady_clock::now();
      if (const auto done = session.launch(nullptr); !done) throw std::runtime_error(done.error().message);
      device.synchronize();
      return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    };
    time(a), time(b);
    std::vector<double> linked_ms, written_ms, ratios;
    for (unsigned round = 0; round < kRounds; ++round) {
      const bool first = round % 2 == 0;
      const double one = time(first ? a : b), two = time(first ? b : a);
      linked_ms.push_back(first ? one : two);
      written_ms.push_back(first ? two : one);
      ratios.push_back(linked_ms.back() / written_ms.back());
    }
    const std::size_t used = std::size_t{a.blocks()} * 256 * 4;
    std::vector<unsigned> left(used), right(used);
    device.read(left.data(), out[0], used * 4);
    device.read(right.data(), out[1], used * 4);
    const bool equal = left == right && a.blocks() == b.blocks();
    std::printf(
        "{\"tile\": \"f32 64x64, wgmma_accumulator(64,64) to ((2,64),32):((2048,1),64)\", \"turns\": %u, "
        "\"linked_ms\": %.4f, "
        "\"by_hand_ms\": %.4f, \"linked_over_by_hand\": %.4f, \"equal\": %s}\n",
        kTurns, median(linked_ms), median(written_ms), median(ratios), equal ? "true" : "false");
    return equal ? 0 : 1;
  } catch (const std::exception& e) {
    std::printf("%s\n", e.what());
    return 1;
  }
}
