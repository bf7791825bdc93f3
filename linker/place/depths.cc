#include "linker/place/depths.h"

#include <algorithm>
#include <tuple>

#include "linker/place/canonical.h"

namespace pipelink::place {
namespace {

constexpr std::uint64_t kBoundUnits = 2'000'000;

}  // namespace

std::vector<Step> steps_of(const Problem& problem) {
  std::vector<Step> steps;
  for (std::size_t r = 0; r < problem.rings.size(); ++r)
    for (int d = problem.rings[r].min_depth + 1; d <= problem.rings[r].max_depth; ++d)
      steps.push_back({static_cast<int>(r), d});
  std::stable_sort(steps.begin(), steps.end(), [&](const Step& x, const Step& y) {
    const Ring &a = problem.rings[x.ring], &b = problem.rings[y.ring];
    if (a.tier != b.tier) return a.tier < b.tier;
    return static_cast<std::int64_t>(x.depth - a.min_depth) * b.weight <
           static_cast<std::int64_t>(y.depth - b.min_depth) * a.weight;
  });
  return steps;
}

std::vector<std::int64_t> buffer_bytes(const Problem& problem, const std::vector<int>& depths) {
  std::vector<std::int64_t> bytes;
  for (const Buffer& b : problem.buffers) {
    const int ring = b.stage_bytes ? find_sorted(problem.rings, b.ring) : -1;
    bytes.push_back(b.bytes + (ring >= 0 ? b.stage_bytes * depths[ring] : 0));
  }
  return bytes;
}

Items shared_items(const Problem& problem, const Conflicts& conflicts, const std::vector<int>& depths) {
  std::vector<std::int64_t> align;
  for (const Buffer& b : problem.buffers) align.push_back(b.align);
  return make_items(conflicts, buffer_bytes(problem, depths), align);
}

Depths choose_depths(const Problem& problem, const Conflicts& conflicts, Meter& meter) {
  Depths result;
  const std::int64_t capacity = shared_capacity(problem.target);
  for (const Ring& ring : problem.rings) result.depths.push_back(ring.min_depth);
  const std::vector<int> least = result.depths;
  bool open = false;
  Order hint;
  auto attempt = [&](const std::vector<int>& depths, std::uint64_t share) {
    const Items items = shared_items(problem, conflicts, depths);
    // All of them together take no more than half, since the footprint takes work, too.
    const std::uint64_t half = meter.limit() / 2;
    Packed packed =
        pack(items, capacity / items.unit, hint,
             Allowance(meter, std::min(meter.limit() / share, half - std::min(half, meter.used()))));
    if (packed.answer == Answer::kYes) {
      result.offset = std::move(packed.offset);
      hint = address_order(items, result.offset);
    }
    return packed.answer;
  };
  result.answer = attempt(result.depths, 2);
  if (result.answer != Answer::kYes) return result;
  result.bound = result.depths;
  std::vector<bool> stopped(problem.rings.size());
  for (const Step& step : steps_of(problem)) {
    if (stopped[step.ring]) continue;
    std::vector<int> deeper = result.depths;
    ++deeper[step.ring];
    const Answer answer = attempt(deeper, 8);
    if (answer == Answer::kYes) {
      result.depths = deeper;
      result.bound[step.ring] = std::max(result.bound[step.ring], step.depth);
    } else {
      stopped[step.ring] = true;
      open = open || answer == Answer::kUnknown;
    }
  }
  result.proven = !open;
  if (!open) return result;
  // A step that stayed open may lead to other depths altogether: what is certain is what a ring cannot have
  // alone.
  for (std::size_t r = 0; r < problem.rings.size(); ++r) {
    std::vector<int> alone = least;
    alone[r] = problem.rings[r].max_depth;
    const auto excluded = [&] {
      const Items items = shared_items(problem, conflicts, alone);
      const std::int64_t end = capacity / items.unit;
      return strongest_cut(items, Allowance(meter, kBoundUnits), end).value > end;
    };
    while (alone[r] > result.depths[r] && excluded()) --alone[r];
    result.bound[r] = std::max(result.depths[r], alone[r]);
  }
  return result;
}

}  // namespace pipelink::place
