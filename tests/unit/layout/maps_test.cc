// The named maps against their instructions' definitions, written out as row and column of (lane, register).
#include "packager/layout/maps.h"

#include <doctest/doctest.h>

#include <functional>
#include <set>

#include "packager/layout/cover.h"
#include "tests/unit/layout/support.h"

namespace pipelink::layout {
namespace {

struct Place {
  std::int64_t row, column;
};

/// `map` has threads x values, and value v of thread t is where `where` says in a tile of `columns`.
void holds(std::string_view map, std::int64_t threads, std::int64_t values, std::int64_t columns,
           const std::function<Place(std::int64_t t, std::int64_t v)>& where) {
  CAPTURE(map);
  const Layout layout = read(map);
  REQUIRE(layout.threads() == threads);
  REQUIRE(layout.values() == values);
  for (std::int64_t t = 0; t < threads; ++t)
    for (std::int64_t v = 0; v < values; ++v) {
      const Place place = where(t, v);
      CAPTURE(t);
      CAPTURE(v);
      REQUIRE(layout(t, v) == place.row * columns + place.column);
    }
}

/// Byte offset of (row, column) in memory, from the definition.
void lies(std::string_view map, std::int64_t rows, std::int64_t columns, std::int64_t bytes,
          const std::function<std::int64_t(std::int64_t row, std::int64_t column)>& where) {
  CAPTURE(map);
  const Layout layout = read(map);
  REQUIRE(layout.rank() == 2);
  REQUIRE(layout.size(0) == rows);
  REQUIRE(layout.size(1) == columns);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t c = 0; c < columns; ++c) {
      CAPTURE(r);
      CAPTURE(c);
      REQUIRE(layout(r, c) * bytes == where(r, c));
    }
  CHECK(injective_fault(layout).empty());
}

/// The 16-byte unit of an address is XORed with the bits 3 above it.
std::int64_t twist(std::int64_t address, std::int64_t swizzle_bytes) {
  const std::int64_t unit = address / 16 % (swizzle_bytes / 16), row = address / 128 % (swizzle_bytes / 16);
  return address - unit * 16 + (unit ^ row) * 16;
}

}  // namespace

TEST_SUITE_BEGIN("named maps");

TEST_CASE("the table: names once, examples that read, faults that name the argument") {
  std::set<std::string_view> names;
  for (const NamedMap& map : named_maps()) {
    CAPTURE(map.name);
    CHECK(names.insert(map.name).second);
    CHECK(map.example.substr(0, map.name.size() + 1) == std::string(map.name) + "(");
    const Layout example = read(map.example);
    CHECK(example.rank() == 2);
    CHECK(parse_layout(std::string(map.name) + "(7)").error ==
          "column 1: " + std::string(map.name) + " takes (" + std::string(map.arguments) + ")");
    // Whatever the arguments are: a layout or a fault.
    Generator draw(9);
    for (int round = 0; round < 300; ++round) {
      std::string call(map.name);
      const auto count = static_cast<std::int64_t>(map.least) +
                         draw.below(static_cast<std::int64_t>(map.most - map.least + 1));
      for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t value =
            draw.one_of(std::vector<std::int64_t>{0, 1, 2, 4, 7, 8, 16, 24, 32, 64, 128, 256, 4194304});
        call += (i == 0 ? "(" : ",") + std::to_string(value);
      }
      const Result<Layout> made = parse_layout(call + ")");
      CAPTURE(call);
      CHECK(made.value.has_value() == made.error.empty());
    }
  }
  CHECK(find_map("wgmma") == nullptr);
}

