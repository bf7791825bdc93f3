#include <algorithm>
#include <functional>

#include "linker/bind/compatible.h"
#include "linker/bind/passes.h"
#include "linker/bind/proposals.h"
#include "linker/bind/words.h"

namespace pipelink::binding {
namespace {

using contract::Direction;

/// A callable or a ring, seen alike.
struct Port {
  PortRef ref;
  std::string name;
  SourceSpan where;
  std::string says;  ///< "as void(int)", "as consumer"
};

using Misfit = std::function<std::string(PortRef importer, PortRef exporter)>;

struct Candidate {
  const Port* port;
  std::string misfit;  ///< empty: it fits
};

class Settler {
 public:
  Settler(const Composition& composition, const Told& told, std::string kind, Misfit misfit, Faults& faults)
      : composition_(composition),
        told_(told),
        kind_(std::move(kind)),
        misfit_(std::move(misfit)),
        faults_(faults) {}

  std::vector<Port> imports, exports;
  bool exclusive = false;   ///< an export has one importer
  bool keeps_left = false;  ///< what no export serves goes to `left`, without a message
  std::function<std::set<PortRef>(const std::vector<PortRef>&)>
      others;  ///< what settles some of those without
               ///< a namesake in another way
  std::vector<Binding> bound;
  std::vector<Unserved> left;
  std::set<PortRef> silent;     ///< imports of which an earlier message has told the cause
  std::set<PortRef> unsettled;  ///< exports that an unsettled import could have meant
  bool settled = true;

  void run() {
    std::vector<const Port*> open;
    for (const Port& p : imports) {
      if (told_.faulty.count(p.ref)) {
        silent.insert(p.ref);
        continue;
      }
      if (const auto it = told_.exporters_of.find(p.ref); it != told_.exporters_of.end()) {
        for (const PortRef& exporter : it->second) bound.push_back({p.ref, exporter});
      } else {
        open.push_back(&p);
      }
    }
    settled = told_.faulty.empty();
    take();
    open = by_name(open);
    take();
    if (others) {
      std::vector<PortRef> refs;
      for (const Port* p : open) refs.push_back(p->ref);
      const std::set<PortRef> gone = others(refs);
      std::erase_if(open, [&](const Port* p) { return gone.count(p->ref) != 0; });
    }
    for (const Port* p : open) by_fit(*p);
    std::stable_sort(bound.begin(), bound.end(),
                     [](const Binding& a, const Binding& b) { return a.importer < b.importer; });
  }

  std::string name(const Port& p) const { return dotted(composition_, p.ref.instance, p.name); }
  const std::string& owner(const Port& p) const { return composition_.instances[p.ref.instance].name; }
  LabelledFact fact(const Port& p, Direction direction, const std::string& more = {}) const {
    return {owner(p),
            std::string(word_of(direction)) + " " + kind_ + " " + quoted(p.name) + " " + p.says + more,
            p.where};
  }

 private:
  void take() {
    if (!exclusive) return;
    for (const Binding& b : bound) taken_.emplace(b.exporter, b.importer);
  }

  /// Binds the imports that have one namesake; returns those that have none.
  std::vector<const Port*> by_name(const std::vector<const Port*>& open) {
    std::vector<const Port*> rest;
    for (const Port* p : open) {
      std::vector<Candidate> same;
      for (const Port& e : exports) {
        if (e.name != p->name || e.ref.instance == p->ref.instance || taken_.count(e.ref)) continue;
        same.push_back({&e, misfit_(p->ref, e.ref)});
      }
      if (same.size() == 1) {
        bound.push_back({p->ref, same.front().port->ref});
      } else if (same.empty()) {
        rest.push_back(p);
      } else {
        ambiguous(*p, same, counted(same.size(), "export") + " of other instances have this name");
      }
    }
    return rest;
  }

  void by_fit(const Port& p) {
    std::vector<Candidate> all, fitting;
    for (const Port& e : exports) {
      const auto it = taken_.find(e.ref);
      Candidate c{&e, misfit_(p.ref, e.ref)};
      if (e.ref.instance == p.ref.instance) {
        c.misfit = own_misfit(c.misfit);
      } else if (it != taken_.end()) {
        c.misfit = "its other side is " + name_of(it->second);
      }
      if (c.misfit.empty()) fitting.push_back(c);
      all.push_back(std::move(c));
    }
    if (fitting.size() == 1) {
      bound.push_back({p.ref, fitting.front().port->ref});
    } else if (fitting.empty()) {
      unbound(p, all);
    } else {
      ambiguous(
          p, fitting,
          "no export of another instance has this name, and " + std::to_string(fitting.size()) + " fit");
    }
  }

  std::string own_misfit(const std::string& misfit) const {
    if (!misfit.empty()) return "it is the importer's own; " + misfit;
    return kind_ == "callable" ? "it is the importer's own, which only a BIND gives it"
                               : "it is the importer's own, and a " + kind_ + " is shared by two instances";
  }

  std::string name_of(PortRef importer) const {
    for (const Port& p : imports) {
      if (p.ref == importer) return name(p);
    }
    return {};
  }

