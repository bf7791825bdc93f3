// A demand that is linear over GF(2). In coordinates: thread t demands as column j the item C t + D j of
// thread A t + B j. If in round k thread t takes column j = F t ^ k, it reads thread (A + B F) t + B k: so
// rounds are exchanges by XOR with a constant if F solves A + B F = 1, and permutations of the threads if A +
// B F is invertible. What a thread publishes, and where the word goes, are then linear too.
#include <algorithm>
#include <array>
#include <bit>
#include <map>
#include <numeric>

#include "linker/route/fit.h"
#include "linker/route/gf2.h"
#include "linker/route/rounds.h"

namespace pipelink::transfer {
namespace {

using gf2::Vector;

constexpr std::int32_t kItemShift = 16;

/// Columns and items that are connected by demands.
struct Part {
  std::vector<int> columns;
  std::vector<std::int32_t> items;  ///< sorted
};

std::vector<Part> parts_of(const Demand& demand) {
  std::int32_t items = 0;
  for (const auto& column : demand.columns)
    for (const Wanted& w : column) items = std::max(items, w.item + 1);
  // Sets by union of an item with the columns that demand it.
  std::vector<int> root(demand.columns.size() + static_cast<std::size_t>(items));
  std::iota(root.begin(), root.end(), 0);
  const auto find = [&](int x) {
    while (root[static_cast<std::size_t>(x)] != x)
      x = root[static_cast<std::size_t>(x)] =
          root[static_cast<std::size_t>(root[static_cast<std::size_t>(x)])];
    return x;
  };
  const int first_item = static_cast<int>(demand.columns.size());
  for (std::size_t c = 0; c < demand.columns.size(); ++c)
    for (const Wanted& w : demand.columns[c]) {
      if (w.thread < 0) continue;
      const int a = find(static_cast<int>(c)), b = find(first_item + w.item);
      root[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
    }
  std::map<int, Part> parts;
  for (int c = 0; c < first_item; ++c) parts[find(c)].columns.push_back(c);
  for (std::int32_t i = 0; i < items; ++i) {
    const auto part = parts.find(find(first_item + i));
    if (part != parts.end()) part->second.items.push_back(i);
  }
  std::vector<Part> out;
  for (auto& [key, part] : parts) out.push_back(std::move(part));
  return out;
}

/// One part, in coordinates.
struct System {
  int threads = 0;  ///< a power of two: all, or those of a warp if all warps are alike
  int thread_bits = 0, column_bits = 0;
  std::vector<Vector> a, b;  ///< columns of A and B
};

/// Whether all warps demand the same, each of itself.
bool warps_alike(const Demand& demand, const Part& part) {
  for (const int c : part.columns) {
    const auto& column = demand.columns[static_cast<std::size_t>(c)];
    for (std::size_t t = 32; t < column.size(); ++t) {
      const Wanted &first = column[t % 32], &here = column[t];
      const auto base = static_cast<std::int32_t>(t - t % 32);
      if ((first.thread < 0) != (here.thread < 0)) return false;
      if (first.thread >= 0 && (first.item != here.item || first.thread + base != here.thread)) return false;
    }
  }
  return true;
}

std::optional<System> system_of(const Demand& demand, const Part& part) {
  System system;
  if (!std::has_single_bit(part.columns.size())) return std::nullopt;
  system.threads = demand.threads;
  if (warps_alike(demand, part)) {
    system.threads = 32;
  } else if (!std::has_single_bit(static_cast<unsigned>(demand.threads))) {
    return std::nullopt;
  }
  system.thread_bits = std::bit_width(static_cast<unsigned>(system.threads)) - 1;
  system.column_bits = std::bit_width(static_cast<unsigned>(part.columns.size())) - 1;
  std::vector<std::int32_t> numbers;
  numbers.reserve(part.columns.size() * static_cast<std::size_t>(system.threads));
  for (const int c : part.columns)
    for (int t = 0; t < system.threads; ++t) {
      const Wanted& w = demand.columns[static_cast<std::size_t>(c)][static_cast<std::size_t>(t)];
      if (w.thread < 0) {
        numbers.push_back(kAny);
        continue;
      }
      const auto label = std::lower_bound(part.items.begin(), part.items.end(), w.item) - part.items.begin();
      numbers.push_back(w.thread | static_cast<std::int32_t>(label) << kItemShift);
    }
  std::optional<Affine> affine = fit_affine(numbers);
  if (!affine) return std::nullopt;
  const int bits = system.thread_bits + system.column_bits;
  affine->basis.resize(static_cast<std::size_t>(bits));
  for (std::size_t i = 0; i < affine->basis.size(); ++i) {
    const auto thread = static_cast<Vector>(affine->basis[i] & ((1 << kItemShift) - 1));
    (i < static_cast<std::size_t>(system.thread_bits) ? system.a : system.b).push_back(thread);
  }
  return system;
}

/// F with A + B F = 1, as far as that can be; `whole` tells whether it is so.
std::vector<Vector> exchange(const System& system, bool& whole) {
  gf2::Space image;
  for (const Vector column : system.b) image.add(column);
  std::vector<Vector> f;
  whole = true;
  for (std::size_t i = 0; i < system.a.size(); ++i) {
    const std::optional<Vector> solved = image.solve(system.a[i] ^ Vector{1} << i);
    whole = whole && solved.has_value();
    f.push_back(solved.value_or(0));
  }
  return f;
}

/// F with A + B F invertible, if [A B] spans all threads.
std::vector<Vector> completion(const System& system) {
  gf2::Space image;
  std::vector<std::size_t> dependent;
  for (std::size_t i = 0; i < system.a.size(); ++i)
    if (!image.add(system.a[i])) dependent.push_back(i);
  std::vector<Vector> f(system.a.size(), 0);
  std::size_t next = 0;
  for (std::size_t j = 0; j < system.b.size() && next < dependent.size(); ++j)
    if (image.add(system.b[j])) f[dependent[next++]] = Vector{1} << j;
  return f;
}

/// The rounds of one part for one F; nullopt if a thread would have to publish two words at once.
std::optional<std::vector<Round>> rounds_of(const Demand& demand, const Part& part, const System& system,
                                            const std::vector<Vector>& f) {
  std::vector<Round> rounds;
  const auto threads = static_cast<std::size_t>(demand.threads);
  const auto period = static_cast<std::size_t>(system.threads);
  std::vector<Vector> turn(threads);
  for (std::size_t t = 0; t < threads; ++t)
    turn[t] = t < period ? gf2::product(f, static_cast<Vector>(t)) : turn[t - period];
  for (std::size_t k = 0; k < part.columns.size(); ++k) {
    Round round;
    round.local = true;
    round.lane.assign(threads, -1);
    round.publish.assign(threads, -1);
    for (std::size_t t = 0; t < threads; ++t) {
      const auto column = static_cast<std::size_t>(part.columns[turn[t] ^ k]);
      const Wanted& w = demand.columns[column][t];
      if (w.thread < 0) continue;
      round.lane[t] = w.thread;
      std::int32_t& published = round.publish[static_cast<std::size_t>(w.thread)];
      if (published >= 0 && published != w.item) return std::nullopt;
      published = w.item;
      round.local = round.local && w.thread == static_cast<std::int32_t>(t);
    }
    rounds.push_back(std::move(round));
  }
  return rounds;
}

int shuffles_of(const std::vector<Round>& rounds) {
  return static_cast<int>(
      std::count_if(rounds.begin(), rounds.end(), [](const Round& round) { return !round.local; }));
}

/// Adds the best schedule of one part.
bool add_part(const Demand& demand, const Part& part, Schedule& schedule) {
  const std::optional<System> system = system_of(demand, part);
  if (!system) return false;
  bool whole = false;
  const std::vector<Vector> by_exchange = exchange(*system, whole);
  const std::vector<Vector> none(system->a.size(), 0);
  std::optional<std::vector<Round>> best;
  const std::vector<Vector>* turn = nullptr;
  const std::vector<Vector> by_completion = completion(*system);
  for (const std::vector<Vector>* f : {&by_exchange, &none, &by_completion}) {
    std::optional<std::vector<Round>> rounds = rounds_of(demand, part, *system, *f);
    if (rounds && (!best || shuffles_of(*rounds) < shuffles_of(*best))) {
      best = std::move(rounds);
      turn = f;
    }
    if (whole && best) break;
  }
  if (!best) return false;
  const int first = static_cast<int>(schedule.rounds.size());
  std::vector<int> bank(best->size());
  std::iota(bank.begin(), bank.end(), first);
  for (Round& round : *best) schedule.rounds.push_back(std::move(round));
  for (int t = 0; t < demand.threads; ++t) {
    const Vector k = gf2::product(*turn, static_cast<Vector>(t % system->threads));
    for (std::size_t j = 0; j < part.columns.size(); ++j) {
      const auto column = static_cast<std::size_t>(part.columns[j]);
      if (demand.columns[column][static_cast<std::size_t>(t)].thread >= 0)
        schedule.arrival[column][static_cast<std::size_t>(t)] = bank[j ^ k];
    }
  }
  schedule.banks.push_back(std::move(bank));
  if (!whole && schedule.method != "lane permutations") schedule.method = "lane permutations";
  return true;
}

}  // namespace

int Schedule::shuffles() const {
  return shuffles_of(rounds);
}

std::optional<Schedule> linear_schedule(const Demand& demand) {
  Schedule schedule;
  schedule.method = "exchanges by XOR";
  schedule.arrival.assign(demand.columns.size(),
                          std::vector<std::int32_t>(static_cast<std::size_t>(demand.threads), -1));
  for (const Part& part : parts_of(demand))
    if (!add_part(demand, part, schedule)) return std::nullopt;
  return schedule;
}

}  // namespace pipelink::transfer