TEST_CASE("accumulators") {
  const auto quad = [](std::int64_t lane, std::int64_t v) {
    return Place{lane / 4 + v / 2 % 2 * 8, v / 4 * 8 + lane % 4 * 2 + v % 2};
  };
  holds("mma_m16n8_c(16,8)", 32, 4, 8, quad);
  holds("mma_m16n8_c(16,64)", 32, 32, 64, quad);
  holds("wgmma_accumulator(64,256)", 128, 128, 256, [&](std::int64_t t, std::int64_t v) {
    const Place place = quad(t % 32, v);
    return Place{t / 32 * 16 + place.row, place.column};
  });
  // Two instructions of m64n128 one below the other.
  holds("wgmma_accumulator(128,128)", 128, 128, 128, [&](std::int64_t t, std::int64_t v) {
    const Place place = quad(t % 32, v % 64);
    return Place{v / 64 * 64 + t / 32 * 16 + place.row, place.column};
  });
  holds("wgmma_accumulator(128,128,2)", 256, 64, 128, [&](std::int64_t t, std::int64_t v) {
    const Place place = quad(t % 32, v);
    return Place{t / 32 * 16 + place.row, place.column};
  });
  // acc[4][8][4] of each of 2 x 2 warps.
  holds("mma_m16n8_c(128,128,2,2)", 128, 128, 128, [&](std::int64_t t, std::int64_t v) {
    const std::int64_t warp = t / 32, i = v / 4 / 8, j = v / 4 % 8;
    const Place place = quad(t % 32, v % 4);
    return Place{warp % 2 * 64 + i * 16 + place.row, warp / 2 * 64 + j * 8 + place.column};
  });
  holds("mma_m16n8_c(128,128,2,2,1)", 128, 128, 128, [&](std::int64_t t, std::int64_t v) {
    const std::int64_t warp = t / 32, i = v / 4 / 8, j = v / 4 % 8;
    const Place place = quad(t % 32, v % 4);
    return Place{i * 32 + warp % 2 * 16 + place.row, j * 16 + warp / 2 * 8 + place.column};
  });
}

TEST_CASE("operands of mma.sync") {
  struct Kind {
    const char* name;
    std::int64_t bits, k;
  };
  for (const Kind& kind :
       {Kind{"k16", 16, 16}, Kind{"k8", 16, 8}, Kind{"k8_tf32", 32, 8}, Kind{"k4_tf32", 32, 4},
        Kind{"k32", 8, 32}, Kind{"k16_b8", 8, 16}, Kind{"k64", 4, 64}}) {
    const std::int64_t in_register = 32 / kind.bits;
    const std::string k = std::to_string(kind.k);
    const std::string a = "mma_m16n8" + std::string(kind.name) + "_a",
                      b = "mma_m16n8" + std::string(kind.name) + "_b";
    const auto place = [&](std::int64_t lane, std::int64_t row, std::int64_t half, std::int64_t element) {
      return Place{lane / 4 + row * 8, half * 4 * in_register + lane % 4 * in_register + element};
    };
    holds(a + "(16," + k + ")", 32, 16 * kind.k / 32, kind.k, [&](std::int64_t t, std::int64_t v) {
      const std::int64_t r = v / in_register;  // registers: two rows, then the second half of k
      return place(t, r % 2, r / 2, v % in_register);
    });
    holds(b + "(8," + k + ")", 32, 8 * kind.k / 32, kind.k,
          [&](std::int64_t t, std::int64_t v) { return place(t, 0, v / in_register, v % in_register); });
    // A tile of 2 x 2 warps: each half of A is in the two warps across, each half of B in the two warps down.
    const std::string deep = std::to_string(2 * kind.k);
    holds(a + "(64," + deep + ",2,2)", 128, 64 * 2 * kind.k / 64, 2 * kind.k,
          [&](std::int64_t t, std::int64_t v) {
            const std::int64_t each = 16 * kind.k / 32, tile = v / each, r = v % each / in_register;
            Place p = place(t % 32, r % 2, r / 2, v % in_register);
            return Place{t / 32 % 2 * 32 + tile / 2 * 16 + p.row, tile % 2 * kind.k + p.column};
          });
    holds(b + "(32," + deep + ",2,2)", 128, 32 * 2 * kind.k / 64, 2 * kind.k,
          [&](std::int64_t t, std::int64_t v) {
            const std::int64_t each = 8 * kind.k / 32, tile = v / each;
            Place p = place(t % 32, 0, v % each / in_register, v % in_register);
            return Place{t / 64 * 16 + tile / 2 * 8 + p.row, tile % 2 * kind.k + p.column};
          });
    CHECK(cover_fault(read(a + "(64," + deep + ",2,2)"), 64 * 2 * kind.k, 2).empty());
    CHECK(cover_fault(read(b + "(32," + deep + ",2,2)"), 32 * 2 * kind.k, 2).empty());
  }
  holds("wgmma_a(64,32,16)", 128, 16, 32, [](std::int64_t t, std::int64_t v) {
    const std::int64_t r = v % 8 / 2;
    return Place{t / 32 * 16 + t % 32 / 4 + r % 2 * 8, v / 8 * 16 + r / 2 * 8 + t % 4 * 2 + v % 2};
  });
}

