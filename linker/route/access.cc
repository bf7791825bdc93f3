#include "linker/route/access.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

namespace pipelink::transfer {
namespace {

constexpr int kLanes = 32;
constexpr int kBanks = 32;
constexpr std::int64_t kLine = 128;  ///< bytes of a wavefront

/// Wavefronts of lanes that are served together.
int phase(std::span<const std::int32_t> lanes, int words) {
  std::array<std::int32_t, kBanks> first;
  first.fill(kAny);
  bool conflict = false, any = false;
  for (const std::int32_t byte : lanes) {
    if (byte == kAny) continue;
    any = true;
    for (int w = 0; w < words; ++w) {
      const std::int32_t word = byte / 4 + w;
      std::int32_t& seen = first[static_cast<std::size_t>(word % kBanks)];
      if (seen == kAny) seen = word;
      conflict = conflict || seen != word;
    }
  }
  if (!conflict) return any ? 1 : 0;
  std::vector<std::int32_t> all;
  for (const std::int32_t byte : lanes)
    for (int w = 0; w < words && byte != kAny; ++w) all.push_back(byte / 4 + w);
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::array<int, kBanks> count{};
  for (const std::int32_t word : all) ++count[static_cast<std::size_t>(word % kBanks)];
  return *std::max_element(count.begin(), count.end());
}

/// Finds which units can share an instruction, for one choice of matrices.
class Grouping {
 public:
  Grouping(const UnitPlaces& places, const AccessLimits& limits)
      : places_(places), limits_(limits), used_(static_cast<std::size_t>(places.columns), false) {
    find_columns();
  }

  /// Vectors for what is left.
  Accesses run() && {
    for (int bytes = std::min(16, limits_.align); bytes >= places_.unit_bytes; bytes /= 2)
      take_vectors(bytes);
    for (const Access& access : out_.list) out_.wavefronts += access.wavefronts;
    out_.instructions += static_cast<int>(out_.list.size());
    return std::move(out_);
  }

  /// Whether there is any.
  bool take_matrices(Access::How how) {
    if (places_.threads % kLanes != 0 || limits_.align < 16) return false;
    struct Matrix {
      int low = 0, high = 0;
      std::vector<std::int32_t> rows;
    };
    std::vector<Matrix> found;
    for (int c = 0; c + 1 < places_.columns; c += 2) {
      if (used_[static_cast<std::size_t>(c)] || used_[static_cast<std::size_t>(c) + 1]) continue;
      Matrix matrix{c, c + 1, {}};
      if (is_matrix(c, c + 1, how, matrix.rows)) found.push_back(std::move(matrix));
    }
    for (std::size_t begin = 0; begin < found.size();) {
      const std::size_t rest = found.size() - begin;
      const std::size_t count = rest >= 4 ? 4 : rest >= 2 ? 2 : 1;
      Access access;
      access.how = how;
      access.bytes = 16;
      access.at.assign(static_cast<std::size_t>(places_.threads), kAny);
      for (std::size_t m = 0; m < count; ++m) {
        const Matrix& matrix = found[begin + m];
        access.columns.push_back(matrix.low);
        access.columns.push_back(matrix.high);
        used_[static_cast<std::size_t>(matrix.low)] = used_[static_cast<std::size_t>(matrix.high)] = true;
        for (std::size_t warp = 0; warp < access.at.size(); warp += kLanes) {
          std::array<std::int32_t, 8> rows{};
          for (std::size_t r = 0; r < 8; ++r) rows[r] = access.at[warp + m * 8 + r] = matrix.rows[warp + r];
          access.wavefronts += phase(rows, 4);
        }
      }
      begin += count;
      out_.list.push_back(std::move(access));
    }
    return !found.empty();
  }

 private:
  std::int32_t at(int column, int thread) const {
    return places_.bytes[static_cast<std::size_t>(column) * static_cast<std::size_t>(places_.threads) +
                         static_cast<std::size_t>(thread)];
  }
  int units_in_word() const { return 4 / places_.unit_bytes; }

