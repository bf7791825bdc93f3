#include "packager/layout/banks.h"

#include <doctest/doctest.h>

#include <map>
#include <set>

#include "tests/unit/layout/support.h"

namespace pipelink::layout {
namespace {

BankUse use(std::string_view offsets, std::int64_t element_bytes, std::int64_t access_bytes) {
  const Layout layout = read(offsets);
  const auto addresses = byte_addresses(layout, element_bytes);
  REQUIRE(addresses);
  const Result<BankUse> found = bank_use(*addresses, layout.values(), element_bytes, access_bytes);
  CAPTURE(offsets);
  CAPTURE(found.error);
  REQUIRE(found);
  return *found;
}

/// A fragment that is stored to, or loaded from, a tile.
BankUse use(std::string_view fragment, std::string_view tile, std::int64_t element_bytes,
            std::int64_t access_bytes) {
  const Layout layout = read(fragment);
  const auto addresses = byte_addresses(layout, read(tile), element_bytes);
  REQUIRE(addresses);
  const Result<BankUse> found = bank_use(*addresses, layout.values(), element_bytes, access_bytes);
  CAPTURE(found.error);
  REQUIRE(found);
  return *found;
}

std::int64_t widest(std::string_view offsets, std::int64_t element_bytes) {
  const Layout layout = read(offsets);
  return vector_bytes(*byte_addresses(layout, element_bytes), layout.values(), element_bytes);
}

/// One warp's access, from the definition: serve lanes phase by phase, each wavefront one word of each bank.
std::int64_t served(const std::vector<std::int64_t>& addresses, std::int64_t access_bytes) {
  std::int64_t fronts = 0;
  const std::size_t lanes = access_bytes <= 4 ? 32 : access_bytes == 8 ? 16 : 8;
  for (std::size_t begin = 0; begin < addresses.size(); begin += lanes) {
    std::set<std::int64_t> waiting;
    for (std::size_t i = begin; i < std::min(begin + lanes, addresses.size()); ++i)
      for (std::int64_t byte = addresses[i]; byte < addresses[i] + access_bytes; ++byte)
        waiting.insert(byte / 4);
    while (!waiting.empty()) {
      ++fronts;
      std::set<std::int64_t> busy;
      std::erase_if(waiting, [&](std::int64_t word) { return busy.insert(word % 32).second; });
    }
  }
  return fronts;
}

}  // namespace

TEST_SUITE_BEGIN("bank conflicts");

TEST_CASE("known cases") {
  // A warp reads a column of a row-major 32 x 32 tile of f32: all in one bank. A row, or a padded tile: none.
  BankUse column = use("(32,32):(32,1)", 4, 4);
  CHECK(column.accesses == 32);
  CHECK(column.wavefronts == 32 * 32);
  CHECK(column.least == 32);
  CHECK(column.worst == 32);
  CHECK(column.where == "warp 0, values 0 to 0, lanes 0 to 31");
  CHECK(use("(32,32):(1,32)", 4, 4).conflicts() == 0);
  CHECK(use("(32,32):(33,1)", 4, 4).conflicts() == 0);
  CHECK(use("(32,32):(33,1)", 4, 4).worst == 1);
  CHECK(use("(32,32):(33,1)", 4, 4).where.empty());
  // All lanes read one word: a broadcast.
  const BankUse broadcast = use("(32,1):(0,1)", 4, 4);
  CHECK(broadcast.wavefronts == 1);
  CHECK(broadcast.least == 1);
  // Two lanes for each word: 16-bit elements side by side.
  CHECK(use("(32,1):(1,0)", 2, 2).wavefronts == 1);
  CHECK(use("(32,1):(2,0)", 2, 2).wavefronts == 1);
  CHECK(use("(32,1):(4,0)", 2, 2).wavefronts == 2);
  // Rows of 128 bytes by 16-byte vectors, each lane a row: 8 lanes of a phase in four banks, and with the
  // swizzle none.
  const BankUse straight = use("(32,64):(64,1)", 2, 16);
  CHECK(straight.accesses == 8);
  CHECK(straight.least == 8 * 4);
  CHECK(straight.wavefronts == 8 * 4 * 8);
  CHECK(straight.worst == 8);
  CHECK(use("Sw<3,3,3> o (32,64):(64,1)", 2, 16).conflicts() == 0);
  CHECK(use("Sw<3,4,3> o (32,128):(128,1)", 1, 16).conflicts() == 0);
  CHECK(use("Sw<2,3,3> o (32,64):(64,1)", 2, 16).worst == 2);
  // Contiguous vectors need their phases and no more.
  CHECK(use("(32,4):(4,1)", 4, 16).wavefronts == 4);
  CHECK(use("(32,2):(2,1)", 4, 8).wavefronts == 2);
  CHECK(use("(32,2):(2,1)", 4, 8).conflicts() == 0);
  CHECK(use("(64,4):(4,1)", 4, 16).accesses == 2);
  CHECK(use("(8,4):(4,1)", 4, 16).wavefronts == 1);
}

TEST_CASE("fragments and tiles") {
  // An accumulator's pairs into rows of 512 bytes: the 8 rows of a quad column meet in the same banks.
  CHECK(use("mma_m16n8_c(16,128)", "row_major(16,128)", 4, 8).worst == 4);
  CHECK(use("mma_m16n8_c(16,128)", "row_major(16,128,136)", 4, 8).conflicts() == 0);
  // ldmatrix reads rows of 16 bytes of operand tiles as TMA leaves them.
  CHECK(use("matrix_rows(32,8)", "row_major(32,8,64)", 2, 16).worst == 8);
  CHECK(use("(32,8):(64,1)", "wgmma_k_major(32,64,16,128)", 2, 16).conflicts() == 0);
  const Layout small = read("row_major(8,8)");
  CHECK(byte_addresses(read("mma_m16n8_c(16,8)"), small, 4).error ==
        "the fragment holds element 64, the tile ends at 63");
}

TEST_CASE("vector width") {
  CHECK(widest("(32,8):(8,1)", 2) == 16);
  CHECK(widest("(32,8):(8,1)", 4) == 16);
  CHECK(widest("(32,4):(4,1)", 2) == 8);
  CHECK(widest("(32,4):(5,1)", 4) == 4);  // rows begin at odd words
  CHECK(widest("(32,4):(6,1)", 4) == 8);
  CHECK(widest("(32,4):(1,32)", 4) == 4);         // neighbouring values lie apart
  CHECK(widest("(32,(2,2)):(4,(2,1))", 4) == 4);  // side by side, in another order than the registers
  CHECK(widest("(32,3):(4,1)", 4) == 4);          // no group of two fits three values
  CHECK(widest("Sw<3,3,3> o (32,64):(64,1)", 2) == 16);
  CHECK(widest("Sw<3,2,4> o (32,64):(64,1)", 2) == 8);
  CHECK(widest("(32,2):(2,1)", 8) == 16);
}

TEST_CASE("faults") {
  const std::vector<std::int64_t> addresses = {0, 4, 8, 12};
  CHECK(bank_use(addresses, 3, 4, 4).error == "4 addresses are not of threads with 3 values");
  CHECK(bank_use(addresses, 2, 3, 4).error == "an element of 3 bytes is none of 1, 2, 4, 8, 16");
  CHECK(bank_use(addresses, 2, 4, 32).error == "an access of 32 bytes is none of 4 to 16");
  CHECK(bank_use(addresses, 2, 4, 2).error == "an access of 2 bytes is none of 4 to 16");
  CHECK(bank_use(addresses, 2, 4, 16).error == "groups of 4 values are not each 16 aligned bytes");
  CHECK(bank_use(std::vector<std::int64_t>{-4}, 1, 4, 4).error == "the address -4 is below the tile");
  CHECK(byte_addresses(read("2:1099511627776"), 4).value->back() == std::int64_t{1} << 42);
  CHECK(byte_addresses(read("3:1099511627776"), 4).error == "the offset 2199023255552 is more than 2^40");
  CHECK(bank_use({}, 1, 4, 4).error == "0 addresses are not of threads with 1 values");
  CHECK(vector_bytes(addresses, 3, 4) == 0);
  CHECK(vector_bytes(std::vector<std::int64_t>{2}, 1, 4) == 0);
}

TEST_CASE("random addresses against serving lanes one wavefront after another") {
  Generator draw(10);
  for (int round = 0; round < 3000; ++round) {
    const std::int64_t access = std::int64_t{1} << draw.below(5), spread = 1 + draw.below(200);
    std::vector<std::int64_t> addresses;
    const std::int64_t lanes = draw.below(4) == 0 ? 1 + draw.below(31) : 32;
    for (std::int64_t lane = 0; lane < lanes; ++lane) addresses.push_back(draw.below(spread) * access);
    const Result<BankUse> found = bank_use(addresses, 1, access, access);
    REQUIRE(found);
    REQUIRE(found->accesses == 1);
    REQUIRE(found->wavefronts == served(addresses, access));
    REQUIRE(found->least <= found->wavefronts);
  }
}

TEST_SUITE_END();

}  // namespace pipelink::layout
