#include <algorithm>

#include "linker/bind/words.h"
#include "linker/check/context.h"
#include "packager/contract/steps.h"

namespace pipelink::checking {
namespace {

using binding::quoted;

std::string extents(const int (&cluster)[3]) {
  return "(" + std::to_string(cluster[0]) + ", " + std::to_string(cluster[1]) + ", " +
         std::to_string(cluster[2]) + ")";
}

LabelledFact launch_fact(const Context& context) {
  return {"composition", "launches clusters of " + extents(context.composition.launch.cluster),
          context.composition.where()};
}

/// The composition's cluster is the one that all components ask for, and one that can be launched.
void check_cluster(const Context& context, Findings& findings) {
  const int(&launched)[3] = context.composition.launch.cluster;
  if (launched[1] != 1 || launched[2] != 1) {
    Finding f;
    f.diagnostic = binding::error("L-CLUSTER", "the composition's clusters have more than one dimension");
    f.diagnostic.facts = {launch_fact(context)};
    f.diagnostic.reason = "the grid has one dimension, so a cluster is (n, 1, 1)";
    f.diagnostic.help =
        "launch clusters of (" + std::to_string(launched[0] * launched[1] * launched[2]) + ", 1, 1)";
    findings.push_back(std::move(f));
    return;
  }
  std::vector<std::size_t> asking;
  for (std::size_t i = 0; i < context.composition.instances.size(); ++i) {
    const auto& grid = context.contract(i).grid;
    if (grid && grid->cluster.size() == 3) asking.push_back(i);
  }
  if (asking.empty()) return;
  const auto asked = [&](std::size_t i) { return context.contract(i).grid->cluster.front(); };
  const bool agree = std::all_of(asking.begin(), asking.end(),
                                 [&](std::size_t i) { return asked(i) == asked(asking.front()); });
  if (agree && asked(asking.front()) == launched[0]) return;
  Finding f;
  Diagnostic& d = f.diagnostic;
  d = binding::error("L-CLUSTER", agree
                                      ? "the composition does not launch the clusters that a component needs"
                                      : "two components need different clusters");
  std::vector<std::string> terms;
  for (const std::size_t i : asking) {
    d.facts.push_back({context.owner(i), "needs clusters of (" + std::to_string(asked(i)) + ", 1, 1)",
                       context.contract(i).grid->where});
    terms.push_back(std::to_string(asked(i)) + " in " + context.owner(i));
  }
  if (agree) {
    d.facts.push_back(launch_fact(context));
    const auto blocks = static_cast<int>(asked(asking.front()));
    d.reason = binding::joined(terms, ", ") + ", and " + std::to_string(launched[0]) + " in the composition";
    d.help = "LINK_OPTIONS cluster=" + std::to_string(blocks) + "x1x1";
    f.proposals.push_back({d.help, [blocks](Composition& c) { c.launch.cluster[0] = blocks; }});
  } else {
    d.reason = "blocks of a cluster: " + binding::joined(terms, ", ") + "; a kernel has one size";
    d.help = "use components that are written for one size of cluster";
  }
  findings.push_back(std::move(f));
}

/// Whether a word of `name` is among the steps, those in brackets too.
bool has_step(const std::vector<contract::Step>& steps, const std::string& word, const std::string& name) {
  return std::any_of(steps.begin(), steps.end(), [&](const contract::Step& s) {
    return (s.word == word && s.name == name) || has_step(s.inner, word, name);
  });
}

/// An import need not state it: then it is the owner's.
const std::string& scope_of(const Context& context, std::size_t instance, const contract::Counter& counter) {
  if (!counter.scope.empty() || counter.direction == contract::Direction::kExport) return counter.scope;
  for (const Binding& b : context.bindings.counters)
    if (b.importer.instance == instance && &context.contract(instance).counters[b.importer.index] == &counter)
      return context.contract(b.exporter.instance).counters[b.exporter.index].scope;
  return counter.scope;
}

/// Blocks that wait at a counter of the device for each other must be there at one time.
void check_resident(const Context& context, Findings& findings) {
  for (std::size_t i = 0; i < context.composition.instances.size(); ++i)
    if (context.contract(i).grid && context.contract(i).grid->resident) return;
  for (std::size_t i = 0; i < context.composition.instances.size(); ++i) {
    const contract::Contract& c = context.contract(i);
    for (const contract::Counter& k : c.counters) {
      const std::string& scope = scope_of(context, i, k);
      if (scope != "device" && scope != "system") continue;
      for (const contract::Steps& s : c.steps) {
        const contract::ParsedSteps once = contract::parse_steps(s.once),
                                    loop = contract::parse_steps(s.loop);
        if (!(once && has_step(*once.value, "wait", k.name)) &&
            !(loop && has_step(*loop.value, "wait", k.name)))
          continue;
        Finding f;
        f.diagnostic =
            binding::error("L-GRID", "blocks that wait at " + quoted(context.owner(i) + "." + k.name) +
                                         " need not all be on the device");
        f.diagnostic.facts = {
            {context.owner(i), "has the counter " + quoted(k.name) + ", scope " + k.scope, k.where},
            {context.owner(i), "waits at it in " + quoted(s.name), s.where}};
        f.diagnostic.reason =
            "0 components ask for resident blocks: a block that waits may keep out the one that it waits for";
        f.diagnostic.help = "state PIPELINK_GRID(.resident = true) in " + context.owner(i);
        const std::size_t package = context.composition.instances[i].package;
        f.proposals.push_back({f.diagnostic.help, [package](Composition& changed) {
                                 auto& grid = changed.packages[package].contract.grid;
                                 if (!grid) grid.emplace();
                                 grid->resident = true;
                               }});
        findings.push_back(std::move(f));
        return;
      }
    }
  }
}

}  // namespace

void check_grid(const Context& context, Findings& findings) {
  check_cluster(context, findings);
  check_resident(context, findings);
}

}  // namespace pipelink::checking
