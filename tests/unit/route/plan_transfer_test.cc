// Single pairs: what is planned for them, and how long the largest take.
#include <doctest/doctest.h>

#include <algorithm>
#include <ctime>
#include <functional>
#include <numeric>
#include <random>

#include "linker/route/fit.h"
#include "machine.h"
#include "maps.h"

using namespace pipelink::transfer;
using namespace pipelink::transfer::test;

namespace {

Request between(Endpoint from, Endpoint to) {
  Request request;
  request.from = std::move(from);
  request.to = std::move(to);
  return request;
}

Transfer planned(const Request& request) {
  Planned out = plan_transfer(request);
  for (const Rejected& r : out.rejected) CAPTURE(r.reason);
  REQUIRE(out.transfer);
  CHECK(run_on_bytes(request, *out.transfer, 3) == "");
  return std::move(*out.transfer);
}

Transfer planned(TileMap from, TileMap to) {
  return planned(between(in_registers(std::move(from)), in_registers(std::move(to))));
}

std::string refused(const Request& request) {
  const Planned out = plan_transfer(request);
  REQUIRE(!out.transfer);
  REQUIRE(!out.rejected.empty());
  return out.rejected.back().kind + ": " + out.rejected.back().reason;
}

int count(const Transfer& transfer, std::size_t index) {
  int n = 0;
  for (const auto* list : {&transfer.steps, &transfer.after, &transfer.receive, &transfer.release})
    n += static_cast<int>(
        std::count_if(list->begin(), list->end(), [&](const Step& step) { return step.index() == index; }));
  return n;
}

/// The index of a step in the variant.
template <typename S>
std::size_t index_of() {
  return Step(S{}).index();
}

TileMap lanes(int values, int element_bytes, const std::function<int(int, int)>& element) {
  return map_of(32, values, element_bytes, element);
}

/// 32 elements of each lane of a warp, in no order.
std::function<int(int, int)> mixed_warp() {
  std::vector<int> order(1024);
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(5);
  for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random() % (i + 1)]);
  return [order](int t, int v) { return order[static_cast<std::size_t>(t * 32 + v)]; };
}

}  // namespace

TEST_SUITE_BEGIN("plan_transfer");

TEST_CASE("registers are only renamed") {
  const Transfer same = planned(wgmma_accumulator(64, 4), wgmma_accumulator(64, 4));
  CHECK(same.kind == Kind::kSame);
  CHECK(same.steps.empty());
  CHECK(same.outputs.size() == 32);
  TileMap other = wgmma_accumulator(64, 4);
  for (std::size_t i = 0; i < other.element.size(); i += 2) std::swap(other.element[i], other.element[i + 1]);
  const Transfer renamed = planned(wgmma_accumulator(64, 4), other);
  CHECK(renamed.kind == Kind::kRenamed);
  CHECK(renamed.steps.empty());
  CHECK(renamed.renamed[0] == 1);
  CHECK(renamed.outputs[0] == 1);
  // Halves that change places within and between words.
  const Transfer halves = planned(lanes(4, 2, [](int t, int v) { return t * 4 + v; }),
                                  lanes(4, 2, [](int t, int v) { return t * 4 + (v + 1) % 4; }));
  CHECK(halves.kind == Kind::kPermuted);
  CHECK(halves.cost.permutes == 2);
  CHECK(halves.renamed == std::vector<std::int32_t>{1, 2, 3, 0});
  // A value demanded twice, and one of which nothing is demanded.
  const Transfer twice = planned(lanes(2, 4, [](int t, int v) { return t * 2 + v; }),
                                 lanes(3, 4, [](int t, int v) { return v == 2 ? kNothing : t * 2 + 1; }));
  CHECK(twice.kind == Kind::kRenamed);
  CHECK(twice.renamed == std::vector<std::int32_t>{1, 1, kNothing});
  CHECK(twice.outputs == std::vector<Register>{1, 1, kNoRegister});
  // Parts of warps can only rename.
  CHECK(planned(map_of(8, 2, 4, [](int t, int v) { return t * 2 + v; }),
                map_of(8, 2, 4, [](int t, int v) { return t * 2 + 1 - v; }))
            .kind == Kind::kRenamed);
}

TEST_CASE("a transposition in four lanes: three exchanges") {
  const Transfer out = planned(lanes(4, 4, [](int t, int v) { return t * 4 + v; }),
                               lanes(4, 4, [](int t, int v) { return (t / 4 * 4 + v) * 4 + t % 4; }));
  CHECK(out.kind == Kind::kShuffle);
  CHECK(out.cost.shuffles == 3);
  CHECK(out.cost.shuffle_bound == 3);
  CHECK(out.cost.selects == 16);
  for (const Step& step : out.steps)
    if (const auto* s = std::get_if<Shuffle>(&step))
      CHECK(xor_lane(out.values[static_cast<std::size_t>(s->lane)]).has_value());
}

