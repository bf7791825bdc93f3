#include "linker/place/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "linker/place/canonical.h"
#include "linker/place/core.h"
#include "linker/place/depths.h"
#include "linker/place/solve.h"

namespace pipelink::place {

Explanation why_not_deeper(const Problem& given, const Solution& solution, std::string_view ring_name) {
  Explanation e;
  const Problem problem = canonical(given);
  const int ring = find_sorted(problem.rings, ring_name);
  if (ring < 0 || solution.rings.size() != problem.rings.size()) {
    e.text = fmt::format("there is no ring {}", ring_name);
    return e;
  }
  const int depth = solution.rings[ring].depth;
  if (depth >= problem.rings[ring].max_depth) {
    e.text = fmt::format("ring {} has its greatest depth, {}", ring_name, depth);
    return e;
  }
  // The depths at the moment the step was refused: the steps before it that were taken.
  std::vector<int> depths;
  for (const Ring& r : problem.rings) depths.push_back(r.min_depth);
  for (const Step& step : steps_of(problem)) {
    if (step.ring == ring && step.depth == depth + 1) break;
    if (step.depth <= solution.rings[step.ring].depth) depths[step.ring] = step.depth;
  }
  depths[ring] = depth + 1;
  Meter meter(kDefaultLimit / 8);
  const Conflicts shared = conflicts(Lifetimes(problem), problem.buffers);
  const Items items = shared_items(problem, shared, depths);
  const std::int64_t capacity = shared_capacity(problem.target);
  const Packed packed = pack(items, capacity / items.unit, {}, Allowance(meter, meter.limit() / 2));
  std::string others;
  for (std::size_t r = 0; r < problem.rings.size(); ++r)
    if (static_cast<int>(r) != ring)
      others += fmt::format("{}{}={}", others.empty() ? "" : " ", problem.rings[r].name, depths[r]);
  const std::string with = others.empty() ? "" : fmt::format(" (with {})", others);
  if (packed.answer != Answer::kNo) {
    e.proven = false;
    e.text = fmt::format("no placement with ring {} at depth {}{} was found within the work limit", ring_name,
                         depth + 1, with);
    return e;
  }
  const Core core = minimal_core(items, capacity / items.unit, Allowance(meter, meter.left()));
  const std::vector<std::int64_t> bytes = buffer_bytes(problem, depths);
  std::int64_t sum = 0;
  for (int i : core.items) sum += bytes[i];
  e.facts = buffer_facts(problem, bytes, core.items);
  if (core.clique && sum > capacity)
    e.text = fmt::format("at depth {}{}, {} claims that may not share sum to {} of {} bytes", depth + 1, with,
                         core.items.size(), sum, capacity);
  else if (core.clique)
    e.text = fmt::format(
        "at depth {}{}, {} claims that may not share sum to {} and with their alignments need {} of {} bytes",
        depth + 1, with, core.items.size(), sum, core.need, capacity);
  else
    e.text = fmt::format("at depth {}{}, {} claims of {} bytes in all have no placement within {} bytes",
                         depth + 1, with, core.items.size(), sum, capacity);
  return e;
}

}  // namespace pipelink::place