TEST_CASE("matrices of 8 x 8") {
  for (const std::string instruction : {"ldmatrix", "stmatrix"}) {
    holds(instruction + "_x1(8,8)", 32, 2, 8, [](std::int64_t t, std::int64_t v) {
      return Place{t / 4, t % 4 * 2 + v};
    });
    holds(instruction + "_x1_trans(8,8)", 32, 2, 8, [](std::int64_t t, std::int64_t v) {
      return Place{t % 4 * 2 + v, t / 4};
    });
    holds(instruction + "_x4(16,16)", 32, 8, 16, [](std::int64_t t, std::int64_t v) {
      return Place{v / 2 % 2 * 8 + t / 4, v / 4 * 8 + t % 4 * 2 + v % 2};
    });
    holds(instruction + "_x2_trans(8,16)", 32, 4, 16, [](std::int64_t t, std::int64_t v) {
      return Place{t % 4 * 2 + v % 2, v / 2 * 8 + t / 4};
    });
    CHECK(parse_layout(instruction + "_x4(16,8)").error ==
          "column 1: " + instruction + "_x4(16,8): 2 matrices of 8 x 8 are not a multiple of 4");
  }
  holds("stmatrix_m16n8_x1(8,16)", 32, 4, 16, [](std::int64_t t, std::int64_t v) {
    return Place{t % 4 * 2 + v % 2, t / 4 + v / 2 * 8};
  });
  holds("stmatrix_m16n8_x4(16,32)", 32, 16, 32, [](std::int64_t t, std::int64_t v) {
    return Place{v / 4 % 2 * 8 + t % 4 * 2 + v % 2, v / 8 * 16 + t / 4 + v / 2 % 2 * 8};
  });
  CHECK(parse_layout("stmatrix_m16n8_x2(8,16)").error ==
        "column 1: stmatrix_m16n8_x2(8,16): 1 matrices of 8 x 16 are not a multiple of 2");
  // x4 gives what operand A wants.
  CHECK(same_function(read("ldmatrix_x4(16,16)"), read("mma_m16n8k16_a(16,16)")));
  CHECK(same_function(read("stmatrix_x2(16,8)"), read("mma_m16n8_c(16,8)")));
  holds("matrix_rows(16,16)", 32, 8, 16, [](std::int64_t t, std::int64_t v) {
    return Place{t % 16, t / 16 * 8 + v};
  });
}

TEST_CASE("tensor memory") {
  holds("tcgen05_32x32b(128,64,4)", 128, 64, 64, [](std::int64_t t, std::int64_t v) { return Place{t, v}; });
  holds("tcgen05_32x32b(32,8,1,16)", 32, 8, 8, [](std::int64_t t, std::int64_t v) { return Place{t, v}; });
  holds("tcgen05_16x32bx2(16,8)", 32, 4, 8, [](std::int64_t t, std::int64_t v) {
    return Place{t % 16, t / 16 * 4 + v};
  });
  holds("tcgen05_16x32bx2(128,16,4,16)", 128, 16, 16, [](std::int64_t t, std::int64_t v) {
    return Place{t / 32 * 32 + v / 8 * 16 + t % 16, t % 32 / 16 * 8 + v % 8};
  });
  CHECK(parse_layout("tcgen05_16x32bx2(16,3)").error ==
        "column 1: tcgen05_16x32bx2(16,3): 96 bits of a lane are not a multiple of 64");
  holds("tcgen05_16x64b(16,8)", 32, 4, 8, [](std::int64_t t, std::int64_t v) {
    return Place{t / 4 + t % 2 * 8, t / 2 % 2 + v * 2};
  });
  holds("tcgen05_16x128b(16,8)", 32, 4, 8, [](std::int64_t t, std::int64_t v) {
    return Place{t / 4 + v % 2 * 8, t % 4 + v / 2 * 4};
  });
  holds("tcgen05_16x256b(16,16)", 32, 8, 16, [](std::int64_t t, std::int64_t v) {
    return Place{t / 4 + v / 2 % 2 * 8, t % 4 * 2 + v % 2 + v / 4 * 8};
  });
  // The lanes 16 to 31 of each warp by a second instruction.
  holds("tcgen05_16x256b(128,64,4)", 128, 64, 64, [](std::int64_t t, std::int64_t v) {
    const std::int64_t w = v % 32;
    return Place{t / 32 * 32 + v / 32 * 16 + t % 32 / 4 + w / 2 % 2 * 8, w / 4 * 8 + t % 4 * 2 + w % 2};
  });
  CHECK(parse_layout("tcgen05_32x32b(256,64,4)").error ==
        "column 1: tcgen05_32x32b(256,64,4): 256 lanes are not up to 32 for each of 4 warps");
}

