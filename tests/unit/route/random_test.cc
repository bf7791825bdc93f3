// Random pairs of maps against an oracle that enumerates: whether there is a transfer at all, whether a
// renaming or the warp suffices, how many words a lane has to get or give, what arrives byte for byte.
#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <random>
#include <set>

#include "machine.h"
#include "maps.h"

using namespace pipelink::transfer;
using namespace pipelink::transfer::test;

namespace {

constexpr int kPairs = 10'000;

class Generator {
 public:
  explicit Generator(unsigned seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  T one_of(std::initializer_list<T> list) {
    return *(list.begin() + below(static_cast<int>(list.size())));
  }

  Request request() {
    Request out;
    const int eb = one_of({1, 2, 2, 4, 4, 4, 8});
    const int threads = chance(3) ? one_of({1, 8, 48}) : one_of({32, 32, 32, 64, 64, 96, 128});
    const bool powers = chance(60);
    const int values = powers ? 1 << below(threads > 64 ? 4 : 5) : 1 + below(threads > 64 ? 8 : 16);
    const int size = threads * values;
    out.columns = chance(50) ? 0 : one_of({4, 8, 16, 24, 32, 48, 64});
    out.stmatrix = chance(80);
    out.ldmatrix = chance(80);
    TileMap from = start(threads, values, eb);
    TileMap to = from;
    switch (below(9)) {
      case 0:
        shuffle(to, threads * values);
        break;
      case 1:
        shuffle(to, 32 * values);
        break;
      case 2:
        rename(to);
        break;
      case 3:
        shuffle(to, values);  // each thread its own values
        break;
      case 4:
        to = linear(from, false);
        break;
      case 5:
        to = linear(from, true);
        break;
      case 6:
        to = transposed(from);
        break;
      case 7:
        to = broadcast(from, chance(70));
        break;
      default:
        to = linear(from, true);
        from = linear(from, true);
        break;
    }
    if (chance(10)) from = replicated(from);
    if (chance(10))
      for (std::int32_t& e : to.element)
        if (chance(20)) e = kNothing;
    if (chance(3)) from.element[static_cast<std::size_t>(below(size))] = kNothing;
    if (chance(2)) to.element[static_cast<std::size_t>(below(size))] = size + 3;
    out.two_roles = chance(8);
    if (out.two_roles && chance(50) && threads == 64) {
      // The consumer has another number of threads.
      to.threads = 32;
      to.values *= 2;
    }
    out.groups = chance(10) ? 2 : 1;
    out.from = in_registers(from);
    out.to = in_registers(to);
    if (chance(15)) out.to = in_shared(addresses(size, eb), eb, out.to.threads, chance(50), 16);
    if (chance(10)) out.from = in_shared(addresses(size, eb), eb, threads, false, one_of({4, 8, 16, 128}));
    if (threads == 128 && eb <= 4 && chance(30) && out.from.space == Space::kRegisters)
      out.from = in_tensor_memory(from);
    return out;
  }

 private:
  static TileMap start(int threads, int values, int eb) {
    return map_of(threads, values, eb, [&](int t, int v) { return t * values + v; });
  }

  /// Elements are permuted within blocks of so many.
  void shuffle(TileMap& map, int block) {
    const auto size = map.element.size();
    for (std::size_t begin = 0; begin < size; begin += static_cast<std::size_t>(block)) {
      const std::size_t end = std::min(size, begin + static_cast<std::size_t>(block));
      for (std::size_t i = end - 1; i > begin; --i)
        std::swap(map.element[i], map.element[begin + random_() % (i - begin + 1)]);
    }
  }

  void rename(TileMap& map) {
    std::vector<int> order(static_cast<std::size_t>(map.values));
    std::iota(order.begin(), order.end(), 0);
    for (std::size_t i = order.size() - 1; i > 0; --i) std::swap(order[i], order[random_() % (i + 1)]);
    const TileMap old = map;
    map = map_of(map.threads, map.values, map.element_bytes,
                 [&](int t, int v) { return old(t, order[static_cast<std::size_t>(v)]); });
  }

  /// element(x) → element(M x) with a random invertible matrix; `warps`: bits of the warp stay as they are.
  TileMap linear(const TileMap& map, bool warps) {
    const auto size = static_cast<unsigned>(map.element.size());
    if ((size & (size - 1)) != 0) return transposed(map);
    int bits = 0;
    while ((1U << bits) < size) ++bits;
    int free = bits;
    if (warps)
      while (free > 0 && (1 << free) > 32 * map.values) --free;
    // Row operations keep it invertible.
    std::vector<unsigned> columns;
    for (int i = 0; i < bits; ++i) columns.push_back(1U << i);
    for (int n = 0; n < 3 * free; ++n) {
      const auto a = static_cast<std::size_t>(below(free)), b = static_cast<std::size_t>(below(free));
      if (a == b) continue;
      if (chance(50))
        std::swap(columns[a], columns[b]);
      else
        columns[a] ^= columns[b];
    }
    const unsigned offset = chance(30) ? static_cast<unsigned>(random_()) % (1U << free) : 0;
    TileMap out = map;
    for (unsigned x = 0; x < size; ++x) {
      unsigned y = offset;
      for (int i = 0; i < bits; ++i)
        if ((x >> i & 1) != 0) y ^= columns[static_cast<std::size_t>(i)];
      out.element[x] = map.element[y];
    }
    return out;
  }

  /// Factors of the size, in another order.
  TileMap transposed(const TileMap& map) {
    std::vector<int> factors;
    for (int rest = static_cast<int>(map.element.size()), f = 2; rest > 1; ++f)
      while (rest % f == 0) {
        factors.push_back(f);
        rest /= f;
      }
    for (std::size_t i = factors.size(); i > 1; --i) std::swap(factors[i - 1], factors[random_() % i]);
    std::vector<std::size_t> order(factors.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[random_() % i]);
    std::vector<int> stride(factors.size());
    int step = 1;
    for (const std::size_t o : order) {
      stride[o] = step;
      step *= factors[o];
    }
    TileMap out = map;
    for (std::size_t x = 0; x < map.element.size(); ++x) {
      int rest = static_cast<int>(x), y = 0;
      for (std::size_t i = 0; i < factors.size(); ++i) {
        y += rest % factors[i] * stride[i];
        rest /= factors[i];
      }
      out.element[x] = map.element[static_cast<std::size_t>(y)];
    }
    return out;
  }

  /// Each element may be demanded often: bits of the place are dropped, or all is random.
  TileMap broadcast(const TileMap& map, bool regular) {
    TileMap out = map;
    const auto size = static_cast<unsigned>(map.element.size());
    const auto mask = static_cast<unsigned>(random_());
    for (unsigned x = 0; x < size; ++x)
      out.element[x] = map.element[regular ? (x & mask) % size : random_() % size];
    return out;
  }

  /// A second holder for some elements, in more values.
  TileMap replicated(const TileMap& map) {
    TileMap out = map;
    out.values += 1;
    out.element.clear();
    const int from = below(map.threads);
    for (int t = 0; t < map.threads; ++t) {
      for (int v = 0; v < map.values; ++v) out.element.push_back(map(t, v));
      out.element.push_back(map((t + from) % map.threads, 0));
    }
    return out;
  }

  AddressMap addresses(int size, int eb) {
    AddressMap map;
    const int row = one_of({8, 16, 32, 64}), pad = chance(50) ? 0 : 16 / eb;
    const bool flip = chance(30);
    for (int e = 0; e < size; ++e)
      map.offset.push_back(e / row * (row + pad) + (flip ? (e % row) ^ (e / row % 8) : e % row));
    if (chance(10))
      for (std::size_t i = map.offset.size() - 1; i > 0; --i)
        std::swap(map.offset[i], map.offset[random_() % (i + 1)]);
    map.bytes = (std::int64_t{*std::max_element(map.offset.begin(), map.offset.end())} + 1) * eb;
    map.bytes = (map.bytes + 15) / 16 * 16;
    return map;
  }

  std::mt19937 random_;
};

/// What can be found out by trying everything.
struct Oracle {
  bool possible = false, renaming = false, within_warps = false, replicated = false, broadcast = false;
  int bound = 0;
};

bool renames(const TileMap& from, const TileMap& to) {
  for (int v = 0; v < to.values; ++v) {
    bool found = false;
    for (int u = 0; u < from.values && !found; ++u) {
      found = true;
      for (int t = 0; t < to.threads && found; ++t) found = to(t, v) == kNothing || to(t, v) == from(t, u);
    }
    bool wanted = false;
    for (int t = 0; t < to.threads; ++t) wanted = wanted || to(t, v) != kNothing;
    if (wanted && !found) return false;
  }
  return true;
}

Oracle consult(const Request& request) {
  Oracle out;
  const TileMap &from = request.from.map, &to = request.to.map;
  std::map<int, std::set<int>> holders;  // element → threads
  std::map<int, int> count;
  if (request.from.space == Space::kShared)
    for (std::size_t e = 0; e < request.from.address.offset.size(); ++e)
      holders[static_cast<int>(e)].insert(0);
  else
    for (int t = 0; t < from.threads; ++t)
      for (int v = 0; v < from.values; ++v)
        if (from(t, v) != kNothing) {
          holders[from(t, v)].insert(t);
          ++count[from(t, v)];
        }
  for (const auto& [e, n] : count) out.replicated = out.replicated || n > 1;
  bool all_there = true;
  if (request.to.space == Space::kShared) {
    for (std::size_t e = 0; e < request.to.address.offset.size(); ++e)
      all_there = all_there && holders.contains(static_cast<int>(e));
  } else {
    for (const std::int32_t e : to.element) all_there = all_there && (e == kNothing || holders.contains(e));
  }
  const bool registers =
      request.from.space == Space::kRegisters && request.to.space == Space::kRegisters && !request.two_roles;
  out.renaming = registers && from.threads == to.threads && renames(from, to);
  const bool whole_warps = request.from.threads % 32 == 0 && request.to.threads % 32 == 0;
  bool columns = true;  // of tensor memory: whole words
  if (request.from.space == Space::kTensorMemory) columns = from.values * from.element_bytes % 4 == 0;
  const bool in_place = request.from.space == Space::kShared && request.to.space == Space::kShared &&
                        request.from.address == request.to.address && whole_warps && !request.two_roles &&
                        request.from.align >= request.to.align;
  out.possible = out.renaming || in_place || (all_there && whole_warps && columns);
  if (!registers || !all_there || !whole_warps) return out;

  out.within_warps = true;
  std::map<int, std::set<int>> lanes_of;  // element → lanes that demand it and do not hold it
  std::vector<std::map<int, std::set<int>>> got(static_cast<std::size_t>(to.threads));  // source → elements
  std::vector<std::set<int>> given(static_cast<std::size_t>(to.threads)),
      lacking(static_cast<std::size_t>(to.threads));
  for (int t = 0; t < to.threads; ++t)
    for (int v = 0; v < to.values; ++v) {
      const int e = to(t, v);
      if (e == kNothing) continue;
      const std::set<int>& has = holders[e];
      bool near = false;
      for (const int h : has) near = near || h / 32 == t / 32;
      out.within_warps = out.within_warps && near;
      if (has.contains(t)) continue;
      lanes_of[e].insert(t);
      lacking[static_cast<std::size_t>(t)].insert(e);
      got[static_cast<std::size_t>(t)][*has.begin()].insert(e);
      given[static_cast<std::size_t>(*has.begin())].insert(e);
    }
  for (const auto& [e, lanes] : lanes_of) out.broadcast = out.broadcast || lanes.size() > 1;
  const auto words = [&](std::size_t elements) {
    return (static_cast<int>(elements) * from.element_bytes + 3) / 4;
  };
  for (std::size_t t = 0; t < got.size(); ++t) {
    int sum = 0;
    for (const auto& [source, elements] : got[t]) sum += words(elements.size());
    out.bound = std::max(out.bound, out.replicated ? words(lacking[t].size()) : sum);
    if (!out.replicated) out.bound = std::max(out.bound, words(given[t].size()));
  }
  return out;
}

}  // namespace

TEST_SUITE_BEGIN("random");

TEST_CASE("pairs against the oracle") {
  std::map<std::string, int> kinds;
  int above_bound = 0;
  for (int n = 0; n < kPairs; ++n) {
    Generator generator(static_cast<unsigned>(n));
    const Request request = generator.request();
    const Oracle oracle = consult(request);
    const Planned planned = plan_transfer(request);
    CAPTURE(n);
    for (const Rejected& r : planned.rejected) {
      CAPTURE(r.kind);
      CAPTURE(r.reason);
      REQUIRE(!r.reason.empty());
      REQUIRE(r.reason.find("does not verify") == std::string::npos);
    }
    if (!planned.transfer) {
      ++kinds["refused"];
      REQUIRE(!oracle.possible);
      REQUIRE(!planned.rejected.empty());
      continue;
    }
    const Transfer& transfer = *planned.transfer;
    ++kinds[std::string(name_of(transfer.kind))];
    REQUIRE(oracle.possible);
    REQUIRE(run_on_bytes(request, transfer, static_cast<std::uint32_t>(n)) == "");
    const Cost& cost = transfer.cost;
    const Wavefronts counted = count_wavefronts(transfer);
    REQUIRE(counted.stores == cost.store_wavefronts);
    REQUIRE(counted.loads == cost.load_wavefronts);
    REQUIRE(cost.store_wavefronts >= cost.store_bound);
    REQUIRE(cost.load_wavefronts >= cost.load_bound);
    const bool by_name = !transfer.renamed.empty();
    REQUIRE(by_name == oracle.renaming);
    if (request.from.space != Space::kRegisters || request.to.space != Space::kRegisters || request.two_roles)
      continue;
    // Within the warp, only a shuffle that takes far too many selects is left to staging.
    if (transfer.kind == Kind::kStaging) {
      const bool costly =
          std::any_of(planned.rejected.begin(), planned.rejected.end(), [](const Rejected& r) {
            return r.kind == "shuffle" && r.reason.find("selects") != std::string::npos;
          });
      REQUIRE(oracle.within_warps == costly);
    }
    if (transfer.kind == Kind::kShuffle) {
      REQUIRE(oracle.within_warps);
      REQUIRE(cost.shuffle_bound == oracle.bound);
      REQUIRE(cost.shuffles >= oracle.bound);
      if (cost.shuffles > oracle.bound) {
        ++above_bound;
        // Whole words, each for one lane: as few as the busiest lane needs.
        REQUIRE((oracle.broadcast || oracle.replicated || request.from.map.element_bytes < 4));
      }
    }
  }
  for (const auto& [kind, count] : kinds) MESSAGE(kind << ": " << count);
  MESSAGE("shuffles above the bound: " << above_bound);
  for (const char* kind : {"registers, renamed", "registers, permuted", "shuffle", "staging", "store", "load",
                           "tensor memory load", "refused"})
    CHECK(kinds[kind] > 0);
}

TEST_SUITE_END();
