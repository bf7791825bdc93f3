// Which port meets which: the composition's graph, every import settled.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "linker/compose/composition.h"

namespace pipelink {

/// A port of an instance: `index` into the contract's list for its kind.
struct PortRef {
  std::size_t instance = 0;
  std::size_t index = 0;
  auto operator<=>(const PortRef&) const = default;
};

struct Binding {
  PortRef importer;
  PortRef exporter;
};

/// A fact as the composition fixes it. Every instance that owns a fact has its own value. An import that
/// nobody owns and that states a default is its own owner here.
struct FactValue {
  std::size_t owner = 0;  ///< instance
  std::size_t index = 0;  ///< into the owner's contract.facts
  contract::FactType type = contract::FactType::kInteger;
  std::int64_t integer = 0;  ///< kInteger, kBoolean
  std::string text;          ///< kReal, kText, in canonical form
  bool set_by_composition = false;
  bool defaulted = false;       ///< `owner` only imports it; the value is the import's default
  bool from_placement = false;  ///< its expression reads the placement (`RING.stages`): evaluated after place
};

struct Bindings {
  std::vector<Binding> callables;  ///< by importer; several exports of one import in the order of their BINDs
  /// Pairs of imports by which a role hands tiles to another role: `exporter` gives, `importer` takes. By
  /// importer, as those below.
  std::vector<Binding> handovers;
  std::vector<Binding> rings;
  std::vector<Binding> counters;
  std::vector<Binding>
      tensors;  ///< along bound callables, by parameter; the importer may have one for each caller
  /// For each instance, in the order of its contract.facts: index into `facts`. Never npos in a result of
  /// bind().
  std::vector<std::vector<std::size_t>> fact_of;
  std::vector<FactValue> facts;
  std::vector<PortRef> dropped;  ///< exported callables that nobody imports
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
};

/// The bound exporter of an import, if there is one.
inline const PortRef* exporter_of(const std::vector<Binding>& bindings, PortRef importer) {
  for (const Binding& b : bindings) {
    if (b.importer == importer) return &b.exporter;
  }
  return nullptr;
}

/// Depths of the rings by (owner instance, index of its ring).
using RingStages = std::map<PortRef, std::int64_t>;

/// A change of the composition that could mend an error, tried before it is offered.
struct Proposal {
  std::string help;  ///< "SET gemm.tile_m=128"
  std::function<void(Composition&)> apply;
};

/// Whether a composition that binds holds in what is judged after bind().
using Judge = std::function<bool(const Composition&, const Bindings&)>;

/// Settles every import or says why not, with all candidates and the reason each was rejected. Rule: BIND
/// first; then an export with the import's own name, if there is just one among the other instances; then the
/// only compatible one. A same-named export that does not fit is an error (of check), never passed over for
/// another. A callable may be bound to several exports, by as many BINDs. Two imports are a hand-over between
/// roles if one gives a tile that the other takes: by the tensors' name, unless there is an export of the
/// callable's name; else the only compatible pair among those that no export serves. A ring export that BIND
/// or its name has given to an importer is no candidate for others. A fact of several owners is that of the
/// owner to which the reader is bound, directly or else through others, if it is just one. A help line that
/// says BIND, SET or remove was tried: with it this error is gone and no other comes, and what then binds is
/// right to `judge`.
Outcome<Bindings> bind(const Composition& composition, const Judge& judge = {});

/// As bind, without a word on why not.
std::optional<Bindings> bind_if_right(const Composition& composition);

/// `bindings` with the facts that read the placement evaluated. L-FACT-DOMAIN, L-FACT-TYPE, P-EXPRESSION.
Outcome<Bindings> with_placement(const Composition& composition, const Bindings& bindings,
                                 const RingStages& stages);

/// Names visible to an expression of `instance`: its own and imported facts by name (integers and booleans),
/// and `RING.stages` for its rings. `stages` maps (instance, ring index) of ring owners to depths; pass an
/// empty map before placement: then names that read the placement are absent.
std::map<std::string, std::int64_t> expression_scope(const Composition& composition, const Bindings& bindings,
                                                     std::size_t instance, const RingStages& stages);

}  // namespace pipelink
