#include "packager/layout/maps.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>
#include <utility>
#include <vector>

namespace pipelink::layout {
namespace {

using Arguments = std::span<const std::int64_t>;
using Made = Result<Layout>;

/// `count` steps, each so many rows down and columns right.
struct Step {
  std::int64_t count, rows, columns;
};

/// What one instruction's fragment holds of rows x columns: the steps of lanes (or threads of a warpgroup)
/// and of a thread's values, leftmost fastest.
struct Fragment {
  std::int64_t rows, columns;
  std::vector<Step> lanes, values;
};

/// A tile of several fragments. Fragments of one warp follow each other as in the array
/// [row of fragments][column of fragments][values]; `down` turns the first two around.
struct Tiling {
  std::int64_t rows, columns;
  std::int64_t warps_down = 1, warps_across = 1;     ///< warps run down the tile first
  std::int64_t copies_before = 1, copies_after = 1;  ///< warps that hold the same, before or after the others
  bool interleaved = false;                          ///< neighbouring fragments belong to neighbouring warps
  bool down = false;
};

std::int64_t argument(Arguments arguments, std::size_t i, std::int64_t otherwise) {
  return i < arguments.size() ? arguments[i] : otherwise;
}

std::string range_fault(Arguments arguments) {
  for (const std::int64_t value : arguments)
    if (value < 0 || value > kMaxSize) return fmt::format("{} is not between 0 and {}", value, kMaxSize);
  return {};
}

std::string multiple_fault(std::int64_t value, std::int64_t unit, std::string_view what) {
  if (unit > 0 && value > 0 && value % unit == 0) return {};
  return fmt::format("{} {} are not a multiple of {}", value, what, unit);
}

/// Extents of 1 say nothing.
Mode mode_of(const std::vector<Step>& steps, std::int64_t pitch) {
  std::vector<Mode> out;
  for (const Step& step : steps)
    if (step.count != 1) out.emplace_back(step.count, step.rows * pitch + step.columns);
  if (out.empty()) return {1, 0};
  return out.size() == 1 ? out.front() : Mode(std::move(out));
}

/// (thread, value) → row-major index of the tile.
Made tiled(Fragment fragment, const Tiling& t) {
  std::string fault = multiple_fault(t.rows, fragment.rows * t.warps_down, "rows");
  if (fault.empty()) fault = multiple_fault(t.columns, fragment.columns * t.warps_across, "columns");
  if (!fault.empty()) return Made::fault(std::move(fault));
  const std::int64_t down = t.rows / fragment.rows / t.warps_down;
  const std::int64_t across = t.columns / fragment.columns / t.warps_across;
  const std::int64_t next_row = fragment.rows * (t.interleaved ? t.warps_down : 1);
  const std::int64_t next_column = fragment.columns * (t.interleaved ? t.warps_across : 1);
  const std::int64_t warp_row = fragment.rows * (t.interleaved ? 1 : down);
  const std::int64_t warp_column = fragment.columns * (t.interleaved ? 1 : across);
  fragment.lanes.push_back({t.copies_before, 0, 0});
  fragment.lanes.push_back({t.warps_down, warp_row, 0});
  fragment.lanes.push_back({t.warps_across, 0, warp_column});
  fragment.lanes.push_back({t.copies_after, 0, 0});
  const Step rows{down, next_row, 0}, columns{across, 0, next_column};
  fragment.values.push_back(t.down ? rows : columns);
  fragment.values.push_back(t.down ? columns : rows);
  return checked(Mode({mode_of(fragment.lanes, t.columns), mode_of(fragment.values, t.columns)}));
}

// ---- matrix instructions

/// Lane l holds row l/4 and two neighbouring columns, and the same 8 rows below.
Fragment accumulator() {
  return {16, 8, {{4, 0, 2}, {8, 1, 0}}, {{2, 0, 1}, {2, 8, 0}}};
}

/// Of the operand whose rows are kept: registers hold a row, the row 8 below, and both again further along k.
/// `elements` of a register, which is 32 bits; `deep`: the second half of k is there.
Fragment operand_a(std::int64_t elements, bool deep) {
  Fragment out{16, 4 * elements, {{4, 0, elements}, {8, 1, 0}}, {{elements, 0, 1}, {2, 8, 0}}};
  if (deep) {
    out.values.push_back({2, 0, 4 * elements});
    out.columns *= 2;
  }
  return out;
}

/// Of the other operand as n x k.
Fragment operand_b(std::int64_t elements, bool deep) {
  Fragment out{8, 4 * elements, {{4, 0, elements}, {8, 1, 0}}, {{elements, 0, 1}}};
  if (deep) {
    out.values.push_back({2, 0, 4 * elements});
    out.columns *= 2;
  }
  return out;
}

/// A warpgroup: four warps below each other.
Fragment of_warpgroup(Fragment fragment) {
  fragment.lanes.push_back({4, fragment.rows, 0});
  fragment.rows *= 4;
  return fragment;
}

Tiling grid_of_warps(Arguments a) {
  return {.rows = a[0],
          .columns = a[1],
          .warps_down = argument(a, 2, 1),
          .warps_across = argument(a, 3, 1),
          .interleaved = argument(a, 4, 0) != 0};
}

Made mma_c(Arguments a) {
  return tiled(accumulator(), grid_of_warps(a));
}

template <std::int64_t kElements, bool kDeep>
Made mma_a(Arguments a) {
  Tiling tiling = grid_of_warps(a);
  tiling.copies_after = std::exchange(tiling.warps_across, 1);
  return tiled(operand_a(kElements, kDeep), tiling);
}

template <std::int64_t kElements, bool kDeep>
Made mma_b(Arguments a) {
  Tiling tiling = grid_of_warps(a);
  tiling.copies_before = std::exchange(tiling.warps_down, std::exchange(tiling.warps_across, 1));
  return tiled(operand_b(kElements, kDeep), tiling);
}

Made wgmma_accumulator(Arguments a) {
  return tiled(of_warpgroup(accumulator()), {.rows = a[0], .columns = a[1], .warps_down = argument(a, 2, 1)});
}

std::string bits_fault(std::int64_t bits, std::int64_t most) {
  if (bits >= 4 && bits <= most && std::has_single_bit(static_cast<std::uint64_t>(bits))) return {};
  return fmt::format("an element of {} bits is none of 4 to {}", bits, most);
}

Made wgmma_a(Arguments a) {
  if (std::string fault = bits_fault(a[2], 32); !fault.empty()) return Made::fault(std::move(fault));
  return tiled(of_warpgroup(operand_a(32 / a[2], true)),
               {.rows = a[0], .columns = a[1], .warps_down = argument(a, 3, 1)});
}

// ---- copies

/// 8x8 elements of 16 bits, matrices below each other first.
template <std::int64_t kMatrices, bool kTransposed>
Made matrices(Arguments a) {
  const Fragment straight{8, 8, {{4, 0, 2}, {8, 1, 0}}, {{2, 0, 1}}};
  const Fragment transposed{8, 8, {{4, 2, 0}, {8, 0, 1}}, {{2, 1, 0}}};
  if (std::string fault = multiple_fault(a[0] * a[1] / 64, kMatrices, "matrices of 8 x 8"); !fault.empty())
    return Made::fault(std::move(fault));
  return tiled(kTransposed ? transposed : straight,
               {.rows = a[0], .columns = a[1], .warps_down = argument(a, 2, 1), .down = true});
}

/// 8 rows of 16 bytes in memory, 16 x 8 elements of 8 bits for who stores them; below each other first.
template <std::int64_t kMatrices>
Made byte_matrices(Arguments a) {
  const Fragment transposed{8, 16, {{4, 2, 0}, {8, 0, 1}}, {{2, 1, 0}, {2, 0, 8}}};
  if (std::string fault = multiple_fault(a[0] * a[1] / 128, kMatrices, "matrices of 8 x 16"); !fault.empty())
    return Made::fault(std::move(fault));
  return tiled(transposed, {.rows = a[0], .columns = a[1], .warps_down = argument(a, 2, 1), .down = true});
}

/// The row of 8 elements whose address a lane gives.
Made matrix_rows(Arguments a) {
  std::string fault = multiple_fault(a[0], 8, "rows");
  if (fault.empty()) fault = multiple_fault(a[1], 8, "columns");
  if (fault.empty() && a[0] * a[1] > 256)
    fault = fmt::format("{} x {} is more than four matrices", a[0], a[1]);
  if (!fault.empty()) return Made::fault(std::move(fault));
  return checked(Mode({mode_of({{a[0], 1, 0}, {a[1] / 8, 0, 8}}, a[1]), Mode(8, 1)}));
}

/// Of tensor memory by warps: each of them reaches 32 lanes, below those of the one before.
Made tensor_memory(Arguments a, std::int64_t lanes, const std::vector<Step>& threads,
                   const std::vector<Step>& registers, std::int64_t columns) {
  const std::int64_t warps = argument(a, 2, 1), bits = argument(a, 3, 32);
  if (std::string fault = bits_fault(bits, 32); !fault.empty()) return Made::fault(std::move(fault));
  if (warps < 1 || a[0] % warps != 0 || a[0] / warps > 32)
    return Made::fault(fmt::format("{} lanes are not up to 32 for each of {} warps", a[0], warps));
  const std::int64_t elements = 32 / bits;  // of a register
  Fragment fragment{lanes, columns * elements, {}, {{elements, 0, 1}}};
  for (const Step& s : threads) fragment.lanes.push_back({s.count, s.rows, s.columns * elements});
  for (const Step& s : registers) fragment.values.push_back({s.count, s.rows, s.columns * elements});
  return tiled(std::move(fragment), {.rows = a[0], .columns = a[1], .warps_down = warps});
}

Made tcgen05_32x32b(Arguments a) {
  return tensor_memory(a, 32, {{32, 1, 0}}, {}, 1);
}
/// The second half of the threads has the second half of the columns: where that begins is the instruction's
/// immediate.
Made tcgen05_16x32bx2(Arguments a) {
  const std::int64_t bits = argument(a, 3, 32);
  if (std::string fault = bits_fault(bits, 32); !fault.empty()) return Made::fault(std::move(fault));
  if (std::string fault = multiple_fault(a[1] * bits, 64, "bits of a lane"); !fault.empty())
    return Made::fault(std::move(fault));
  const std::int64_t half = a[1] * bits / 64;
  return tensor_memory(a, 16, {{16, 1, 0}, {2, 0, half}}, {{half, 0, 1}}, 2 * half);
}
Made tcgen05_16x64b(Arguments a) {
  return tensor_memory(a, 16, {{2, 8, 0}, {2, 0, 1}, {8, 1, 0}}, {}, 2);
}
Made tcgen05_16x128b(Arguments a) {
  return tensor_memory(a, 16, {{4, 0, 1}, {8, 1, 0}}, {{2, 8, 0}}, 4);
}
Made tcgen05_16x256b(Arguments a) {
  return tensor_memory(a, 16, {{4, 0, 2}, {8, 1, 0}}, {{2, 0, 1}, {2, 8, 0}}, 8);
}

// ---- tiles in shared memory: (row, column) → offset in elements

Made row_major(Arguments a) {
  const std::int64_t pitch = argument(a, 2, a[1]);
  if (pitch < a[1]) return Made::fault(fmt::format("a pitch of {} is less than {} columns", pitch, a[1]));
  return checked(Mode({Mode(a[0], pitch), Mode(a[1], 1)}));
}

Made column_major(Arguments a) {
  const std::int64_t pitch = argument(a, 2, a[0]);
  if (pitch < a[0]) return Made::fault(fmt::format("a pitch of {} is less than {} rows", pitch, a[0]));
  return checked(Mode({Mode(a[0], 1), Mode(a[1], pitch)}));
}

/// Columns in strips of `bytes`, each with all rows below each other; within a strip, `atom` bytes are moved
/// by the row modulo the strip's width in atoms, as the hardware does with 8 rows, or 4 of atoms of 32 bytes.
struct Strips {
  Mode rows, columns;
  Swizzle swizzle;
};

Result<Strips> strips(std::int64_t rows, std::int64_t columns, std::int64_t bits, std::int64_t bytes,
                      std::int64_t swizzle, std::int64_t atom) {
  std::string fault = bits_fault(bits, 64);
  if (fault.empty() && rows < 1) fault = "no rows";
  if (fault.empty()) fault = multiple_fault(columns, bytes * 8 / bits, "elements along the contiguous side");
  if (!fault.empty()) return Result<Strips>::fault(std::move(fault));
  const std::int64_t width = bytes * 8 / bits;
  Strips out{Mode(rows, width), Mode(width, 1), {}};
  if (columns > width) out.columns = Mode({Mode(width, 1), Mode(columns / width, rows * width)});
  if (swizzle != 0)
    out.swizzle = {std::countr_zero(static_cast<std::uint64_t>(swizzle / atom)),
                   std::countr_zero(static_cast<std::uint64_t>(atom * 8 / bits)),
                   std::countr_zero(static_cast<std::uint64_t>(128 / atom))};
  return out;
}

std::string swizzle_fault(std::int64_t bytes, std::int64_t atom = 16) {
  if (bytes != 0 && bytes != 32 && bytes != 64 && bytes != 128)
    return fmt::format("a swizzle of {} bytes is none of 0, 32, 64, 128", bytes);
  if (atom == 16 || (atom == 32 && bytes == 128)) return {};
  return fmt::format("atoms of {} bytes are neither 16 nor, with a swizzle of 128 bytes, 32", atom);
}

Made tma_box(Arguments a) {
  const std::int64_t atom = argument(a, 4, 16);
  if (std::string fault = swizzle_fault(a[3], atom); !fault.empty()) return Made::fault(std::move(fault));
  if (a[3] == 0) return row_major(a.first(2));
  const Result<Strips> s = strips(a[0], a[1], a[2], a[3], a[3], atom);
  if (!s) return Made::fault(s.error);
  return checked(Mode({s->rows, s->columns}), s->swizzle);
}

Made k_major(Arguments a) {
  if (std::string fault = swizzle_fault(a[3]); !fault.empty()) return Made::fault(std::move(fault));
  const Result<Strips> s = strips(a[0], a[1], a[2], std::max<std::int64_t>(a[3], 16), a[3], 16);
  if (!s) return Made::fault(s.error);
  return checked(Mode({s->rows, s->columns}), s->swizzle);
}

Made mn_major(Arguments a) {
  const std::int64_t atom = argument(a, 4, 16);
  if (std::string fault = swizzle_fault(a[3], atom); !fault.empty()) return Made::fault(std::move(fault));
  const Result<Strips> s = strips(a[1], a[0], a[2], std::max<std::int64_t>(a[3], 16), a[3], atom);
  if (!s) return Made::fault(s.error);
  return checked(Mode({s->columns, s->rows}), s->swizzle);
}

/// The arguments are within bounds before a map sees them.
template <Made (*kMake)(Arguments)>
Made bounded(Arguments arguments) {
  std::string fault = range_fault(arguments);
  return fault.empty() ? kMake(arguments) : Made::fault(std::move(fault));
}

constexpr std::string_view kRegisters = "(thread, value) → element of the tile, row-major";
constexpr std::string_view kMemory = "(row, column) → offset in elements";
constexpr std::string_view kWarps = "m, n, warps_m = 1, warps_n = 1, interleaved = 0";
constexpr std::string_view kWarpsA = "m, k, warps_m = 1, warps_n = 1, interleaved = 0";
constexpr std::string_view kWarpsB = "n, k, warps_m = 1, warps_n = 1, interleaved = 0";
constexpr std::string_view kMatrixTile = "rows, columns, warps = 1";
constexpr std::string_view kLanes = "lanes, columns, warps = 1, bits = 32";

constexpr NamedMap kMaps[] = {
    {"wgmma_accumulator", "m, n, warpgroups = 1", kRegisters,
     "Accumulator of wgmma m64nNk; m in steps of 64, the warpgroups below each other",
     "wgmma_accumulator(64,128)", 2, 3, bounded<wgmma_accumulator>},
    {"wgmma_a", "m, k, bits, warpgroups = 1", kRegisters,
     "Operand A of wgmma in registers, elements of 8, 16 or 32 bits", "wgmma_a(64,16,16)", 3, 4,
     bounded<wgmma_a>},
    {"mma_m16n8_c", kWarps, kRegisters, "Accumulator of mma.sync m16n8, of 32 or 16 bits, whatever k is",
     "mma_m16n8_c(64,128,4)", 2, 5, bounded<mma_c>},
    {"mma_m16n8k16_a", kWarpsA, kRegisters,
     "Operand A of mma.sync m16n8k16, elements of 16 bits; warps along n hold the same",
     "mma_m16n8k16_a(16,16)", 2, 5, bounded<mma_a<2, true>>},
    {"mma_m16n8k16_b", kWarpsB, kRegisters,
     "Operand B of mma.sync m16n8k16 as n x k, elements of 16 bits; warps along m hold the same",
     "mma_m16n8k16_b(8,16)", 2, 5, bounded<mma_b<2, true>>},
    {"mma_m16n8k8_a", kWarpsA, kRegisters,
     "Operand A of mma.sync m16n8k8, elements of 16 bits; warps along n hold the same", "mma_m16n8k8_a(16,8)",
     2, 5, bounded<mma_a<2, false>>},
    {"mma_m16n8k8_b", kWarpsB, kRegisters,
     "Operand B of mma.sync m16n8k8 as n x k, elements of 16 bits; warps along m hold the same",
     "mma_m16n8k8_b(8,8)", 2, 5, bounded<mma_b<2, false>>},
    {"mma_m16n8k8_tf32_a", kWarpsA, kRegisters,
     "Operand A of mma.sync m16n8k8, elements of 32 bits (tf32); warps along n hold the same",
     "mma_m16n8k8_tf32_a(16,8)", 2, 5, bounded<mma_a<1, true>>},
    {"mma_m16n8k8_tf32_b", kWarpsB, kRegisters,
     "Operand B of mma.sync m16n8k8 as n x k, elements of 32 bits (tf32); warps along m hold the same",
     "mma_m16n8k8_tf32_b(8,8)", 2, 5, bounded<mma_b<1, true>>},
    {"mma_m16n8k4_tf32_a", kWarpsA, kRegisters,
     "Operand A of mma.sync m16n8k4, elements of 32 bits (tf32); warps along n hold the same",
     "mma_m16n8k4_tf32_a(16,4)", 2, 5, bounded<mma_a<1, false>>},
    {"mma_m16n8k4_tf32_b", kWarpsB, kRegisters,
     "Operand B of mma.sync m16n8k4 as n x k, elements of 32 bits (tf32); warps along m hold the same",
     "mma_m16n8k4_tf32_b(8,4)", 2, 5, bounded<mma_b<1, false>>},
    {"mma_m16n8k32_a", kWarpsA, kRegisters,
     "Operand A of mma.sync m16n8k32, elements of 8 bits; warps along n hold the same",
     "mma_m16n8k32_a(16,32)", 2, 5, bounded<mma_a<4, true>>},
    {"mma_m16n8k32_b", kWarpsB, kRegisters,
     "Operand B of mma.sync m16n8k32 as n x k, elements of 8 bits; warps along m hold the same",
     "mma_m16n8k32_b(8,32)", 2, 5, bounded<mma_b<4, true>>},
    {"mma_m16n8k16_b8_a", kWarpsA, kRegisters,
     "Operand A of mma.sync m16n8k16, elements of 8 bits; warps along n hold the same",
     "mma_m16n8k16_b8_a(16,16)", 2, 5, bounded<mma_a<4, false>>},
    {"mma_m16n8k16_b8_b", kWarpsB, kRegisters,
     "Operand B of mma.sync m16n8k16 as n x k, elements of 8 bits; warps along m hold the same",
     "mma_m16n8k16_b8_b(8,16)", 2, 5, bounded<mma_b<4, false>>},
    {"mma_m16n8k64_a", kWarpsA, kRegisters,
     "Operand A of mma.sync m16n8k64, elements of 4 bits; warps along n hold the same",
     "mma_m16n8k64_a(16,64)", 2, 5, bounded<mma_a<8, true>>},
    {"mma_m16n8k64_b", kWarpsB, kRegisters,
     "Operand B of mma.sync m16n8k64 as n x k, elements of 4 bits; warps along m hold the same",
     "mma_m16n8k64_b(8,64)", 2, 5, bounded<mma_b<8, true>>},
    {"ldmatrix_x1", kMatrixTile, kRegisters,
     "1 matrix of 8 x 8 elements of 16 bits loaded by ldmatrix.x1; the tile is the one in shared memory",
     "ldmatrix_x1(8,8)", 2, 3, bounded<matrices<1, false>>},
    {"ldmatrix_x1_trans", kMatrixTile, kRegisters,
     "1 matrix of 8 x 8 elements of 16 bits loaded by ldmatrix.x1.trans; the tile is the one in shared "
     "memory",
     "ldmatrix_x1_trans(8,8)", 2, 3, bounded<matrices<1, true>>},
    {"ldmatrix_x2", kMatrixTile, kRegisters,
     "2 matrices of 8 x 8 elements of 16 bits loaded by ldmatrix.x2; the tile is the one in shared memory",
     "ldmatrix_x2(16,8)", 2, 3, bounded<matrices<2, false>>},
    {"ldmatrix_x2_trans", kMatrixTile, kRegisters,
     "2 matrices of 8 x 8 elements of 16 bits loaded by ldmatrix.x2.trans; the tile is the one in shared "
     "memory",
     "ldmatrix_x2_trans(16,8)", 2, 3, bounded<matrices<2, true>>},
    {"ldmatrix_x4", kMatrixTile, kRegisters,
     "4 matrices of 8 x 8 elements of 16 bits loaded by ldmatrix.x4; the tile is the one in shared memory",
     "ldmatrix_x4(16,16)", 2, 3, bounded<matrices<4, false>>},
    {"ldmatrix_x4_trans", kMatrixTile, kRegisters,
     "4 matrices of 8 x 8 elements of 16 bits loaded by ldmatrix.x4.trans; the tile is the one in shared "
     "memory",
     "ldmatrix_x4_trans(16,16)", 2, 3, bounded<matrices<4, true>>},
    {"stmatrix_x1", kMatrixTile, kRegisters,
     "1 matrix of 8 x 8 elements of 16 bits stored by stmatrix.x1; the tile is the one in shared memory",
     "stmatrix_x1(8,8)", 2, 3, bounded<matrices<1, false>>},
    {"stmatrix_x1_trans", kMatrixTile, kRegisters,
     "1 matrix of 8 x 8 elements of 16 bits stored by stmatrix.x1.trans; the tile is the one in shared "
     "memory",
     "stmatrix_x1_trans(8,8)", 2, 3, bounded<matrices<1, true>>},
    {"stmatrix_x2", kMatrixTile, kRegisters,
     "2 matrices of 8 x 8 elements of 16 bits stored by stmatrix.x2; the tile is the one in shared memory",
     "stmatrix_x2(16,8)", 2, 3, bounded<matrices<2, false>>},
    {"stmatrix_x2_trans", kMatrixTile, kRegisters,
     "2 matrices of 8 x 8 elements of 16 bits stored by stmatrix.x2.trans; the tile is the one in shared "
     "memory",
     "stmatrix_x2_trans(16,8)", 2, 3, bounded<matrices<2, true>>},
    {"stmatrix_x4", kMatrixTile, kRegisters,
     "4 matrices of 8 x 8 elements of 16 bits stored by stmatrix.x4; the tile is the one in shared memory",
     "stmatrix_x4(16,16)", 2, 3, bounded<matrices<4, false>>},
    {"stmatrix_x4_trans", kMatrixTile, kRegisters,
     "4 matrices of 8 x 8 elements of 16 bits stored by stmatrix.x4.trans; the tile is the one in shared "
     "memory",
     "stmatrix_x4_trans(16,16)", 2, 3, bounded<matrices<4, true>>},
    {"stmatrix_m16n8_x1", kMatrixTile, kRegisters,
     "1 matrix of 8 rows of 16 elements of 8 bits stored by stmatrix.m16n8.x1.trans; the tile is the one in "
     "shared "
     "memory",
     "stmatrix_m16n8_x1(8,16)", 2, 3, bounded<byte_matrices<1>>},
    {"stmatrix_m16n8_x2", kMatrixTile, kRegisters,
     "2 matrices of 8 rows of 16 elements of 8 bits stored by stmatrix.m16n8.x2.trans; the tile is the one "
     "in shared "
     "memory",
     "stmatrix_m16n8_x2(16,16)", 2, 3, bounded<byte_matrices<2>>},
    {"stmatrix_m16n8_x4", kMatrixTile, kRegisters,
     "4 matrices of 8 rows of 16 elements of 8 bits stored by stmatrix.m16n8.x4.trans; the tile is the one "
     "in shared "
     "memory",
     "stmatrix_m16n8_x4(32,16)", 2, 3, bounded<byte_matrices<4>>},
    {"matrix_rows", "rows, columns", kRegisters,
     "The row of 8 elements whose address each thread gives to ldmatrix and stmatrix", "matrix_rows(16,16)",
     2, 2, bounded<matrix_rows>},
    {"tcgen05_32x32b", kLanes, kRegisters, "Registers of tcgen05.ld and tcgen05.st .32x32b.xN",
     "tcgen05_32x32b(128,64,4)", 2, 4, bounded<tcgen05_32x32b>},
    {"tcgen05_16x32bx2", kLanes, kRegisters,
     "Registers of tcgen05.ld and tcgen05.st .16x32bx2.xN whose second half of columns follows the first",
     "tcgen05_16x32bx2(16,8)", 2, 4, bounded<tcgen05_16x32bx2>},
    {"tcgen05_16x64b", kLanes, kRegisters,
     "Registers of tcgen05.ld and tcgen05.st .16x64b.xN; a warp has 32 lanes, or 16 with the shapes 16x",
     "tcgen05_16x64b(16,8)", 2, 4, bounded<tcgen05_16x64b>},
    {"tcgen05_16x128b", kLanes, kRegisters,
     "Registers of tcgen05.ld and tcgen05.st .16x128b.xN; a warp has 32 lanes, or 16 with the shapes 16x",
     "tcgen05_16x128b(16,8)", 2, 4, bounded<tcgen05_16x128b>},
    {"tcgen05_16x256b", kLanes, kRegisters,
     "Registers of tcgen05.ld and tcgen05.st .16x256b.xN; a warp has 32 lanes, or 16 with the shapes 16x",
     "tcgen05_16x256b(128,64,4)", 2, 4, bounded<tcgen05_16x256b>},
    {"row_major", "rows, columns, pitch = columns", kMemory,
     "Rows one after the other, `pitch` elements apart", "row_major(64,64,72)", 2, 3, bounded<row_major>},
    {"column_major", "rows, columns, pitch = rows", kMemory,
     "Columns one after the other, `pitch` elements apart", "column_major(64,64)", 2, 3,
     bounded<column_major>},
    {"tma_box", "rows, columns, bits, swizzle, atom = 16", kMemory,
     "A box that TMA writes with a swizzle of 32, 64 or 128 bytes (0: none), the last of atoms of 16 or 32; "
     "wider "
     "tiles as boxes of that width",
     "tma_box(128,64,16,128)", 4, 5, bounded<tma_box>},
    {"wgmma_k_major", "rows, k, bits, swizzle", kMemory,
     "Operand tile of wgmma and tcgen05.mma in shared memory, contiguous along k; without swizzle in core "
     "matrices",
     "wgmma_k_major(128,64,16,128)", 4, 4, bounded<k_major>},
    {"wgmma_mn_major", "rows, k, bits, swizzle, atom = 16", kMemory,
     "Operand tile of wgmma and tcgen05.mma in shared memory, contiguous along m or n; atoms of 32 bytes, "
     "with a "
     "swizzle of 128, are of tcgen05.mma alone",
     "wgmma_mn_major(128,64,16,128)", 4, 5, bounded<mn_major>},
};

}  // namespace

std::span<const NamedMap> named_maps() {
  return kMaps;
}

const NamedMap* find_map(std::string_view name) {
  const auto found =
      std::find_if(std::begin(kMaps), std::end(kMaps), [&](const NamedMap& map) { return map.name == name; });
  return found == std::end(kMaps) ? nullptr : found;
}

}  // namespace pipelink::layout
