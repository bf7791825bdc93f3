#include "linker/place/pack.h"

#include <algorithm>
#include <utility>

#include "linker/place/blocks.h"
#include "linker/place/exact.h"
#include "linker/place/gluing.h"
#include "linker/place/proof.h"
#include "linker/place/waste_free.h"

namespace pipelink::place {
namespace {

constexpr int kPushesToFit = 40;  // for each greedy order
constexpr int kPushesToTighten = 100;
constexpr std::uint64_t kBoundUnits = 2'000'000;    // for one bound
constexpr std::uint64_t kSearchUnits = 20'000'000;  // for one late-acceptance search
constexpr std::uint64_t kProofUnits = 2'000'000;    // for one Z3 query

// For one branch and bound: short attempts with every preference first, then longer ones.
constexpr std::uint64_t kExactUnits[] = {100'000, 1'000'000, 4'000'000};
constexpr std::uint64_t kGlueUnits = 1'200'000;        // for joining the members of a clique, and its bound
constexpr std::uint64_t kWasteFreeUnits = 16'000'000;  // where no byte may stay free
// Annealing of blocks: a short run for each of many gluings, longer ones for those that came nearest. Of
// single items: long and cool.
constexpr std::uint64_t kFewestGluings = 8, kMostGluings = 32, kGluedRounds[] = {300, 3'000, 10'000},
                        kSingleRounds = 50'000;
constexpr std::int64_t kGluedHeat = 20, kSingleHeat = 2;
constexpr std::size_t kMostForSingles = 256;  // items: more take too long
constexpr std::int64_t kNear =
    256;  // gluings that stay farther away than this part of the bound get no longer runs
// Short attempts that differ by their seeds.
constexpr int kRestartsToFit = 12;
constexpr int kRestartsToTighten = 90;          // of up to a hundred items; fewer of more
constexpr std::size_t kFewestForRestarts = 40;  // items: fewer are decided by a longer attempt

Allowance part(Allowance& allowance, std::uint64_t units) {
  return Allowance(allowance.meter(), std::min(units, allowance.left()));
}

// Units for one question to the searches, or for one way of tightening: half a second for a hundred items.
std::uint64_t effort(const Items& items) {
  return std::clamp<std::uint64_t>(900 * items.count() * items.count(), 12'000'000, 28'000'000);
}

std::uint64_t rounds_for(const Items& items) {
  return 2'000 + 100 * items.count();
}

std::uint64_t gluings_for(const Items& items) {
  return std::clamp<std::uint64_t>(400'000 / (items.count() * items.count() + 1), kFewestGluings,
                                   kMostGluings);
}

int restarts_for(const Items& items) {
  return static_cast<int>(
      std::min<std::size_t>(kRestartsToTighten, 900'000 / (items.count() * items.count() + 1)));
}

// Branch and bound with each preference, then with other seeds. Any answer but kUnknown is certain.
Answer fits_somehow(const Items& items, std::int64_t end, Offsets& found, std::uint64_t units, int restarts,
                    Allowance allowance) {
  const Exact exact(items, end, allowance.meter());
  for (const Preference preference : kPreferences) {
    const Answer answer = exact.fits(found, part(allowance, units), preference);
    if (answer != Answer::kUnknown) return answer;
  }
  if (items.count() < kFewestForRestarts) restarts = 0;
  for (int k = 0; k < restarts && !allowance.exhausted(); ++k) {
    const Answer answer = exact.fits(found, part(allowance, kExactUnits[0]), kPreferences[k % 3],
                                     1 + static_cast<std::uint64_t>(k) / 3);
    if (answer != Answer::kUnknown) return answer;
  }
  return Answer::kUnknown;
}

}  // namespace

Packed pack(const Items& items, std::int64_t end, const Order& hint, Allowance whole) {
  Allowance allowance = whole;
  Packed result;
  if (items.count() == 0) {
    result.answer = Answer::kYes;
    return result;
  }
  Offsets best;
  std::int64_t lowest = INT64_MAX;
  auto attempt = [&](const Order& order) {
    Offsets offset = push_forward(items, order, end, kPushesToFit, allowance.meter());
    const std::int64_t footprint = footprint_of(items, offset);
    if (footprint < lowest) {
      lowest = footprint;
      best = std::move(offset);
    }
    return lowest <= end;
  };
  auto yes = [&] {
    result.answer = Answer::kYes;
    result.offset = best;
    return result;
  };
  if (!hint.empty() && attempt(hint)) return yes();
  result.cut = strongest_cut(items, part(allowance, kBoundUnits), end);
  if (result.cut.value > end) {
    result.answer = Answer::kNo;
    return result;
  }
  for (const Order& order : greedy_orders(items, result.cut.members)) {
    if (attempt(order)) return yes();
    if (allowance.exhausted()) break;
  }
  result.cut = {};
  if (fits_without_waste(items, end, best, part(allowance, kWasteFreeUnits)) == Answer::kYes) return yes();
  allowance = part(allowance, effort(items));
  auto search = [&](std::uint64_t rounds) {
    const bool found = search_orders(items, end, rounds, best, part(allowance, kSearchUnits));
    lowest = footprint_of(items, best);
    return found;
  };
  std::uint64_t rounds = rounds_for(items) / 10;
  for (const std::uint64_t units : kExactUnits) {
    if (search(rounds)) return yes();
    rounds = rounds_for(items);
    result.answer =
        fits_somehow(items, end, best, units, units == kExactUnits[1] ? kRestartsToFit : 0, allowance);
    if (result.answer == Answer::kYes) return yes();
    if (result.answer == Answer::kNo || allowance.exhausted()) break;
  }
  if (result.answer == Answer::kUnknown && items.count() <= kMostForProof) {
    result.answer = fits_by_z3(items, end, best, part(whole, kProofUnits));
    if (result.answer == Answer::kYes) return yes();
  }
  return result;
}

Tightest tighten(const Items& items, const Offsets& start, Allowance whole) {
  Allowance allowance = whole;
  Tightest t;
  t.offset = start;
  settle(items, t.offset, allowance.meter());
  t.footprint = footprint_of(items, t.offset);
  const Cut cut = strongest_cut(items, part(allowance, kBoundUnits));
  t.bound = cut.value;
  auto take = [&](Offsets offset) {
    settle(items, offset, allowance.meter());
    if (const std::int64_t f = footprint_of(items, offset); f < t.footprint) {
      t.footprint = f;
      t.offset = std::move(offset);
    }
    return t.footprint <= t.bound;
  };
  if (t.footprint <= t.bound) return t;
  for (const Order& order : greedy_orders(items, cut.members)) {
    if (allowance.exhausted()) return t;
    if (take(push_forward(items, order, t.bound, kPushesToTighten, allowance.meter()))) return t;
  }
  auto search = [&](std::uint64_t rounds) {
    Offsets offset = t.offset;
    search_orders(items, t.bound, rounds, offset, part(allowance, kSearchUnits));
    return take(std::move(offset));
  };
  if (search(rounds_for(items) / 10)) return t;

  if (Offsets found;
      fits_without_waste(items, t.bound, found, part(allowance, kWasteFreeUnits)) == Answer::kYes)
    if (take(std::move(found))) return t;

  // What alignment wastes in the heaviest clique; and orders of what fills its holes best.
  const std::vector<int> clique = heavy_clique(items, part(allowance, kBoundUnits));
  const Gluer gluer(items, clique, part(allowance, kGlueUnits));
  t.bound = std::max(t.bound, gluer.bound());
  if (t.footprint <= t.bound) return t;
  auto anneal = [&](const std::vector<Block>& blocks, const Annealing& annealing, Allowance within) {
    Offsets offset = t.offset;
    const std::int64_t lowest = search_blocks(items, blocks, t.bound, annealing, offset, within);
    take(std::move(offset));
    return lowest;
  };
  auto ask = [&](std::int64_t end, std::uint64_t units, int restarts = 0) {
    Offsets found;
    const Answer answer = fits_somehow(items, end, found, units, restarts, allowance);
    if (answer == Answer::kYes) take(std::move(found));
    if (answer == Answer::kNo) t.bound = std::max(t.bound, end + 1);
    return answer != Answer::kUnknown;
  };
  if (ask(t.bound, kExactUnits[0]) && t.footprint <= t.bound) return t;
  Allowance share = part(allowance, items.count() < kFewestForRestarts ? 0 : effort(items));
  struct Gluing {
    std::vector<Block> blocks;
    std::int64_t lowest = INT64_MAX;  // footprint that it led to
  };
  std::vector<Gluing> gluings;
  std::uint64_t seed = 0;
  for (const std::uint64_t rounds : kGluedRounds) {
    if (gluings.empty())
      for (std::uint64_t k = 1; k <= gluings_for(items) && !share.exhausted(); ++k)
        gluings.push_back({gluer.glue(k, part(share, kGlueUnits))});
    else
      gluings.resize((gluings.size() + 3) / 4);
    for (Gluing& gluing : gluings) {
      if (share.exhausted()) break;
      gluing.lowest = anneal(gluing.blocks, {rounds, kGluedHeat, ++seed}, share);
      if (t.footprint <= t.bound) return t;
    }
    std::stable_sort(gluings.begin(), gluings.end(),
                     [](const Gluing& a, const Gluing& b) { return a.lowest < b.lowest; });
    if (gluings.empty() || gluings.front().lowest - t.bound > t.bound / kNear) break;
  }

  // Raise the bound or lower the footprint until they meet, or neither moves. Single items get what is left.
  allowance = part(allowance, 3 * effort(items) / 4);
  for (const std::uint64_t units : kExactUnits) {
    ask(t.bound, units, units == kExactUnits[1] ? restarts_for(items) : 0);
    while (t.bound < t.footprint && ask((t.bound + t.footprint - 1) / 2, units)) {
    }
    while (t.bound < t.footprint && ask(t.footprint - 1, units)) {
    }
    if (t.bound >= t.footprint || search(rounds_for(items)) || allowance.exhausted()) break;
  }
  allowance = whole;
  if (t.bound < t.footprint && items.count() >= kFewestForRestarts && items.count() <= kMostForSingles &&
      anneal(single_blocks(items), {kSingleRounds, kSingleHeat, 2}, allowance) <= t.bound)
    return t;
  if (t.bound < t.footprint && items.count() >= kFewestForRestarts && search(rounds_for(items))) return t;
  if (items.count() <= kMostForProof)
    while (t.bound < t.footprint) {
      Offsets found;
      const Answer answer = fits_by_z3(items, t.footprint - 1, found, part(allowance, kProofUnits));
      if (answer == Answer::kUnknown) break;
      if (answer == Answer::kNo) t.bound = t.footprint;
      if (answer == Answer::kYes) take(std::move(found));
    }
  return t;
}

}  // namespace pipelink::place
