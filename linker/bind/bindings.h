// Which port meets which: the composition's graph, every import settled.
#pragma once

#include <cstddef>
#include <map>
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

/// A fact as the composition fixes it. Every instance that owns a fact has its own value.
struct FactValue {
  std::size_t owner = 0;       ///< instance
  std::size_t index = 0;       ///< into the owner's contract.facts
  contract::FactType type = contract::FactType::kInteger;
  std::int64_t integer = 0;    ///< kInteger, kBoolean
  std::string text;            ///< kReal, kText, in canonical form
  bool set_by_composition = false;
  bool from_placement = false; ///< its expression reads the placement (`RING.stages`): evaluated after place
};

struct Bindings {
  std::vector<Binding> callables;  ///< sorted by importer
  std::vector<Binding> rings;
  std::vector<Binding> tensors;
  /// For each instance, in the order of its contract.facts: index into `facts` (own or imported); npos when an
  /// import falls back to its default.
  std::vector<std::vector<std::size_t>> fact_of;
  std::vector<FactValue> facts;
  std::vector<PortRef> dropped;    ///< exported callables that nobody imports
  static constexpr std::size_t npos = static_cast<std::size_t>(-1);
};

/// Settles every import or says why not, with all candidates and the reason each was rejected. Rule: BIND first; then
/// an export with the import's own name, if there is just one among the other instances; then the only compatible
/// one. A same-named export that does not fit is an error, never passed over for another.
Outcome<Bindings> bind(const Composition& composition);

/// Names visible to an expression of `instance`: its own and imported facts by name, and `RING.stages` for its rings.
/// `stages` maps (instance, ring index) of ring owners to depths; pass an empty map before placement.
std::map<std::string, std::int64_t> expression_scope(const Composition& composition, const Bindings& bindings,
                                                     std::size_t instance,
                                                     const std::map<PortRef, std::int64_t>& stages);

}  // namespace pipelink
