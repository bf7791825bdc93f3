// What every check sees: the composition, its bindings, and the values that names have in each instance.
#pragma once

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "linker/bind/bindings.h"
#include "linker/bind/compatible.h"
#include "packager/contract/expression.h"

namespace pipelink::checking {

/// A diagnostic whose help is still open. The diagnostic's own help is what is said if no proposal works.
struct Finding {
  Diagnostic diagnostic;
  std::vector<Proposal> proposals;
};
using Findings = std::vector<Finding>;

struct Value {
  std::optional<std::int64_t> number;
  bool later =
      false;  ///< it reads the placement and there is none yet, or the other way round: not to be judged now
  std::string error;
};

class Context {
 public:
  /// `stages` is null before placement.
  Context(const Composition& composition, const Bindings& bindings, const RingStages* stages);

  const Composition& composition;
  const Bindings& bindings;
  const bool placed;

  const std::string& owner(std::size_t instance) const { return composition.instances[instance].name; }
  const contract::Contract& contract(std::size_t instance) const { return composition.contract(instance); }
  binding::Side side(std::size_t instance) const { return {owner(instance), contract(instance)}; }
  const contract::Scope& scope(std::size_t instance) const { return scopes_[instance]; }

  Value evaluate(std::size_t instance, const contract::Amount& amount) const;

  /// Whether an amount of `instance` depends on the placement.
  bool reads_placement(std::size_t instance, const contract::Amount& amount) const;

  /// "16384" for a number, "`tile_m * 256` = 16384" for an expression.
  std::string shown(std::size_t instance, const contract::Amount& amount) const;

  /// "tile_m = 64, tile_n = 128": the values of the names of an amount; empty without names.
  std::string with_values(std::size_t instance, const contract::Amount& amount) const;

  /// A fact for each name of an amount: where its value is from.
  std::vector<LabelledFact> sources(std::size_t instance, const contract::Amount& amount) const;

  /// SET lines for every settable fact on which an amount depends, the values nearest to the present one
  /// first.
  std::vector<Proposal> settings(std::size_t instance, const contract::Amount& amount) const;

 private:
  std::optional<std::size_t> fact(std::size_t instance, const std::string& name) const;
  void settable(std::size_t instance, const contract::Amount& amount, std::set<std::size_t>& seen,
                std::vector<std::size_t>& found) const;

  std::vector<contract::Scope> scopes_;
};

void check_calls(const Context& context, Findings& findings);  ///< L-SIGNATURE
void check_tensors(const Context& context,
                   Findings& findings);                        ///< L-LAYOUT, P-LAYOUT, P-VALUE, P-EXPRESSION
void check_rings(const Context& context, Findings& findings);  ///< L-RING, L-SCOPE
void check_counters(const Context& context, Findings& findings);      ///< L-COUNTER, L-SCOPE
void check_grid(const Context& context, Findings& findings);          ///< L-CLUSTER, L-GRID
void check_amounts(const Context& context, Findings& findings);       ///< P-VALUE, P-EXPRESSION, L-FACT-CYCLE
void check_requirements(const Context& context, Findings& findings);  ///< L-REQUIRE, P-EXPRESSION
void check_block(const Context& context, Findings& findings);         ///< L-WARPS
void check_packages(const Context& context, Findings& findings);      ///< L-ODR
void check_threads(const Context& context, Findings& findings);       ///< L-THREADS

/// The greatest depth of every ring that can be computed, by owner.
RingStages deepest(const Context& context);
void check_protocols(const Context& context, const RingStages& stages,
                     Findings& findings);  ///< L-DEADLOCK, L-RATE, L-COUNT, L-OVERRUN

}  // namespace pipelink::checking
