// Imports that no export serves, in pairs: a role gives a tile by the one, another role takes it by the
// other.
#include <algorithm>

#include "linker/bind/compatible.h"
#include "linker/bind/passes.h"
#include "linker/bind/proposals.h"
#include "linker/bind/words.h"

namespace pipelink::binding {
namespace {

using contract::Callable;
using contract::Direction;
using contract::TensorPort;

class HandoverSettler {
 public:
  HandoverSettler(const Composition& composition, const std::vector<Unserved>& left,
                  const std::set<PortRef>& silent, Bindings& bindings, Faults& faults)
      : composition_(composition), left_(left), silent_(silent), bindings_(bindings), faults_(faults) {}

  void add(PortRef import) {
    if (tile(import, Direction::kExport) != nullptr) givers_.push_back(import);
    if (tile(import, Direction::kImport) != nullptr) takers_.push_back(import);
  }

  void by_name() {
    match(
        [&](PortRef giver, PortRef taker) { return same_name(giver, taker) && misfit(giver, taker).empty(); },
        nullptr);
  }

  bool run() {
    for (const Unserved& u : left_) add(u.import);
    for (const Binding& b : bindings_.handovers)
      for (const PortRef port : {b.importer, b.exporter}) {
        add(port);
        settled_.insert(port);
      }
    const std::size_t before = faults_.list.size();
    match([&](PortRef giver, PortRef taker) { return same_name(giver, taker); },
          " of other instances carry a tensor of this name");
    match([&](PortRef giver, PortRef taker) { return misfit(giver, taker).empty(); },
          " of other instances fit, and not just one of them carries a tensor of this name");
    bool quiet = false;
    for (const Unserved& u : left_) {
      if (settled_.count(u.import)) continue;
      if (meets_silent(u.import)) {
        quiet = true;
      } else {
        unserved(u);
      }
    }
    std::sort(bindings_.handovers.begin(), bindings_.handovers.end(),
              [](const Binding& a, const Binding& b) { return a.importer < b.importer; });
    return faults_.list.size() == before && !quiet;
  }

 private:
  const contract::Contract& contract(PortRef ref) const { return composition_.contract(ref.instance); }
  const Callable& callable(PortRef ref) const { return contract(ref).callables[ref.index]; }
  Side side(PortRef ref) const { return {composition_.instances[ref.instance].name, contract(ref)}; }
  std::string name(PortRef ref) const { return dotted(composition_, ref.instance, callable(ref).name); }

  const TensorPort* tile(PortRef ref, Direction direction) const {
    const auto found = handed_tensor(contract(ref), callable(ref), direction);
    return found ? &contract(ref).tensors[*found] : nullptr;
  }

  bool same_name(PortRef giver, PortRef taker) const {
    return tile(giver, Direction::kExport)->name == tile(taker, Direction::kImport)->name;
  }

  std::string misfit(PortRef giver, PortRef taker) const {
    std::vector<std::string> faults =
        handover_faults(side(giver), callable(giver), side(taker), callable(taker));
    if (faults.empty())
      faults = tensor_faults(side(taker), *tile(taker, Direction::kImport), side(giver),
                             *tile(giver, Direction::kExport));
    return joined(faults, "; ");
  }

  LabelledFact fact(PortRef ref, const std::string& more = {}) const {
    const bool gives = tile(ref, Direction::kExport) != nullptr;
    const TensorPort* tensor = gives ? tile(ref, Direction::kExport) : tile(ref, Direction::kImport);
    std::string text =
        "imports callable " + quoted(callable(ref).name) + " as " + quoted(signature_text(callable(ref)));
    if (tensor != nullptr && !more.empty())
      text +=
          std::string(gives ? ", which gives the tile " : ", which takes the tile ") + quoted(tensor->name);
    return {composition_.instances[ref.instance].name, text + more, callable(ref).where};
  }

  /// Whether an import that is left alone gives what this one takes, or the other way round.
  bool meets_silent(PortRef port) const {
    return std::any_of(silent_.begin(), silent_.end(), [&](PortRef other) {
      return other.instance != port.instance &&
             ((tile(port, Direction::kExport) && tile(other, Direction::kImport)) ||
              (tile(port, Direction::kImport) && tile(other, Direction::kExport)));
    });
  }

  /// The exports to which an import is bound.
  std::string served_by(PortRef import) const {
    std::vector<std::string> names;
    for (const Binding& b : bindings_.callables)
      if (b.importer == import) names.push_back(name(b.exporter));
    return joined(names, ", ");
  }

