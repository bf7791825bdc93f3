// Every producer with every consumer: routed and verified, or refused with the reason. What comes out is kept
// as a table (golden/matrix.txt; PIPELINK_UPDATE_GOLDENS=1 writes it anew).
#include <doctest/doctest.h>

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "machine.h"
#include "maps.h"

using namespace pipelink::transfer;
using namespace pipelink::transfer::test;

namespace {

std::string figures(const Planned& planned) {
  if (!planned.transfer) {
    std::string text = "refused";
    for (const Rejected& r : planned.rejected) text += fmt::format("; {}: {}", r.kind, r.reason);
    return text;
  }
  const Transfer& t = *planned.transfer;
  const Cost& c = t.cost;
  std::string text{name_of(t.kind)};
  if (!t.method.empty()) text += fmt::format(" ({})", t.method);
  if (c.tensor_loads > 0) text += fmt::format(", {} tcgen05.ld", c.tensor_loads);
  if (c.shuffle_bound > 0) text += fmt::format(", shuffles {}/{}", c.shuffles, c.shuffle_bound);
  if (c.selects > 0) text += fmt::format(", selects {}", c.selects);
  if (c.permutes > 0) text += fmt::format(", permutes {}", c.permutes);
  if (c.stores > 0) text += fmt::format(", stores {} in {}/{}", c.stores, c.store_wavefronts, c.store_bound);
  if (c.loads > 0) text += fmt::format(", loads {} in {}/{}", c.loads, c.load_wavefronts, c.load_bound);
  if (c.barriers > 0) text += fmt::format(", barriers {}", c.barriers);
  return text;
}

std::string table(int element_bytes, bool two_roles) {
  std::string text;
  for (const Named& producer : producers(element_bytes)) {
    text += fmt::format("{}\n", producer.name);
    for (const Named& consumer : consumers(element_bytes)) {
      Request request;
      request.from = producer.side;
      request.to = consumer.side;
      request.two_roles = two_roles;
      request.columns = 64;
      const Planned planned = plan_transfer(request);
      CAPTURE(producer.name);
      CAPTURE(consumer.name);
      CAPTURE(element_bytes);
      if (planned.transfer) {
        CHECK(run_on_bytes(request, *planned.transfer, 1) == "");
        const Wavefronts counted = count_wavefronts(*planned.transfer);
        CHECK(counted.stores == planned.transfer->cost.store_wavefronts);
        CHECK(counted.loads == planned.transfer->cost.load_wavefronts);
        CHECK(counted.stores >= planned.transfer->cost.store_bound);
        CHECK(counted.loads >= planned.transfer->cost.load_bound);
        CHECK(planned.transfer->cost.shuffles >= planned.transfer->cost.shuffle_bound);
      } else {
        CHECK(!planned.rejected.empty());
      }
      for (const Rejected& r : planned.rejected) {
        CHECK(!r.reason.empty());
        CHECK(r.reason.find("does not verify") == std::string::npos);
      }
      text += fmt::format("  {}: {}\n", consumer.name, figures(planned));
    }
  }
  return text;
}

}  // namespace

TEST_SUITE_BEGIN("matrix");

TEST_CASE("the table of all pairs") {
  std::string text;
  for (const int bytes : {1, 2, 4, 8})
    text += fmt::format("== elements of {} bytes, 64 x 64, 128 threads\n{}", bytes, table(bytes, false));
  text += fmt::format("== elements of 2 bytes, 64 x 64, two roles of 128 threads\n{}", table(2, true));
  const std::string path = ROUTE_GOLDEN;
  const char* update = std::getenv("PIPELINK_UPDATE_GOLDENS");
  if (update != nullptr && std::string(update) != "0" && *update != '\0') {
    std::ofstream(path) << text;
    return;
  }
  std::ifstream file(path);
  const std::string golden{std::istreambuf_iterator<char>(file), {}};
  // Line by line, so that a difference is seen.
  std::size_t a = 0, b = 0;
  while (a < text.size() || b < golden.size()) {
    const std::size_t end_a = std::min(text.find('\n', a), text.size());
    const std::size_t end_b = std::min(golden.find('\n', b), golden.size());
    REQUIRE(text.substr(std::min(a, text.size()), end_a - std::min(a, end_a)) ==
            golden.substr(std::min(b, golden.size()), end_b - std::min(b, end_b)));
    a = end_a + 1;
    b = end_b + 1;
  }
}

TEST_SUITE_END();
