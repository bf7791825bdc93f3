// The planner's count of wavefronts is the layout library's, which tests compare with the definition.
#include <doctest/doctest.h>

#include <random>

#include "linker/route/access.h"
#include "packager/layout/banks.h"

namespace pipelink::transfer {

TEST_CASE("wavefronts are counted as packager/layout counts them") {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    const int bytes = 1 << random() % 5;
    const int spread = 1 + static_cast<int>(random() % 200);
    std::vector<std::int32_t> lanes;
    std::vector<std::int64_t> addresses;
    for (int lane = 0; lane < 32; ++lane) {
      lanes.push_back(static_cast<int>(random() % static_cast<unsigned>(spread)) * bytes);
      addresses.push_back(lanes.back());
    }
    const layout::Result<layout::BankUse> use = layout::bank_use(addresses, 1, bytes, bytes);
    REQUIRE(use);
    REQUIRE(wavefronts_of(lanes, bytes) == use->wavefronts);
  }
}

}  // namespace pipelink::transfer
