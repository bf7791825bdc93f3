// Calls that lead back to where they began, over exports, what these call, and to what that is bound.
#include "linker/bind/graph.h"
#include "linker/bind/passes.h"
#include "linker/bind/proposals.h"
#include "linker/bind/words.h"

namespace pipelink::binding {
namespace {

/// From an export of the circle to the next one.
struct Hop {
  PortRef from, import, to;
};

class Calls {
 public:
  Calls(const Composition& composition, const Bindings& bindings)
      : composition_(composition), bindings_(bindings) {
    std::map<PortRef, std::vector<PortRef>> exporters;
    for (const Binding& b : bindings.callables) exporters[b.importer].push_back(b.exporter);
    for (std::size_t i = 0; i < composition.instances.size(); ++i) {
      const contract::Contract& c = composition.contract(i);
      for (std::size_t k = 0; k < c.callables.size(); ++k)
        for (const std::string& called : c.callables[k].calls)
          for (std::size_t n = 0; n < c.callables.size(); ++n) {
            if (c.callables[n].name != called || c.callables[n].direction != contract::Direction::kImport)
              continue;
            for (const PortRef to : exporters[{i, n}]) add({{i, k}, {i, n}, to});
          }
    }
  }

  /// One for each knot of exports that call each other.
  std::vector<std::vector<Hop>> circles() const {
    Edges edges;
    for (const auto& [edge, hop] : hops_) edges.insert(edge);
    std::vector<std::vector<Hop>> out;
    for (const std::vector<std::size_t>& cycle : shortest_cycles(exports_.size(), edges)) {
      std::vector<Hop>& circle = out.emplace_back();
      for (std::size_t n = 0; n < cycle.size(); ++n)
        circle.push_back(hops_.at({cycle[n], cycle[(n + 1) % cycle.size()]}));
    }
    return out;
  }

  void report(const std::vector<Hop>& circle, Faults& faults) const {
    Diagnostic d =
        error("L-RECURSION", "the calls of " + quoted(name(circle.front().from)) + " lead back to it");
    std::vector<Proposal> ways_out;
    std::string path = name(circle.front().from);
    for (const Hop& hop : circle) {
      const contract::Callable &exported = callable(hop.from), &import = callable(hop.import);
      d.facts.push_back({owner(hop.from),
                         "exports callable " + quoted(exported.name) + ", which calls " + quoted(import.name),
                         exported.where});
      d.facts.push_back({owner(hop.import),
                         "imports callable " + quoted(import.name) + "; bound to " + quoted(name(hop.to)),
                         import.where});
      path += " -> " + name(hop.import) + " -> " + name(hop.to);
      for (Proposal& way : other_exports(composition_, bindings_.callables, hop.import, hop.to, true))
        ways_out.push_back(std::move(way));
    }
    d.reason = path + ": " + counted(circle.size(), "call") +
               " in a circle; none returns, and the toolchain would drop " +
               (circle.size() == 1 ? "it" : "them") + " and what comes after";
    d.help = "bind one of these imports to an export that does not lead back";
    faults.push_back(std::move(d), std::move(ways_out));
  }

 private:
  void add(const Hop& hop) {
    const std::size_t from = vertex(hop.from), to = vertex(hop.to);
    hops_.emplace(std::make_pair(from, to), hop);
  }

  std::size_t vertex(PortRef exported) {
    const auto [found, added] = numbers_.emplace(exported, exports_.size());
    if (added) exports_.push_back(exported);
    return found->second;
  }

  const contract::Callable& callable(PortRef ref) const {
    return composition_.contract(ref.instance).callables[ref.index];
  }
  const std::string& owner(PortRef ref) const { return composition_.instances[ref.instance].name; }
  std::string name(PortRef ref) const { return dotted(composition_, ref.instance, callable(ref).name); }

  const Composition& composition_;
  const Bindings& bindings_;
  std::vector<PortRef> exports_;
  std::map<PortRef, std::size_t> numbers_;
  std::map<std::pair<std::size_t, std::size_t>, Hop> hops_;
};

}  // namespace

void refuse_recursion(const Composition& composition, const Bindings& bindings, Faults& faults) {
  const Calls calls(composition, bindings);
  for (const std::vector<Hop>& circle : calls.circles()) calls.report(circle, faults);
}

}  // namespace pipelink::binding
