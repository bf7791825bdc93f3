#include <set>

#include "linker/bind/words.h"
#include "linker/check/context.h"

namespace pipelink::checking {
namespace {

using binding::counted;
using binding::joined;
using binding::quoted;

/// The instances whose roles can run code of `instance`: itself and those that call its exports, through
/// others too.
std::set<std::size_t> callers_of(const Context& context, std::size_t instance) {
  std::set<std::size_t> found{instance};
  for (std::size_t before = 0; before != found.size();) {
    before = found.size();
    for (const Binding& b : context.bindings.callables) {
      if (found.count(b.exporter.instance)) found.insert(b.importer.instance);
    }
  }
  return found;
}

void check_barrier(const Context& context, std::size_t instance, const contract::NamedBarrier& barrier,
                   Findings& findings) {
  const Value wanted = context.evaluate(instance, barrier.threads);
  if (!wanted.number) return;
  Diagnostic d;
  std::int64_t threads = 0;
  std::vector<std::string> terms;
  for (const std::size_t i : callers_of(context, instance)) {
    for (const contract::Role& r : context.contract(i).roles) {
      const std::int64_t own = std::int64_t{32} * r.warps;
      d.facts.push_back(
          {context.owner(i),
           "role " + quoted(r.name) + " has " + counted(static_cast<std::size_t>(own), "thread"), r.where});
      terms.push_back(std::to_string(own));
      threads += own;
    }
  }
  if (threads == 0 || *wanted.number <= threads) return;  // 0: nothing ever runs this code
  const std::string& owner = context.owner(instance);
  d.clause = "L-THREADS";
  d.title =
      "the named barrier " + quoted(owner + "." + barrier.name) + " waits for more threads than can come";
  d.facts.insert(d.facts.begin(), {owner,
                                   "named barrier " + quoted(barrier.name) + " is for " +
                                       context.shown(instance, barrier.threads) + " threads",
                                   barrier.where});
  d.reason = joined(terms, " + ") + (terms.size() > 1 ? " = " + std::to_string(threads) : "") +
             " threads can reach it, " + std::to_string(*wanted.number - threads) +
             " less than it waits for: it never opens";
  d.help = "state the number of threads that meet, or use roles that have as many";
  findings.push_back({std::move(d), context.settings(instance, barrier.threads)});
}

}  // namespace

void check_threads(const Context& context, Findings& findings) {
  for (std::size_t i = 0; i < context.composition.instances.size(); ++i) {
    for (const contract::NamedBarrier& b : context.contract(i).named_barriers)
      check_barrier(context, i, b, findings);
  }
}

}  // namespace pipelink::checking
