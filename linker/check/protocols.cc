#include <algorithm>

#include "linker/bind/words.h"
#include "linker/check/context.h"
#include "linker/protocol/order.h"

namespace pipelink::checking {
namespace {

using binding::quoted;

constexpr std::int64_t kTried = 16;  // stages more than there are
constexpr std::size_t kMended = 2;   // faults for which depths are tried: bounds the work

bool has_fault(const ProtocolOrder& order, const std::string& title) {
  return std::any_of(order.faults.begin(), order.faults.end(),
                     [&](const ProtocolFault& f) { return f.diagnostic.title == title; });
}

/// The least depth of one ring with which these waits are met, tried from the present one on.
std::vector<Proposal> depths(const Context& context, const RingStages& stages, const ProtocolFault& fault) {
  std::vector<Proposal> out;
  for (const PortRef ring : fault.rings) {
    RingStages deeper = stages;
    for (std::int64_t more = 1; more <= kTried; ++more) {
      const std::int64_t depth = deeper[ring] = stages.at(ring) + more;
      if (has_fault(protocol_order(context.composition, context.bindings, deeper), fault.diagnostic.title))
        continue;
      const contract::Ring& r = context.contract(ring.instance).rings[ring.index];
      const Value most = context.evaluate(ring.instance, r.stages_max);
      const std::int64_t range = std::max(depth, most.number.value_or(depth));
      out.push_back({"give the ring " + quoted(context.owner(ring.instance) + "." + r.name) +
                         " a least depth: .stages = {" + std::to_string(depth) + ", " +
                         std::to_string(range) + "}; with " + std::to_string(depth) +
                         " stages these waits are met",
                     [ring, depth, range](Composition& c) {
                       contract::Ring& changed =
                           c.packages[c.instances[ring.instance].package].contract.rings[ring.index];
                       changed.stages_min = {depth, {}};
                       changed.stages_max = {range, {}};
                     }});
      break;
    }
  }
  return out;
}

RingStages depths_of(const Context& context, contract::Amount contract::Ring::*amount) {
  RingStages out;
  for (std::size_t i = 0; i < context.composition.instances.size(); ++i) {
    const std::vector<contract::Ring>& rings = context.contract(i).rings;
    for (std::size_t k = 0; k < rings.size(); ++k) {
      if (rings[k].direction != contract::Direction::kExport) continue;
      const Value depth = context.evaluate(i, rings[k].*amount);
      if (depth.number && *depth.number > 0) out[{i, k}] = *depth.number;
    }
  }
  return out;
}

bool states_steps(const Composition& composition) {
  return std::any_of(composition.packages.begin(), composition.packages.end(),
                     [](const PackageInput& p) { return !p.contract.steps.empty(); });
}

}  // namespace

RingStages deepest(const Context& context) {
  return depths_of(context, &contract::Ring::stages_max);
}

void check_protocols(const Context& context, const RingStages& stages, Findings& findings) {
  if (!states_steps(context.composition)) return;
  const ProtocolOrder order = protocol_order(context.composition, context.bindings, stages);
  const auto told = [&](const std::string& barrier) {  // more threads than all roles have
    return std::any_of(findings.begin(), findings.end(), [&](const Finding& f) {
      return f.diagnostic.clause == "L-THREADS" &&
             f.diagnostic.title.find(quoted(barrier)) != std::string::npos;
    });
  };
  for (const ProtocolFault& fault : order.faults) {
    if (!fault.barrier.empty() && told(fault.barrier)) continue;
    Finding f{fault.diagnostic, {}};
    if (&fault - order.faults.data() < static_cast<std::ptrdiff_t>(kMended))
      f.proposals = depths(context, stages, fault);
    if (context.placed && !f.proposals.empty()) f.diagnostic.help = f.proposals.front().help;
    findings.push_back(std::move(f));
  }
}

}  // namespace pipelink::checking

namespace pipelink {

RingStages least_depths(const Composition& composition, const Bindings& bindings) {
  if (!checking::states_steps(composition)) return {};
  const checking::Context context(composition, bindings, nullptr);
  const RingStages least = checking::depths_of(context, &contract::Ring::stages_min),
                   most = checking::deepest(context);
  const auto met = [&](const RingStages& depths) {
    return protocol_order(composition, bindings, depths).faults.empty();
  };
  if (least.size() != most.size() || met(least)) return least;
  RingStages out = least;
  for (auto& [ring, depth] : out) {  // more stages never break an order
    std::int64_t low = depth, high = most.at(ring);
    while (low < high) {
      RingStages tried = most;
      tried[ring] = low + (high - low) / 2;
      if (met(tried))
        high = tried[ring];
      else
        low = tried[ring] + 1;
    }
    depth = low;
  }
  return out;
}

}  // namespace pipelink
