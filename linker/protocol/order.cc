#include "linker/protocol/order.h"

#include <algorithm>
#include <set>

#include "linker/protocol/sequences.h"

namespace pipelink {
namespace {

struct Judged {
  ProtocolOrder order;
  bool repeats = false;  ///< the number of repeats has a part in it
};

/// With every `*` taken `repeats` times.
Judged with_repeats(const Composition& composition, const Bindings& bindings, const RingStages& stages,
                    std::int64_t repeats) {
  ProtocolOrder out;
  protocol::Sequences sequences = protocol::sequences_of(composition, bindings, stages, repeats);
  out.faults = protocol::missing_arrivals(composition, sequences);
  protocol::Rounds rounds = protocol::rounds_of(composition, sequences);
  const bool balanced = rounds.faults.empty();
  for (ProtocolFault& f : rounds.faults) out.faults.push_back(std::move(f));
  if (balanced)
    for (ProtocolFault& f : protocol::cycles_of(composition, sequences, rounds.iterations))
      out.faults.push_back(std::move(f));
  for (const protocol::Protocol& p : sequences.protocols)
    if (p.unchecked.empty())
      out.checked.push_back(p.name);
    else
      out.unchecked.push_back({p.name, p.unchecked});
  std::sort(out.checked.begin(), out.checked.end());
  std::sort(out.unchecked.begin(), out.unchecked.end(),
            [](const UncheckedProtocol& a, const UncheckedProtocol& b) { return a.name < b.name; });
  return {std::move(out), sequences.repeats};
}

}  // namespace

ProtocolOrder protocol_order(const Composition& composition, const Bindings& bindings,
                             const RingStages& stages) {
  Judged judged = with_repeats(composition, bindings, stages, 1);
  if (!judged.order.faults.empty() || !judged.repeats) return std::move(judged.order);
  // What is repeated any number of times must be right however often it is: also more often than any ring is
  // deep.
  std::int64_t deepest = 1;
  for (const auto& [ring, depth] : stages) deepest = std::max(deepest, depth);
  for (const std::int64_t repeats : std::set<std::int64_t>{2, deepest + 1}) {
    judged = with_repeats(composition, bindings, stages, repeats);
    for (ProtocolFault& f : judged.order.faults)
      f.diagnostic.reason += "\nwith " + std::to_string(repeats) +
                             " rounds of each part marked `*`; with fewer all waits are met";
    if (!judged.order.faults.empty()) break;
  }
  return std::move(judged.order);
}

}  // namespace pipelink
