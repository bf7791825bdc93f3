#include "linker/place/blocks.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "linker/place/random.h"

namespace pipelink::place {
namespace {

constexpr std::uint64_t kCoolingTicks = 6 << 10;  // six halvings, each of 1024
constexpr std::int64_t kHeatUnit = 1 << 20;       // 1024 of a heat, times 1024 of a random number

}  // namespace

std::int64_t search_blocks(const Items& items, const std::vector<Block>& blocks, std::int64_t target,
                           const Annealing& annealing, Offsets& best, Allowance allowance) {
  const std::uint64_t rounds = annealing.rounds;
  std::int64_t lowest = INT64_MAX, lowest_before = footprint_of(items, best);
  // What is aligned most first, then what is under most load.
  std::vector<std::int64_t> load = items.size;
  for (std::size_t i = 0; i < items.count(); ++i)
    items.conflict[i].for_each([&](std::size_t j) { load[i] += items.size[j]; });
  std::vector<int> order(blocks.size());
  std::iota(order.begin(), order.end(), 0);
  const auto key = [&](int b) {
    return std::tuple(-blocks[b].align, -load[blocks[b].parts.front().first], -blocks[b].size, b);
  };
  std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  BlockLine line(items, blocks, std::move(order), target, allowance.meter());
  Random random(annealing.seed);
  auto look = [&] {
    if (const std::int64_t f = line.footprint(); f < lowest) {
      lowest = f;
      if (f < lowest_before) best = line.offsets();
    }
  };
  look();
  const std::size_t n = blocks.size();
  const std::uint64_t units = std::max<std::uint64_t>(1, allowance.left());
  std::vector<int> over, chain;
  for (std::uint64_t round = 0; round < rounds && lowest > target && !allowance.exhausted() && n > 1;
       ++round) {
    // Half of the changes concern what ends above the target, or what keeps it there.
    const std::size_t kind = random.below(10);
    std::size_t from = random.below(n), to = random.below(n);
    bool swap = random.below(2);
    if (kind < 6) {
      line.over(over);
      const int item = over[random.below(over.size())];
      if (kind < 2) {
        from = line.position_of(item);
        to = random.below(from + 1);
        swap = false;
      } else {
        line.chain(item, chain);
        from = line.position_of(chain[random.below(chain.size())]);
        to = line.position_of(chain[random.below(chain.size())]);
      }
    }
    if (from == to) continue;
    // Cools down by a factor of 64, each halving evenly, in time for the end of the rounds or of the
    // allowance.
    const std::uint64_t spent = units - std::min(units, allowance.left());
    const std::uint64_t time = std::max(kCoolingTicks * round / rounds, kCoolingTicks * spent / units);
    const std::int64_t heat =
        (annealing.heat * 1024 >> (time / 1024)) * (2048 - static_cast<std::int64_t>(time % 1024)) / 2048;
    const std::int64_t limit = line.excess() + random.exponential() * heat / kHeatUnit;
    if (line.change(from, to, swap, limit)) look();
  }
  return lowest;
}

}  // namespace pipelink::place