TEST_CASE("tiles in shared memory") {
  lies("row_major(8,64,72)", 8, 64, 2, [](std::int64_t r, std::int64_t c) { return (r * 72 + c) * 2; });
  lies("column_major(8,64)", 8, 64, 4, [](std::int64_t r, std::int64_t c) { return (r + c * 8) * 4; });
  lies("tma_box(16,24,32,0)", 16, 24, 4, [](std::int64_t r, std::int64_t c) { return (r * 24 + c) * 4; });
  for (const std::int64_t swizzle : {32, 64, 128})
    for (const std::int64_t bits : {8, 16, 32}) {
      const std::int64_t bytes = bits / 8, width = swizzle / bytes, columns = 2 * width;
      const std::string arguments = "," + std::to_string(bits) + "," + std::to_string(swizzle) + ")";
      const auto strip = [&](std::int64_t r, std::int64_t c, std::int64_t rows) {
        return twist((c / width * rows * width + r * width + c % width) * bytes, swizzle);
      };
      const auto k_contiguous = [&](std::int64_t r, std::int64_t c) { return strip(r, c, 24); };
      lies("tma_box(24," + std::to_string(columns) + arguments, 24, columns, bytes, k_contiguous);
      lies("wgmma_k_major(24," + std::to_string(columns) + arguments, 24, columns, bytes, k_contiguous);
      lies("wgmma_mn_major(" + std::to_string(columns) + ",16" + arguments, columns, 16, bytes,
           [&](std::int64_t r, std::int64_t c) { return strip(c, r, 16); });
    }
  // Atoms of 32 bytes: four of them, moved by the row modulo 4.
  for (const std::int64_t bits : {16, 32}) {
    const std::int64_t bytes = bits / 8, width = 128 / bytes;
    const std::string arguments = "," + std::to_string(bits) + ",128,32)";
    const auto strip = [&](std::int64_t r, std::int64_t c) {
      const std::int64_t byte = (c / width * 16 * width + r * width + c % width) * bytes;
      return byte ^ (byte / 128 % 4 * 32);
    };
    lies("tma_box(16," + std::to_string(2 * width) + arguments, 16, 2 * width, bytes, strip);
    lies("wgmma_mn_major(" + std::to_string(2 * width) + ",16" + arguments, 2 * width, 16, bytes,
         [&](std::int64_t r, std::int64_t c) { return strip(c, r); });
  }
  CHECK(parse_layout("tma_box(8,32,16,64,32)").error ==
        "column 1: tma_box(8,32,16,64,32): atoms of 32 bytes are neither 16 nor, with a swizzle of 128 "
        "bytes, 32");
  // Core matrices of 8 rows of 16 bytes.
  lies("wgmma_k_major(16,32,16,0)", 16, 32, 2,
       [](std::int64_t r, std::int64_t c) { return c / 8 * 16 * 16 + r * 16 + c % 8 * 2; });
  CHECK(parse_layout("tma_box(8,40,16,128)").error ==
        "column 1: tma_box(8,40,16,128): 40 elements along the contiguous side are not a multiple of 64");
  CHECK(parse_layout("tma_box(8,64,16,100)").error ==
        "column 1: tma_box(8,64,16,100): a swizzle of 100 bytes is none of 0, 32, 64, 128");
}

TEST_SUITE_END();

}  // namespace pipelink::layout
