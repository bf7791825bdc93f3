#include "linker/place/bound.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <utility>

#include "linker/place/antichain.h"
#include "linker/place/clique.h"

namespace pipelink::place {
namespace {

constexpr std::uint64_t kGlanceUnits = 6'000;  // for one search for a clique where flow can take over

// The pairs (modulus, residue) that can give different cuts. Between two sizes modulo A, a larger residue is
// better.
std::vector<std::pair<std::int64_t, std::int64_t>> families(const Items& items) {
  std::set<std::int64_t> moduli(items.align.begin(), items.align.end());
  moduli.insert(1);
  std::vector<std::pair<std::int64_t, std::int64_t>> result;
  for (std::int64_t a : moduli) {
    std::set<std::int64_t> residues{a - 1};
    for (std::size_t i = 0; i < items.count(); ++i)
      if (items.align[i] >= a && items.size[i] % a) residues.insert(items.size[i] % a - 1);
    for (std::int64_t r : residues) result.emplace_back(a, r);
  }
  return result;
}

Cut make_cut(const Items& items, const std::vector<int>& members, std::int64_t modulus,
             std::int64_t residue) {
  Cut cut;
  cut.modulus = modulus;
  cut.residue = residue;
  std::int64_t total = 0;
  for (int i : members)
    if (std::int64_t w = cut_weight(items.size[i], items.align[i], modulus, residue); w > 0) {
      cut.members.push_back(i);
      cut.weight.push_back(w);
      total += w;
    }
  cut.value = cut_value(total, modulus, residue);
  return cut;
}

// The members of the heaviest clique if each item weighs weight(item); none if that is not above `floor`.
template <class Weight>
std::vector<int> heaviest(const Items& items, Allowance& allowance, Weight&& item_weight,
                          std::int64_t floor) {
  std::vector<std::int64_t> weight(items.between_groups.size());
  for (std::size_t i = 0; i < items.count(); ++i) weight[items.group[i]] += item_weight(i);
  // Searching is mostly cheap; where it is not, flow decides if the order permits.
  const bool ordered = !items.order.empty();
  Clique clique = heaviest_clique(
      items.between_groups, weight,
      Allowance(allowance.meter(), ordered ? std::min(kGlanceUnits, allowance.left()) : allowance.left()),
      floor);
  if (!clique.proven && ordered && !allowance.exhausted())
    clique = heaviest_antichain(items.order, weight, allowance.meter());
  std::vector<int> members;
  for (std::size_t i = 0; i < items.count(); ++i)
    if (std::binary_search(clique.members.begin(), clique.members.end(), items.group[i]))
      members.push_back(static_cast<int>(i));
  return members;
}

}  // namespace

std::vector<int> heavy_clique(const Items& items, Allowance allowance) {
  return heaviest(
      items, allowance, [&](std::size_t i) { return items.size[i]; }, 0);
}

Cut strongest_cut(const Items& items, Allowance allowance, std::int64_t enough) {
  Cut best;
  for (const auto& family : families(items)) {
    const std::int64_t modulus = family.first, residue = family.second;
    // Only a total above this improves on the best value so far.
    const std::int64_t floor = best.value > residue ? (best.value - residue - 1) / modulus + 1 : 0;
    const std::vector<int> members = heaviest(
        items, allowance,
        [&](std::size_t i) { return cut_weight(items.size[i], items.align[i], modulus, residue); }, floor);
    if (members.empty()) continue;
    Cut cut = make_cut(items, members, modulus, residue);
    if (cut.value > best.value) best = std::move(cut);
    if (best.value > enough) break;
  }
  return best;
}

std::vector<Cut> many_cuts(const Items& items, std::size_t most) {
  std::vector<int> order(items.count());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return items.size[a] > items.size[b]; });
  std::set<std::vector<int>> cliques;
  for (int first : order) {
    std::vector<int> clique{first};
    for (int i : order)
      if (i != first &&
          std::all_of(clique.begin(), clique.end(), [&](int j) { return items.conflict[i].test(j); }))
        clique.push_back(i);
    std::sort(clique.begin(), clique.end());
    cliques.insert(std::move(clique));
  }
  std::vector<Cut> cuts;
  for (auto [modulus, residue] : families(items))
    for (const std::vector<int>& clique : cliques) cuts.push_back(make_cut(items, clique, modulus, residue));
  std::stable_sort(cuts.begin(), cuts.end(), [](const Cut& a, const Cut& b) { return a.value > b.value; });
  if (cuts.size() > most) cuts.resize(most);
  return cuts;
}

}  // namespace pipelink::place
