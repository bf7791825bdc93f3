#include "linker/check/check.h"

#include <set>
#include <tuple>
#include <utility>

#include "linker/check/context.h"

namespace pipelink {
namespace {

using checking::Context;
using checking::Finding;
using checking::Findings;

using Key = std::pair<std::string, std::string>;  ///< clause, title: titles hold no values

Findings find(const Composition& composition, const Bindings& bindings) {
  const Context context(composition, bindings, nullptr);
  Findings findings;
  checking::check_calls(context, findings);
  checking::check_tensors(context, findings);
  checking::check_rings(context, findings);
  checking::check_counters(context, findings);
  checking::check_grid(context, findings);
  checking::check_amounts(context, findings);
  checking::check_requirements(context, findings);
  checking::check_block(context, findings);
  checking::check_packages(context, findings);
  checking::check_threads(context, findings);
  checking::check_protocols(context, checking::deepest(context), findings);
  return findings;
}

/// Tries proposals, one after another, against the whole of bind and check.
class Trials {
 public:
  Trials(const Composition& composition, const Findings& before) : composition_(composition) {
    for (const Finding& f : before) before_.insert(key(f.diagnostic));
  }

  /// The first proposal that ends this error and brings no other.
  void settle(Finding& finding) {
    for (const Proposal& proposal : finding.proposals) {
      if (left_ == 0) return;
      --left_;
      if (!works(proposal, key(finding.diagnostic))) continue;
      finding.diagnostic.help = proposal.help;
      return;
    }
  }

 private:
  static Key key(const Diagnostic& d) { return {d.clause, d.title}; }

  bool works(const Proposal& proposal, const Key& goal) const {
    Composition changed = composition_;
    proposal.apply(changed);
    const std::optional<Bindings> bound = bind_if_right(changed);
    if (!bound) return false;
    for (const Finding& f : find(changed, *bound)) {
      if (key(f.diagnostic) == goal || !before_.count(key(f.diagnostic))) return false;
    }
    return true;
  }

  const Composition& composition_;
  std::set<Key> before_;
  int left_ = 256;  ///< bounds the work, by count
};

/// What both sides read is said once.
void drop_repeated(std::vector<LabelledFact>& facts) {
  std::set<std::tuple<std::string, std::string, std::string, int>> seen;
  std::erase_if(facts, [&](const LabelledFact& f) {
    return !seen.emplace(f.owner, f.text, f.where.file, f.where.line).second;
  });
}

Diagnostics diagnostics_of(Findings findings) {
  Diagnostics out;
  for (Finding& f : findings) {
    drop_repeated(f.diagnostic.facts);
    out.push_back(std::move(f.diagnostic));
  }
  return out;
}

}  // namespace

bool holds(const Composition& composition, const Bindings& bindings) {
  return find(composition, bindings).empty();
}

Diagnostics check(const Composition& composition, const Bindings& bindings) {
  Findings findings = find(composition, bindings);
  Trials trials(composition, findings);
  for (Finding& f : findings) trials.settle(f);
  return diagnostics_of(std::move(findings));
}

Diagnostics check_placed(const Composition& composition, const Bindings& bindings, const RingStages& stages) {
  Outcome<Bindings> placed = with_placement(composition, bindings, stages);
  if (!placed) return std::move(placed.diagnostics);
  const Context context(composition, *placed, &stages);
  Findings findings;
  checking::check_rings(context, findings);
  checking::check_counters(context, findings);
  checking::check_amounts(context, findings);
  checking::check_requirements(context, findings);
  checking::check_protocols(context, stages, findings);
  return diagnostics_of(std::move(findings));
}

}  // namespace pipelink
