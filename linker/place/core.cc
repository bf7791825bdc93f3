#include "linker/place/core.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "linker/place/canonical.h"
#include "linker/place/pack.h"
#include "linker/place/proof.h"

namespace pipelink::place {
namespace {

constexpr std::uint64_t kCoreUnits = 1'600'000;  // for one question of the deletion
constexpr std::uint64_t kZ3CoreUnits = 500'000;

}  // namespace

// Members of the cut as long as it alone excludes them; what Z3 needed, where it can tell; else all. Then
// deletion: what is left out must leave an impossible rest, and what stays must make a possible one.
Core minimal_core(const Items& items, std::int64_t end, Allowance allowance) {
  Core core;
  const auto part = [&](std::uint64_t units) {
    return Allowance(allowance.meter(), std::min(units, allowance.left()));
  };
  const Cut cut = strongest_cut(items, Allowance(allowance.meter(), allowance.left() / 2), end);
  std::vector<int> set;
  const auto by_size = [&] {
    std::stable_sort(set.begin(), set.end(), [&](int a, int b) { return items.size[a] > items.size[b]; });
  };
  const auto value = [&](const std::vector<int>& members) {
    std::int64_t total = 0;
    for (int i : members) total += cut_weight(items.size[i], items.align[i], cut.modulus, cut.residue);
    return cut_value(total, cut.modulus, cut.residue);
  };
  const bool excluded = cut.value > end;
  if (excluded) {
    set = cut.members;
    by_size();
    remove_needless(set, [&](const std::vector<int>& less) { return value(less) > end; });
  } else {
    if (items.count() > kMostForProof || !core_by_z3(items, end, set, part(kZ3CoreUnits))) {
      set.resize(items.count());
      std::iota(set.begin(), set.end(), 0);
    }
    by_size();
  }
  remove_needless(set, [&](const std::vector<int>& less) {
    const Packed packed = pack(subset(items, less), end, {}, part(kCoreUnits));
    if (packed.answer == Answer::kUnknown) core.minimal = false;
    return packed.answer == Answer::kNo;
  });
  core.clique = excluded && value(set) > end;
  core.need = (core.clique ? value(set) : end + 1) * items.unit;
  core.items = set;
  return core;
}

std::vector<LabelledFact> buffer_facts(const Problem& problem, const std::vector<std::int64_t>& bytes,
                                       const std::vector<int>& core) {
  std::vector<LabelledFact> facts;
  for (int i : core) {
    const Buffer& b = problem.buffers[i];
    std::string text = fmt::format("{} takes {} bytes", b.name, bytes[i]);
    if (b.stage_bytes) {
      const std::int64_t stages = (bytes[i] - b.bytes) / b.stage_bytes;
      text += fmt::format(" ({} {} of {} bytes of ring {})", stages, stages == 1 ? "stage" : "stages",
                          b.stage_bytes, b.ring);
    }
    facts.push_back(
        {b.owner, fmt::format("{}, aligned to {}, {}", text, b.align, lifetime_text(b)), b.where});
  }
  return facts;
}

std::string core_text(const Core& core, std::int64_t sum, std::int64_t capacity, const std::string& after) {
  const std::size_t n = core.items.size();
  const char* perhaps = core.minimal ? "" : "; not all of them may be needed for that";
  if (n == 1) return fmt::format("this claim alone takes {} of {} bytes{}", sum, capacity, after);
  if (core.clique && sum > capacity)
    return fmt::format("no two of these {} claims may share bytes, and they sum to {} of {} bytes{}{}", n,
                       sum, capacity, after, perhaps);
  if (core.clique)
    return fmt::format(
        "no two of these {} claims may share bytes; they sum to {} and with their alignments need {} of {} "
        "bytes{}{}",
        n, sum, core.need, capacity, after, perhaps);
  return fmt::format(
      "no placement of these {} claims, {} bytes in all, fits {} bytes{}; {}", n, sum, capacity, after,
      core.minimal ? "without any one of them there is one" : "not all of them may be needed for that");
}

}  // namespace pipelink::place