  /// The pairs of which neither side has another partner; an error for the others, if `why` says one.
  template <class Fits>
  void match(Fits fits, const char* why) {
    std::map<PortRef, std::vector<PortRef>> partners;
    for (const PortRef taker : takers_)
      for (const PortRef giver : givers_) {
        if (giver.instance == taker.instance || settled_.count(giver) || settled_.count(taker)) continue;
        if (!fits(giver, taker)) continue;
        partners[taker].push_back(giver);
        partners[giver].push_back(taker);
      }
    for (const auto* list : {&takers_, &givers_})
      for (const PortRef port : *list)
        if (const auto found = partners.find(port); found != partners.end() && found->second.size() > 1)
          if (why != nullptr && !settled_.count(port)) ambiguous(port, found->second, why);
    for (const PortRef taker : takers_) {
      const auto found = partners.find(taker);
      if (found == partners.end() || settled_.count(taker) || settled_.count(found->second.front())) continue;
      if (found->second.size() > 1 || partners[found->second.front()].size() > 1) continue;
      bindings_.handovers.push_back({taker, found->second.front()});
      settled_.insert({taker, found->second.front()});
    }
  }

  void ambiguous(PortRef port, const std::vector<PortRef>& partners, const std::string& why) {
    const bool gives = tile(port, Direction::kExport) != nullptr;
    Diagnostic d =
        error("L-AMBIGUOUS", "the callable " + quoted(name(port)) +
                                 (gives ? " could hand its tile to " : " could take its tile from ") +
                                 counted(partners.size(), "import"));
    d.facts.push_back(fact(port));
    std::vector<Proposal> proposals;
    std::vector<Meant> meant;
    for (const PortRef other : partners) {
      const std::string fault = gives ? misfit(port, other) : misfit(other, port);
      d.facts.push_back(fact(other, fault.empty() ? "; fits" : "; does not fit: " + fault));
      if (fault.empty())
        proposals.push_back(gives ? bind_proposal(name(other), name(port))
                                  : bind_proposal(name(port), name(other)));
      meant.push_back({other.instance, fault.empty()});
    }
    for (Proposal& without : without_one(composition_, meant, true)) proposals.push_back(std::move(without));
    d.reason = counted(partners.size(), "import") + why;
    d.help = proposals.empty() ? "none of them fits: change one of them, and name it with BIND"
                               : "name the one that is meant with BIND";
    faults_.push_back(std::move(d), std::move(proposals), true);
    settled_.insert(port);
    settled_.insert(partners.begin(), partners.end());
  }

  void unserved(const Unserved& import) {
    Handed handed;
    handed.gives = tile(import.import, Direction::kExport) != nullptr;
    const std::vector<PortRef> none;
    const bool takes = tile(import.import, Direction::kImport) != nullptr;
    std::vector<PortRef> others = handed.gives ? takers_ : takes ? givers_ : none;
    for (const Binding& b : bindings_.callables)  // served otherwise
      if (tile(b.importer, handed.gives ? Direction::kImport : Direction::kExport) != nullptr &&
          (handed.gives || takes))
        others.push_back(b.importer);
    std::sort(others.begin(), others.end());
    others.erase(std::unique(others.begin(), others.end()), others.end());
    for (const PortRef other : others) {
      if (other.instance == import.import.instance) continue;
      std::string why = handed.gives ? misfit(import.import, other) : misfit(other, import.import);
      for (const Binding& b : bindings_.handovers)
        if (b.importer == other || b.exporter == other)
          why = "its other side is " + name(b.importer == other ? b.exporter : b.importer);
      if (const std::string exports = served_by(other); !exports.empty()) why = "it is bound to " + exports;
      if (settled_.count(other) || !served_by(other).empty()) ++handed.taken;
      handed.rejected.push_back(fact(other, "; rejected: " + why));
    }
    report_unserved(import, "callable", callable(import.import).name, name(import.import),
                    fact(import.import), handed, faults_);
  }

  const Composition& composition_;
  const std::vector<Unserved>& left_;
  const std::set<PortRef>& silent_;
  Bindings& bindings_;
  Faults& faults_;
  std::vector<PortRef> givers_, takers_;
  std::set<PortRef> settled_;  ///< bound, or told of
};

}  // namespace

std::vector<Binding> handovers_by_name(const Composition& composition, const std::vector<PortRef>& open) {
  Bindings bindings;
  Faults none;
  const std::vector<Unserved> left;
  const std::set<PortRef> silent;
  HandoverSettler settler(composition, left, silent, bindings, none);
  for (const PortRef import : open) settler.add(import);
  settler.by_name();
  return std::move(bindings.handovers);
}

bool settle_handovers(const Composition& composition, const std::vector<Unserved>& left,
                      const std::set<PortRef>& silent, Bindings& bindings, Faults& faults) {
  return HandoverSettler(composition, left, silent, bindings, faults).run();
}

}  // namespace pipelink::binding