  /// Whether a BIND that is in error names one of these: it may have been meant to settle this import.
  bool named_in_error(const Port& p, const std::vector<Candidate>& candidates) {
    if (std::none_of(candidates.begin(), candidates.end(), [&](const Candidate& c) {
          return told_.faulty.count(c.port->ref) != 0 && misfit_(p.ref, c.port->ref).empty();
        }))
      return false;
    for (const Candidate& c : candidates) unsettled.insert(c.port->ref);
    silent.insert(p.ref);
    settled = false;
    return true;
  }

  void ambiguous(const Port& p, const std::vector<Candidate>& candidates, const std::string& reason) {
    Diagnostic d = error("L-AMBIGUOUS", "the " + kind_ + " " + quoted(name(p)) + " could be bound to " +
                                            counted(candidates.size(), "export"));
    d.facts.push_back(fact(p, Direction::kImport));
    std::vector<Proposal> proposals;
    std::vector<Meant> meant;
    for (const Candidate& c : candidates) {
      d.facts.push_back(
          fact(*c.port, Direction::kExport, c.misfit.empty() ? "; fits" : "; does not fit: " + c.misfit));
      if (c.misfit.empty()) proposals.push_back(bind_proposal(name(p), name(*c.port)));
      meant.push_back({c.port->ref.instance, c.misfit.empty()});
      unsettled.insert(c.port->ref);
    }
    for (Proposal& without : without_one(composition_, meant, exclusive))
      proposals.push_back(std::move(without));
    d.reason = reason;
    d.help = proposals.empty() ? "none of them fits: change one of them, and name it with BIND"
                               : "name the one that is meant with BIND";
    faults_.push_back(std::move(d), std::move(proposals), true);
    settled = false;
  }

  void unbound(const Port& p, const std::vector<Candidate>& candidates) {
    if (named_in_error(p, candidates)) return;
    Unserved unserved{p.ref, {}, {}};
    for (const Candidate& c : candidates) {
      unserved.rejected.push_back(fact(*c.port, Direction::kExport, "; rejected: " + c.misfit));
      if (!exclusive && c.port->ref.instance == p.ref.instance && misfit_(p.ref, c.port->ref).empty())
        unserved.own.push_back(bind_proposal(name(p), name(*c.port)));
    }
    if (keeps_left) {
      left.push_back(std::move(unserved));
      return;
    }
    for (const Candidate& c : candidates) unsettled.insert(c.port->ref);
    report_unserved(std::move(unserved), kind_, p.name, name(p), fact(p, Direction::kImport), {}, faults_);
    settled = false;
  }

  const Composition& composition_;
  const Told& told_;
  std::string kind_;
  Misfit misfit_;
  Faults& faults_;
  std::map<PortRef, PortRef> taken_;  ///< exclusive: exporter → importer
};

}  // namespace

void report_unserved(Unserved unserved, const std::string& kind, const std::string& port,
                     const std::string& name, LabelledFact import, const Handed& handed, Faults& faults) {
  Diagnostic d = error("L-UNBOUND", "nobody exports what the " + kind + " " + quoted(name) + " needs");
  d.facts.push_back(std::move(import));
  d.facts.insert(d.facts.end(), unserved.rejected.begin(), unserved.rejected.end());
  d.facts.insert(d.facts.end(), handed.rejected.begin(), handed.rejected.end());
  d.reason = unserved.rejected.empty() ? "0 exports of this kind in the composition"
                                       : counted(unserved.rejected.size(), "export") +
                                             " of this kind in the composition, none fits";
  if (!handed.rejected.empty())
    d.reason += "; " + counted(handed.rejected.size(), "import") + " of other roles " +
                (handed.gives ? "that take" : "that give") +
                (handed.rejected.size() > 1
                     ? handed.taken > 0 ? " a tile, none is free and fits" : " a tile, none fits"
                 : handed.taken > 0 ? "s a tile, and it has another side"
                                    : "s a tile, and it does not fit");
  d.help = "add a component that exports " + kind + " " + quoted(port);
  for (Proposal& proposal : unserved.own) proposal.help = d.help + ", or " + proposal.help;
  faults.push_back(std::move(d), std::move(unserved.own));
}

namespace {

template <class List, class Says>
void collect(std::size_t instance, const List& list, Says says, Settler& settler) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    auto& ports = list[i].direction == Direction::kImport ? settler.imports : settler.exports;
    ports.push_back({{instance, i}, list[i].name, list[i].where, says(list[i])});
  }
}

Side side(const Composition& composition, std::size_t instance) {
  return {composition.instances[instance].name, composition.contract(instance)};
}

