#include "linker/bind/words.h"
#include "linker/check/context.h"

namespace pipelink::checking {

using binding::counted;
using binding::quoted;

void check_block(const Context& context, Findings& findings) {
  constexpr std::int64_t kMaxThreads = 1024;
  Diagnostic d;
  std::int64_t warps = 0;
  std::vector<std::string> terms;
  for (std::size_t i = 0; i < context.composition.instances.size(); ++i) {
    for (const contract::Role& r : context.contract(i).roles) {
      d.facts.push_back(
          {context.owner(i),
           "role " + quoted(r.name) + " has " + counted(static_cast<std::size_t>(r.warps), "warp"), r.where});
      warps += r.warps;
      terms.push_back(std::to_string(r.warps));
    }
  }
  d.clause = "L-WARPS";
  if (d.facts.empty()) {
    d.title = "no component has a role";
    for (std::size_t i = 0; i < context.composition.instances.size(); ++i) {
      d.facts.push_back({context.owner(i), "has 0 roles", context.contract(i).where});
    }
    d.reason = "0 warps: the kernel would have nothing to run";
    d.help = "add a component with a role that calls these";
  } else if (warps * 32 > kMaxThreads) {
    d.title = "the roles need more threads than a block has";
    d.reason = binding::joined(terms, " + ") + " = " + std::to_string(warps) + " warps, " +
               std::to_string(warps * 32) + " threads; a block has " + std::to_string(kMaxThreads);
    d.help = "leave out roles of " + std::to_string(warps - kMaxThreads / 32) + " warps or more";
  } else {
    return;
  }
  findings.push_back({std::move(d), {}});
}

}  // namespace pipelink::checking
