#include <algorithm>
#include <iterator>
#include <set>

#include "linker/bind/words.h"
#include "linker/check/context.h"
#include "linker/protocol/order.h"
#include "packager/contract/steps.h"

namespace pipelink::checking {
namespace {

using binding::quoted;

constexpr std::int64_t kTried = 16;  // stages more than there are
constexpr std::size_t kMended = 2;   // faults for which a way out is tried: bounds the work
constexpr std::size_t kSettings = 64;

bool has_fault(const ProtocolOrder& order, const std::string& title) {
  return std::any_of(order.faults.begin(), order.faults.end(),
                     [&](const ProtocolFault& f) { return f.diagnostic.title == title; });
}

/// Titles of the requirements that do not hold with these depths.
std::set<std::string> broken_requirements(const Context& context, const RingStages& stages) {
  const Outcome<Bindings> placed = with_placement(context.composition, context.bindings, stages);
  if (!placed) return {"facts that read the placement"};
  const Context with(context.composition, *placed, &stages);
  Findings findings;
  check_requirements(with, findings);
  std::set<std::string> out;
  for (const Finding& f : findings) out.insert(f.diagnostic.title);
  return out;
}

/// SET lines for every settable fact on which the order of waits depends.
std::vector<Proposal> settings(const Context& context) {
  std::vector<Proposal> out;
  std::set<std::string> seen;
  for (std::size_t i = 0; i < context.composition.instances.size(); ++i) {
    const contract::Contract& c = context.contract(i);
    if (c.steps.empty()) continue;
    const auto add = [&](const contract::Amount& amount) {
      for (Proposal& p : context.settings(i, amount))
        if (out.size() < kSettings && seen.insert(p.help).second) out.push_back(std::move(p));
    };
    const auto counts = [&](const auto& self, const contract::Step& step) -> void {
      add(step.count);
      for (const contract::Step& inner : step.inner) self(self, inner);
    };
    for (const contract::Steps& s : c.steps)
      for (const std::string* text : {&s.once, &s.loop})
        if (const contract::ParsedSteps parsed = contract::parse_steps(*text))
          for (const contract::Step& step : *parsed.value) counts(counts, step);
    for (const contract::Ring& r : c.rings) {
      add(r.stages_max);
      add(r.stages_min);
    }
    for (const contract::Mbarriers& m : c.mbarriers) add(m.count);
    for (const contract::NamedBarrier& b : c.named_barriers) add(b.threads);
  }
  return out;
}

/// The least depth of one ring with which these waits are met, tried from the present one on; if it breaks no
/// requirement that the present one meets.
std::vector<Proposal> depths(const Context& context, const RingStages& stages, const ProtocolFault& fault) {
  std::vector<Proposal> out;
  if (fault.rings.empty()) return out;
  const std::set<std::string> before = broken_requirements(context, stages);
  for (const PortRef ring : fault.rings) {
    RingStages deeper = stages;
    for (std::int64_t more = 1; more <= kTried; ++more) {
      const std::int64_t depth = deeper[ring] = stages.at(ring) + more;
      if (has_fault(protocol_order(context.composition, context.bindings, deeper), fault.diagnostic.title))
        continue;
      const std::set<std::string> after = broken_requirements(context, deeper);
      if (!std::includes(before.begin(), before.end(), after.begin(), after.end())) continue;
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
    if (&fault - order.faults.data() < static_cast<std::ptrdiff_t>(kMended)) {
      f.proposals = depths(context, stages, fault);
      if (context.placed && !f.proposals.empty()) f.diagnostic.help = f.proposals.front().help;
      std::vector<Proposal> sets = settings(context);  // the composition's own; a depth is another owner's
      f.proposals.insert(f.proposals.begin(), std::make_move_iterator(sets.begin()),
                         std::make_move_iterator(sets.end()));
    }
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