/// Each ring export has one other side.
void check_ring_ends(const Settler& rings, const Told& told, Faults& faults) {
  for (const Port& e : rings.exports) {
    std::vector<const Port*> others;
    for (const Binding& b : rings.bound) {
      if (b.exporter != e.ref) continue;
      for (const Port& p : rings.imports) {
        if (p.ref == b.importer) others.push_back(&p);
      }
    }
    if (others.size() == 1) continue;
    if (others.empty()) {
      const bool meant = std::any_of(rings.silent.begin(), rings.silent.end(),
                                     [&](PortRef p) { return p.instance != e.ref.instance; });
      if (meant || rings.unsettled.count(e.ref) || told.faulty.count(e.ref)) continue;
      Diagnostic d = error("L-UNBOUND", "the ring " + quoted(rings.name(e)) + " has no other side");
      d.facts.push_back(rings.fact(e, Direction::kExport));
      for (const Port& p : rings.imports) {
        if (p.ref.instance == e.ref.instance) continue;
        const PortRef* to = exporter_of(rings.bound, p.ref);
        std::string other = "an export in error";
        for (const Port& x : rings.exports) {
          if (to && x.ref == *to) other = rings.name(x);
        }
        d.facts.push_back(rings.fact(p, Direction::kImport, "; rejected: it is bound to " + other));
      }
      d.reason = "1 side of 2: the ring's barriers never complete, and its owner hangs";
      d.help = "add a component that imports ring " + quoted(e.name) + " as its other side";
      faults.push_back(std::move(d));
      continue;
    }
    Diagnostic d = error("L-RING", "the ring " + quoted(rings.name(e)) + " has " +
                                       std::to_string(others.size()) + " other sides");
    d.facts.push_back(rings.fact(e, Direction::kExport));
    for (const Port* p : others) d.facts.push_back(rings.fact(*p, Direction::kImport));
    d.reason = std::to_string(others.size()) +
               " instances would arrive on barriers that count one; a ring has one producer and "
               "one consumer";
    d.help = "keep one of these importers, and give each other one a ring of its own";
    faults.push_back(std::move(d));
  }
}

}  // namespace

bool settle_callables(const Composition& composition, const BindEntries& told, Bindings& bindings,
                      Faults& faults) {
  const auto misfit = [&](PortRef importer, PortRef exporter) {
    const Side a = side(composition, importer.instance), b = side(composition, exporter.instance);
    return callable_misfit(a, a.contract.callables[importer.index], b, b.contract.callables[exporter.index]);
  };
  Settler settler(composition, told.callables, "callable", misfit, faults);
  settler.keeps_left = true;
  for (std::size_t i = 0; i < composition.instances.size(); ++i) {
    collect(
        i, composition.contract(i).callables,
        [](const contract::Callable& c) { return "as " + quoted(signature_text(c)); }, settler);
  }
  std::erase_if(settler.imports, [&](const Port& p) {
    return std::any_of(told.handovers.begin(), told.handovers.end(),
                       [&](const Binding& b) { return b.importer == p.ref || b.exporter == p.ref; });
  });
  bindings.handovers = told.handovers;
  settler.others = [&](const std::vector<PortRef>& open) {
    std::set<PortRef> paired;
    for (const Binding& b : handovers_by_name(composition, open)) {
      bindings.handovers.push_back(b);
      paired.insert({b.importer, b.exporter});
    }
    return paired;
  };
  settler.run();
  bindings.callables = settler.bound;
  const bool handed = settle_handovers(composition, settler.left, settler.silent, bindings, faults);
  std::set<PortRef> used = settler.unsettled;
  for (const Binding& b : settler.bound) used.insert(b.exporter);
  for (const Port& e : settler.exports) {
    if (!used.count(e.ref)) bindings.dropped.push_back(e.ref);
  }
  return settler.settled && handed;
}

bool settle_counters(const Composition& composition, const Told& told, Bindings& bindings, Faults& faults) {
  const auto misfit = [&](PortRef importer, PortRef exporter) {
    const Side a = side(composition, importer.instance), b = side(composition, exporter.instance);
    return joined(
        counter_faults(a, a.contract.counters[importer.index], b, b.contract.counters[exporter.index]), "; ");
  };
  Settler settler(composition, told, "counter", misfit, faults);
  for (std::size_t i = 0; i < composition.instances.size(); ++i) {
    collect(
        i, composition.contract(i).counters,
        [](const contract::Counter& c) { return "as " + counter_text(c); }, settler);
  }
  settler.run();
  bindings.counters = settler.bound;
  return settler.settled;
}

bool settle_rings(const Composition& composition, const Told& told, Bindings& bindings, Faults& faults) {
  const auto misfit = [&](PortRef importer, PortRef exporter) {
    const Side a = side(composition, importer.instance), b = side(composition, exporter.instance);
    return joined(ring_faults(a, a.contract.rings[importer.index], b, b.contract.rings[exporter.index]),
                  "; ");
  };
  Settler settler(composition, told, "ring", misfit, faults);
  settler.exclusive = true;
  for (std::size_t i = 0; i < composition.instances.size(); ++i) {
    collect(
        i, composition.contract(i).rings, [](const contract::Ring& r) { return "as " + ring_text(r); },
        settler);
  }
  settler.run();
  check_ring_ends(settler, told, faults);
  bindings.rings = settler.bound;
  return settler.settled;
}

}  // namespace pipelink::binding