TEST_CASE("lanes in another order: no select") {
  const Transfer reversed = planned(lanes(4, 4, [](int t, int v) { return t * 4 + v; }),
                                    lanes(4, 4, [](int t, int v) { return (31 - t) * 4 + v; }));
  CHECK(reversed.cost.shuffles == 4);
  CHECK(reversed.cost.selects == 0);
  const Transfer turned = planned(lanes(4, 4, [](int t, int v) { return t * 4 + v; }),
                                  lanes(4, 4, [](int t, int v) { return (t * 4 + 12 + v) % 128; }));
  CHECK(turned.cost.shuffles == 4);
  CHECK(turned.cost.selects == 0);
}

TEST_CASE("halves and bytes travel in words") {
  // Pairs that stay together: as words, without permutes.
  const Transfer pairs =
      planned(lanes(8, 2, [](int t, int v) { return t * 8 + v; }),
              lanes(8, 2, [](int t, int v) { return ((t / 4 * 4 + v / 2) * 4 + t % 4) * 2 + v % 2; }));
  CHECK(pairs.cost.shuffles == 3);
  CHECK(pairs.cost.permutes == 0);
  // Eight halves of each lane for each of the four lanes of a quad, two for each: packed first.
  const Transfer quads =
      planned(lanes(8, 2, [](int t, int v) { return t * 8 + v; }),
              lanes(8, 2, [](int t, int v) { return (t / 4 * 4 + v % 4) * 8 + t % 4 + v / 4 * 4; }));
  CHECK(quads.cost.shuffles == 3);
  CHECK(quads.cost.shuffle_bound == 3);
  CHECK(quads.cost.permutes > 0);
  const Transfer bytes = planned(lanes(16, 1, [](int t, int v) { return t * 16 + v; }),
                                 lanes(16, 1, [](int t, int v) { return t / 4 * 64 + v * 4 + t % 4; }));
  CHECK(bytes.cost.shuffles == 3);
  CHECK(bytes.cost.shuffle_bound == 3);
  const Transfer doubles = planned(lanes(2, 8, [](int t, int v) { return t * 2 + v; }),
                                   lanes(2, 8, [](int t, int v) { return (t ^ 1) * 2 + v; }));
  CHECK(doubles.cost.shuffles == 4);
  CHECK(doubles.cost.shuffle_bound == 4);
}

TEST_CASE("a broadcast within the warp") {
  const Transfer first =
      planned(lanes(4, 4, [](int t, int v) { return t * 4 + v; }), lanes(4, 4, [](int, int v) { return v; }));
  CHECK(first.cost.shuffles == 4);
  CHECK(first.cost.shuffle_bound == 4);
  CHECK(first.cost.selects == 0);
}

TEST_CASE("a shuffle is passed over if it takes too many selects, unless there is no room for a buffer") {
  const auto mixed = mixed_warp();
  Request request = between(in_registers(lanes(32, 4, [](int t, int v) { return t * 32 + v; })),
                            in_registers(lanes(32, 4, mixed)));
  const Planned out = plan_transfer(request);
  REQUIRE(out.transfer);
  CHECK(out.transfer->kind == Kind::kStaging);
  REQUIRE(out.rejected.size() == 2);
  CHECK(out.rejected[1].reason.find("selects") != std::string::npos);
  request.shared_bytes = 1024;
  const Transfer shuffled = planned(request);
  CHECK(shuffled.kind == Kind::kShuffle);
  CHECK(shuffled.cost.shuffles == shuffled.cost.shuffle_bound);
}

TEST_CASE("staging has no conflicts where both maps are linear") {
  // Bytes would have to be rearranged within the thread first.
  for (const int eb : {2, 4, 8}) {
    const Transfer out = planned(wgmma_accumulator(128, eb), column_blocked({64, 128}, 128, eb));
    CAPTURE(eb);
    CHECK(out.kind == Kind::kStaging);
    CHECK(out.cost.store_wavefronts == out.cost.store_bound);
    CHECK(out.cost.load_wavefronts == out.cost.load_bound);
    CHECK(out.buffer_bytes == 64 * 128 * eb);
    REQUIRE(out.barriers.size() == 1);
    CHECK(out.barriers[0].threads == 128);
    CHECK(count(out, index_of<NamedBarrier>()) == 2);
  }
}

TEST_CASE("rows of 96 columns are staged in slices") {
  Request request =
      between(in_registers(wgmma_accumulator(96, 4)), in_registers(column_blocked({64, 96}, 128, 4)));
  request.columns = 96;
  const Transfer out = planned(request);
  CHECK(out.kind == Kind::kStaging);
  CHECK(out.cost.store_wavefronts == out.cost.store_bound);
}

