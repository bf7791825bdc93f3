// The steps of bind(), in order. Each adds its diagnostics and goes on; a port or fact that an earlier step
// has complained of is left alone by the later ones.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "linker/bind/bindings.h"

namespace pipelink::binding {

/// A diagnostic whose help is still open: its own is what is said if no proposal works.
struct Fault {
  Diagnostic diagnostic;
  std::vector<Proposal> proposals;
  bool all = false;  ///< all proposals that work are offered, else the first
};

class Faults {
 public:
  void push_back(Diagnostic d, std::vector<Proposal> proposals = {}, bool all = false) {
    list.push_back({std::move(d), std::move(proposals), all});
  }
  Diagnostics diagnostics() const {
    Diagnostics out;
    for (const Fault& f : list) out.push_back(f.diagnostic);
    return out;
  }

  std::vector<Fault> list;
};

/// What one kind of port is told by BIND.
struct Told {
  std::map<PortRef, std::vector<PortRef>>
      exporters_of;          ///< by importer; several, in order, of callables only
  std::set<PortRef> faulty;  ///< named by a BIND that is in error
};

struct BindEntries {
  Told callables, rings, facts, counters;
  std::vector<Binding> handovers;  ///< as Bindings::handovers
};

/// The BIND entries, resolved. L-BIND.
BindEntries resolve_bind(const Composition& composition, Faults& faults);

/// Hand-overs too. L-UNBOUND, L-AMBIGUOUS. False if an import is left unsettled.
bool settle_callables(const Composition& composition, const BindEntries& told, Bindings& bindings,
                      Faults& faults);

/// A callable that no export serves, and why each does not.
struct Unserved {
  PortRef import;
  std::vector<LabelledFact> rejected;
  std::vector<Proposal> own;  ///< exports of its own instance that would do
};

/// Imports of other roles that could have been the other side, and why none is.
struct Handed {
  bool gives = false;     ///< the import gives a tile, and they would take it
  std::size_t taken = 0;  ///< of the rejected, those that have another side
  std::vector<LabelledFact> rejected;
};

/// L-UNBOUND of `port`, in full `name`, which `import` tells.
void report_unserved(Unserved unserved, const std::string& kind, const std::string& port,
                     const std::string& name, LabelledFact import, const Handed& handed, Faults& faults);

/// The pairs among `open` imports that carry tensors of one name from one to the other and fit, where neither
/// side has another such partner.
std::vector<Binding> handovers_by_name(const Composition& composition, const std::vector<PortRef>& open);

/// Pairs imports that no export serves, where the one gives a tile and the other takes it. L-UNBOUND for
/// those that are left, L-AMBIGUOUS. Of `silent` imports a message has been given: what could have been the
/// other side of one of them is left alone.
bool settle_handovers(const Composition& composition, const std::vector<Unserved>& left,
                      const std::set<PortRef>& silent, Bindings& bindings, Faults& faults);

/// No bound call leads back to itself. L-RECURSION.
void refuse_recursion(const Composition& composition, const Bindings& bindings, Faults& faults);

/// As callables; besides, each ring export has exactly one importer. L-RING.
bool settle_rings(const Composition& composition, const Told& told, Bindings& bindings, Faults& faults);

/// As callables; a counter may have many importers.
bool settle_counters(const Composition& composition, const Told& told, Bindings& bindings, Faults& faults);

/// Along the bound callables and hand-overs. L-UNBOUND, L-AMBIGUOUS.
void settle_tensors(const Composition& composition, Bindings& bindings, Faults& faults);

/// Fills `facts` (without values) and `fact_of`. L-FACT-OWNERS (not if `ports_settled` is false, since a
/// missing binding could have told the owner), L-FACT-MISSING, L-FACT-TYPE.
void settle_facts(const Composition& composition, const Told& told, bool ports_settled, Bindings& bindings,
                  Faults& faults);

/// The values that the composition sets. L-SET, L-FACT-FIXED, L-FACT-TYPE, L-FACT-DOMAIN.
void apply_set(const Composition& composition, Bindings& bindings, Faults& faults);

/// The values that are not set, in the order of their dependence. With `stages`, only those that read the
/// placement. L-FACT-CYCLE, L-FACT-DOMAIN, L-FACT-TYPE, P-EXPRESSION.
void evaluate_facts(const Composition& composition, Bindings& bindings, const RingStages* stages,
                    Faults& faults);

/// L-ISOLATED, as a warning, or as a note for an instance with a role of its own.
void report_isolated(const Composition& composition, const Bindings& bindings, Faults& faults);

}  // namespace pipelink::binding