  /// Columns that are accessed at all, each with its first thread; loads of the same places are one.
  void find_columns() {
    out_.same_as.resize(static_cast<std::size_t>(places_.columns));
    std::map<std::vector<std::int32_t>, int> known;
    for (int c = 0; c < places_.columns; ++c) {
      out_.same_as[static_cast<std::size_t>(c)] = c;
      const auto column = places_.column(c);
      const auto first = std::find_if(column.begin(), column.end(), [](std::int32_t b) { return b != kAny; });
      first_.push_back(first == column.end() ? -1 : static_cast<int>(first - column.begin()));
      if (first_.back() < 0) {
        used_[static_cast<std::size_t>(c)] = true;
        continue;
      }
      if (!limits_.stores) {
        const auto [same, fresh] = known.try_emplace({column.begin(), column.end()}, c);
        if (!fresh) {
          out_.same_as[static_cast<std::size_t>(c)] = same->second;
          used_[static_cast<std::size_t>(c)] = true;
          continue;
        }
      }
      by_place_[first_.back()].emplace(*first, c);
    }
  }

  /// Whether `column` is `distance` bytes after `base` in all threads.
  bool follows(int base, int column, std::int32_t distance) const {
    for (int t = 0; t < places_.threads; ++t) {
      const std::int32_t a = at(base, t), b = at(column, t);
      if ((a == kAny) != (b == kAny) || (a != kAny && b != a + distance)) return false;
    }
    return true;
  }

  bool aligned(int column, int bytes) const {
    const auto all = places_.column(column);
    return std::all_of(all.begin(), all.end(), [&](std::int32_t b) { return b == kAny || b % bytes == 0; });
  }

  /// An unused column `distance` bytes after `base`.
  std::optional<int> next_to(int base, std::int32_t distance) const {
    const int first = first_[static_cast<std::size_t>(base)];
    const auto& index = by_place_.at(first);
    const auto [begin, end] = index.equal_range(at(base, first) + distance);
    for (auto i = begin; i != end; ++i)
      if (!used_[static_cast<std::size_t>(i->second)] && follows(base, i->second, distance)) return i->second;
    return std::nullopt;
  }

  void take_vectors(int bytes) {
    const int units = bytes / places_.unit_bytes;
    for (int c = 0; c < places_.columns; ++c) {
      if (used_[static_cast<std::size_t>(c)] || !aligned(c, bytes)) continue;
      Access access;
      access.bytes = bytes;
      access.columns.push_back(c);
      for (int i = 1; i < units; ++i) {
        const std::optional<int> next = next_to(c, i * places_.unit_bytes);
        if (!next) break;
        access.columns.push_back(*next);
      }
      if (static_cast<int>(access.columns.size()) != units) continue;
      for (const int column : access.columns) used_[static_cast<std::size_t>(column)] = true;
      const auto column = places_.column(c);
      access.at.assign(column.begin(), column.end());
      access.wavefronts = wavefronts(access.at, bytes);
      if (!limits_.stores) fill(access);
      count_permutes(access.columns);
      out_.list.push_back(std::move(access));
    }
  }

  static int wavefronts(std::span<const std::int32_t> at, int bytes) {
    int total = 0;
    for (std::size_t t = 0; t < at.size(); t += kLanes)
      total += wavefronts_of(at.subspan(t, std::min<std::size_t>(kLanes, at.size() - t)), bytes);
    return total;
  }