TEST_CASE("an accumulator of halves goes to a swizzled tile by stmatrix, with a fence") {
  const Transfer out = planned(between(in_registers(wgmma_accumulator(128, 2)),
                                       in_shared(swizzled({64, 128}, 2, 128), 2, 128, true, 1024)));
  CHECK(out.kind == Kind::kStore);
  CHECK(out.cost.store_wavefronts == out.cost.store_bound);
  CHECK(out.buffer_align == 1024);
  CHECK(count(out, index_of<StoreMatrix>()) == 8);
  CHECK(count(out, index_of<Store>()) == 0);
  CHECK(count(out, index_of<AsyncFence>()) == 1);
  CHECK(out.values.size() == 1);
  // Without stmatrix, words.
  Request plain = between(in_registers(wgmma_accumulator(128, 2)),
                          in_shared(swizzled({64, 128}, 2, 128), 2, 128, false, 1024));
  plain.stmatrix = false;
  const Transfer words = planned(plain);
  CHECK(count(words, index_of<Store>()) == 32);
  CHECK(count(words, index_of<AsyncFence>()) == 0);
}

TEST_CASE("a warp's own tile needs no named barrier") {
  const auto mixed = mixed_warp();
  const Transfer out = planned(lanes(32, 4, [](int t, int v) { return t * 32 + v; }), lanes(32, 4, mixed));
  CHECK(out.barriers.empty());
  CHECK(count(out, index_of<WarpBarrier>()) == 2);
  // Nor do two warps that exchange nothing.
  const auto each = [&](int t, int v) { return t / 32 * 1024 + mixed(t % 32, v); };
  const Transfer two =
      planned(map_of(64, 32, 4, [](int t, int v) { return t * 32 + v; }), map_of(64, 32, 4, each));
  CHECK(two.kind == Kind::kStaging);
  CHECK(two.barriers.empty());
}

TEST_CASE("two roles: full and empty") {
  Request request = between(in_registers(wgmma_accumulator(64, 4)), in_registers(blocked({64, 64}, 32, 4)));
  request.two_roles = true;
  const Transfer out = planned(request);
  CHECK(out.kind == Kind::kStaging);
  CHECK(out.threads == 128);
  CHECK(out.consumer_threads == 32);
  REQUIRE(out.barriers.size() == 2);
  CHECK(out.barriers[0] == BarrierClaim{"empty", 160});
  CHECK(out.barriers[1] == BarrierClaim{"full", 160});
  CHECK(out.prearrive == std::vector<int>{0});
  CHECK(out.steps.front() == Step(NamedBarrier{0, 160, true}));
  CHECK(out.steps.back() == Step(NamedBarrier{1, 160, false}));
  CHECK(out.receive.front() == Step(NamedBarrier{1, 160, true}));
  CHECK(out.receive.back() == Step(NamedBarrier{0, 160, false}));
  CHECK(out.release.empty());
}

TEST_CASE("tensor memory") {
  const Tile tile{128, 64};
  const Endpoint producer = in_tensor_memory(blocked(tile, 128, 4));
  const Transfer rows = planned(between(producer, in_registers(blocked(tile, 128, 4))));
  CHECK(rows.kind == Kind::kTensorLoad);
  CHECK(rows.cost.tensor_loads == 1);
  CHECK(rows.method == "tcgen05.ld.32x32b");
  CHECK(count(rows, index_of<TensorWait>()) == 1);
  const Transfer quads = planned(between(producer, in_registers(tcgen05_16x256b(tile, 4))));
  CHECK(quads.method == "tcgen05.ld.16x256b");
  CHECK(quads.cost.tensor_loads == 2);
  // 16x128b and 16x64b, from the formulas.
  const auto shape = [&](const std::function<At(int, int)>& at) {
    return planned(between(producer, in_registers(tile_map(tile, 128, 64, 4, at)))).method;
  };
  CHECK(shape([](int t, int v) {
          const int half = v / 32, r = v % 32;
          return At{t / 32 * 32 + half * 16 + t % 32 / 4 + r % 2 * 8, r / 2 * 4 + t % 4};
        }) == "tcgen05.ld.16x128b");
  CHECK(shape([](int t, int v) {
          const int half = v / 32, r = v % 32;
          return At{t / 32 * 32 + half * 16 + t % 32 / 4 + t % 2 * 8, r * 2 + t / 2 % 2};
        }) == "tcgen05.ld.16x64b");
  // Columns 16…47 of the lanes: one load of 32.
  const Transfer part = planned(
      between(producer, in_registers(map_of(128, 32, 4, [](int t, int v) { return t * 64 + 16 + v; }))));
  REQUIRE(part.steps.size() == 2);
  CHECK(std::get<TensorLoad>(part.steps[0]).column == 16);
  // Two warpgroups reach the same lanes.
  Endpoint wide = producer;
  wide.threads = 256;
  const Transfer both =
      planned(between(wide, in_registers(map_of(256, 64, 4, [](int t, int v) { return t % 128 * 64 + v; }))));
  CHECK(both.kind == Kind::kTensorLoad);
  CHECK(both.cost.tensor_loads == 1);
  const Transfer in_place = planned(between(producer, producer));
  CHECK(in_place.kind == Kind::kInPlace);
  CHECK(in_place.steps.empty());
  CHECK(refused(between(in_registers(blocked(tile, 128, 4)), producer)) ==
        "tensor memory: the producer has it elsewhere; nothing stores into tensor memory");
}

