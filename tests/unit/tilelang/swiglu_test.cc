// The lowered source of swiglu_tilelang, called on the host: the threads of a warpgroup one after the other,
// the one that stores last. What they hold is dealt out by the layout that the component asks for, and what
// is stored is read as a bulk tensor store with a swizzle of 128 bytes reads it.
#define DOCTEST_CONFIG_IMPLEMENT_WITH_MAIN
#include <doctest/doctest.h>

#include <cstring>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include "components/swiglu_tilelang/lowered/swiglu_tilelang.cu"
#include "packager/layout/layout.h"
#include "packager/layout/text.h"

namespace {

constexpr int kRows = 64, kColumns = 128, kThreads = 128, kValues = 64;
constexpr pipelink::Self kSelf{};

using Tile = std::vector<float>;

/// {row, column} → element.
using Stored = std::map<std::pair<int, int>, std::uint16_t>;

Tile random_tile(unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<float> normal(0, 3);
  Tile tile(kRows * kColumns);
  for (float& value : tile) value = normal(random);
  return tile;
}

/// 64 rows of 64 elements from shared memory: chunk c of 16 bytes of row r is at chunk c ^ (r % 8).
void read_box(const void* from, int x, int y, Stored& stored) {
  REQUIRE(reinterpret_cast<std::uintptr_t>(from) % 1024 == 0);
  const auto* bytes = static_cast<const unsigned char*>(from);
  for (int row = 0; row < 64; ++row)
    for (int column = 0; column < 64; ++column) {
      const int chunk = (column / 8) ^ (row % 8);
      std::uint16_t element = 0;
      std::memcpy(&element, bytes + row * 128 + chunk * 16 + column % 8 * 2, sizeof element);
      const bool fresh = stored.emplace(std::pair{y + row, x + column}, element).second;
      REQUIRE(fresh);
    }
}

/// Of tiles of 256 columns, every other part is the second one.
unsigned part_of(unsigned n0, unsigned tile_n) {
  return n0 % tile_n / 128;
}

Stored call(const Tile& tile, unsigned m0, unsigned n0, unsigned part, unsigned warpgroup) {
  const auto layout = pipelink::layout::parse_layout(swiglu_tilelang::acc_port.layout);
  REQUIRE(layout);
  REQUIRE(layout->threads() == kThreads);
  REQUIRE(layout->values() == kValues);
  Stored stored;
  int stores = 0;
  pipelink::tilelang::on_store = [&](const void* from, int x, int y) {
    ++stores;
    read_box(from, x, y, stored);
  };
  for (int thread = kThreads - 1; thread >= 0; --thread) {
    threadIdx.x = 256 + thread;  // wherever the warpgroup is in the block
    float acc[kValues];
    for (int v = 0; v < kValues; ++v) acc[v] = tile[static_cast<std::size_t>((*layout)(thread, v))];
    swiglu_tilelang::epilogue(kSelf, acc, m0, n0, part, warpgroup);
  }
  CHECK(stores == 1);
  return stored;
}

float to_float(std::uint16_t element) {
  return std::bit_cast<float>(std::uint32_t{element} << 16);
}

}  // namespace

TEST_CASE("what is stored is silu(gate) · up, at its place") {
  for (const unsigned tile_n : {128U, 256U})
    for (const unsigned warpgroup : {0U, 1U})
      for (const unsigned n0 : {0U, 128U, 384U}) {
        swiglu_tilelang::tile_n_of_test = static_cast<int>(tile_n);
        const Tile tile = random_tile(n0 + warpgroup);
        const unsigned m0 = 256;
        const Stored stored = call(tile, m0, n0, part_of(n0, tile_n), warpgroup);
        REQUIRE(stored.size() == 64 * 64);
        for (int row = 0; row < 64; ++row)
          for (int column = 0; column < 64; ++column) {
            const float* pair =
                &tile[static_cast<std::size_t>(row * kColumns + column / 8 * 16 + column % 8)];
            const float gate = pair[0], up = pair[swiglu_tilelang::interleave];
            const float expected = gate / (1 + std::exp(-gate)) * up;
            const int at_row = static_cast<int>(m0 + 64 * warpgroup) + row,
                      at_column = static_cast<int>(n0 / 2) + column;
            const auto found = stored.find({at_row, at_column});
            REQUIRE(found != stored.end());
            REQUIRE(to_float(found->second) == doctest::Approx(expected).epsilon(0.01));
          }
      }
}

TEST_CASE("two warpgroups, and two calls of one, have stages of their own") {
  swiglu_tilelang::tile_n_of_test = 256;
  std::map<const void*, int> places;
  for (const unsigned warpgroup : {0U, 1U})
    for (const unsigned n0 : {0U, 128U, 256U}) {
      Stored stored;
      pipelink::tilelang::on_store = [&](const void* from, int, int) { ++places[from]; };
      threadIdx.x = 0;
      float acc[kValues] = {};
      swiglu_tilelang::epilogue(kSelf, acc, 0, n0, part_of(n0, 256), warpgroup);
    }
  CHECK(places.size() == 4);  // the third call of a warpgroup has the first one's
}