  /// Threads that need nothing read what another one does: by a short expression if that costs no wavefront,
  /// else what the last thread before them does.
  void fill(Access& access) const {
    if (std::find(access.at.begin(), access.at.end(), kAny) == access.at.end()) return;
    std::set<std::int32_t> good(access.at.begin(), access.at.end());
    good.erase(kAny);
    if (const std::optional<Affine> affine = fit_affine(access.at)) {
      std::vector<std::int32_t> at;
      for (std::size_t t = 0; t < access.at.size(); ++t)
        at.push_back((*affine)(static_cast<std::uint32_t>(t)));
      if (std::all_of(at.begin(), at.end(), [&](std::int32_t b) { return good.contains(b); }) &&
          wavefronts(at, access.bytes) == access.wavefronts) {
        access.at = std::move(at);
        return;
      }
    }
    // Within those that are served together, so that no further bank is accessed if any of them is.
    const std::size_t together = access.bytes == 16 ? 8 : access.bytes == 8 ? 16 : 32;
    for (std::size_t begin = 0; begin < access.at.size(); begin += together) {
      const auto first = access.at.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto end = first + static_cast<std::ptrdiff_t>(std::min(together, access.at.size() - begin));
      const auto known = std::find_if(first, end, [](std::int32_t b) { return b != kAny; });
      std::int32_t last = known == end ? *good.begin() : *known;
      for (auto at = first; at != end; ++at) {
        if (*at == kAny) *at = last;
        last = *at;
      }
    }
    access.wavefronts = wavefronts(access.at, access.bytes);
  }

  /// One for each word that is not a word of the thread's array.
  void count_permutes(const std::vector<int>& columns) {
    const int k = units_in_word();
    if (k == 1) return;
    for (std::size_t i = 0; i < columns.size(); i += static_cast<std::size_t>(k)) {
      const std::size_t end = std::min(columns.size(), i + static_cast<std::size_t>(k));
      bool natural = true;
      for (std::size_t j = i; j < end; ++j)
        natural = natural && columns[j] == columns[i] / k * k + static_cast<int>(j - i);
      if (!natural) ++out_.instructions;
    }
  }

  /// Whether the two halves of a register are where a matrix has them. `rows`: thread → the row's byte.
  bool is_matrix(int low, int high, Access::How how, std::vector<std::int32_t>& rows) const {
    rows.assign(static_cast<std::size_t>(places_.threads), kAny);
    for (int t = 0; t < places_.threads; ++t)
      for (int h = 0; h < 2; ++h) {
        const int lane = t % kLanes;
        const bool transposed = how == Access::How::kTransposed;
        const int row = transposed ? lane % 4 * 2 + h : lane / 4;
        const int column = transposed ? lane / 4 : lane % 4 * 2 + h;
        const std::int32_t byte = at(h == 0 ? low : high, t);
        if (byte == kAny) return false;
        const std::int32_t begin = byte - column * 2;
        const int pointer = t - lane + row;
        std::int32_t& known = rows[static_cast<std::size_t>(pointer)];
        if (begin < 0 || begin % 16 != 0 || (known != kAny && known != begin)) return false;
        known = begin;
      }
    return true;
  }

  const UnitPlaces& places_;
  const AccessLimits& limits_;
  std::vector<bool> used_;
  std::vector<int> first_;  ///< column → its first thread that accesses it
  std::map<int, std::multimap<std::int32_t, int>> by_place_;  ///< first thread → byte → column
  Accesses out_;
};

}  // namespace

int wavefronts_of(std::span<const std::int32_t> lanes, int bytes) {
  const std::size_t together = bytes == 16 ? 8 : bytes == 8 ? 16 : 32;
  int total = 0;
  for (std::size_t begin = 0; begin < lanes.size(); begin += together)
    total += phase(lanes.subspan(begin, std::min(together, lanes.size() - begin)), std::max(bytes / 4, 1));
  return total;
}

int wavefront_bound(std::int64_t bytes) {
  return static_cast<int>((bytes + kLine - 1) / kLine);
}

Accesses plan_accesses(const UnitPlaces& places, const AccessLimits& limits) {
  const Grouping start(places, limits);
  Accesses best = Grouping(start).run();
  if (!limits.matrices || places.unit_bytes != 2) return best;
  for (const Access::How how : {Access::How::kMatrix, Access::How::kTransposed}) {
    Grouping grouping(start);
    if (!grouping.take_matrices(how)) continue;
    Accesses other = std::move(grouping).run();
    if (std::pair(other.wavefronts, other.instructions) < std::pair(best.wavefronts, best.instructions))
      best = std::move(other);
  }
  return best;
}

}  // namespace pipelink::transfer