TEST_CASE("what cannot be is refused with the reason") {
  CHECK(refused(between(in_registers(blocked({64, 64}, 128, 4)), in_registers(blocked({64, 64}, 128, 2)))) ==
        "any: the producer has elements of 4 bytes, the consumer of 2; a transfer does not convert");
  CHECK(refused(between(in_registers(blocked({64, 64}, 128, 4)), in_registers(blocked({64, 64}, 64, 4)))) ==
        "any: 128 threads hold the tile and 64 demand it; a call is made by the same threads");
  CHECK(refused(between(in_registers(blocked({64, 32}, 128, 4)), in_registers(blocked({64, 64}, 128, 4)))) ==
        "staging: the consumer demands element 2048, which the producer does not have");
  CHECK(refused(between(in_registers(map_of(8, 2, 4, [](int t, int v) { return t * 2 + v; })),
                        in_registers(map_of(8, 2, 4, [](int t, int v) { return v * 8 + t; })))) ==
        "staging: barriers count whole warps; the sides have 8 and 8 threads");
  Request large =
      between(in_registers(wgmma_accumulator(256, 4)), in_registers(column_blocked({64, 256}, 128, 4)));
  large.shared_bytes = 32 << 10;
  CHECK(refused(large) == "staging: no layout of the tile takes at most 32768 bytes");
  large.shared_bytes = 64 << 10;
  large.groups = 2;
  CHECK(refused(large) == "staging: no layout of the tile takes at most 32768 bytes");
  TileMap broken = blocked({64, 64}, 128, 4);
  broken.element.pop_back();
  CHECK(refused(between(in_registers(broken), in_registers(blocked({64, 64}, 128, 4)))) ==
        "any: the producer's map: 128 threads have 32 values each, yet there are 4095 entries");
  AddressMap twice = row_major({64, 64}, 4);
  twice.offset[5] = 9;
  CHECK(refused(between(in_registers(blocked({64, 64}, 128, 4)), in_shared(twice, 4, 128))) ==
        "any: the consumer's map: elements 5 and 9 are both at offset 9");
}

TEST_CASE("the same request gives the same transfer") {
  const Request request =
      between(in_registers(wgmma_accumulator(128, 2)), in_registers(column_blocked({64, 128}, 128, 2)));
  CHECK(text_of(planned(request)) == text_of(planned(request)));
}

TEST_CASE("the largest tiles are planned in milliseconds") {
  const Tile tile{64, 256};
  const auto mixed = [&](int eb) {
    TileMap map = blocked(tile, 128, eb);
    for (std::size_t i = 0; i < map.element.size(); ++i)
      map.element[i] = static_cast<std::int32_t>(i * 5461 % map.element.size());
    return map;
  };
  double worst = 0;
  for (const int eb : {2, 4}) {
    const std::vector<Named> sides = {
        {"quad rows", in_registers(quad_rows(tile, eb))},
        {"rows", in_registers(blocked(tile, 128, eb))},
        {"columns", in_registers(column_blocked(tile, 128, eb))},
        {"striped", in_registers(striped(tile, 128, 1, eb))},
        {"mixed", in_registers(mixed(eb))},
        {"swizzled", in_shared(swizzled(tile, eb, 128), eb, 128, true, 1024)},
        {"row-major", in_shared(row_major(tile, eb), eb, 128)},
    };
    for (const Named& side : sides) {
      const Request request = between(in_registers(wgmma_accumulator(256, eb)), side.side);
      double best = 1e9;
      for (int n = 0; n < 3; ++n) {
        const std::clock_t begin = std::clock();  // the processor's, whatever else runs
        const Planned out = plan_transfer(request);
        best = std::min(best, 1e3 * static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
        REQUIRE(out.transfer);
      }
      MESSAGE(eb << "-byte accumulator to " << side.name << ": " << best << " ms");
      worst = std::max(worst, best);
    }
  }
#ifdef NDEBUG
  // Ten times what it takes on an idle machine, and less than routing may take in all.
  CHECK(worst < 50);
#else
  MESSAGE("times are not judged in a build for debugging: " << worst << " ms at most");
#endif
}

TEST_SUITE_END();
