#include <algorithm>
#include <tuple>

#include "linker/bind/compatible.h"
#include "linker/bind/passes.h"
#include "linker/bind/words.h"

namespace pipelink::binding {
namespace {

using contract::Direction;
using contract::TensorPort;

class TensorSettler {
 public:
  TensorSettler(const Composition& composition, Bindings& bindings, Faults& faults)
      : composition_(composition), bindings_(bindings), faults_(faults) {}

  void run() {
    for (std::size_t i = 0; i < composition_.instances.size(); ++i) {
      const auto& tensors = composition_.contract(i).tensors;
      for (std::size_t k = 0; k < tensors.size(); ++k) {
        if (tensors[k].via.empty() && tensors[k].direction == Direction::kImport) uncarried({i, k});
      }
    }
    for (const Binding& call : bindings_.callables) {
      take(call.importer, call.exporter);
      take(call.exporter, call.importer);
    }
    for (const Binding& handover : bindings_.handovers) {
      const auto tensor = [&](PortRef port, Direction direction) {
        const contract::Contract& c = composition_.contract(port.instance);
        return PortRef{port.instance, *handed_tensor(c, c.callables[port.index], direction)};
      };
      bindings_.tensors.push_back(
          {tensor(handover.importer, Direction::kImport), tensor(handover.exporter, Direction::kExport)});
    }
    std::sort(bindings_.tensors.begin(), bindings_.tensors.end(), [](const Binding& a, const Binding& b) {
      return std::tie(a.importer, a.exporter) < std::tie(b.importer, b.exporter);
    });
  }

 private:
  const std::string& callable(PortRef ref) const {
    return composition_.contract(ref.instance).callables[ref.index].name;
  }
  LabelledFact fact(PortRef ref, const std::string& more = {}) const {
    const TensorPort& t = composition_.contract(ref.instance).tensors[ref.index];
    return {
        composition_.instances[ref.instance].name,
        std::string(word_of(t.direction)) + " tensor " + quoted(t.name) + ", " + tensor_text(t) +
            (t.via.empty() ? "" : ", on parameter " + std::to_string(t.parameter) + " of " + quoted(t.via)) +
            more,
        t.where};
  }

  /// The tensors that the side of `taker` imports, from the side of `giver`, both callables of one binding.
  void take(PortRef taker, PortRef giver) {
    const auto& ours = composition_.contract(taker.instance);
    const auto& theirs = composition_.contract(giver.instance);
    for (const std::size_t i : tensors_via(ours, callable(taker))) {
      if (ours.tensors[i].direction != Direction::kImport) continue;
      const PortRef port{taker.instance, i};
      std::vector<PortRef> fitting, named;
      std::vector<LabelledFact> rejected;
      for (const std::size_t k : tensors_via(theirs, callable(giver))) {
        const TensorPort& t = theirs.tensors[k];
        const PortRef other{giver.instance, k};
        if (t.direction != Direction::kExport) {
          rejected.push_back(fact(other, "; rejected: it is an import too"));
        } else if (t.parameter != ours.tensors[i].parameter) {
          rejected.push_back(fact(other, "; rejected: it is on another parameter"));
        } else {
          fitting.push_back(other);
          if (t.name == ours.tensors[i].name) named.push_back(other);
        }
      }
      if (fitting.size() > 1 && named.size() == 1) fitting = named;
      if (fitting.size() == 1) {
        bindings_.tensors.push_back({port, fitting.front()});
      } else if (fitting.empty()) {
        unbound(port, taker, giver, rejected);
      } else {
        ambiguous(port, fitting);
      }
    }
  }

  void uncarried(PortRef port) {
    const TensorPort& t = composition_.contract(port.instance).tensors[port.index];
    Diagnostic d = error(
        "L-UNBOUND", "no callable carries the tensor " + quoted(dotted(composition_, port.instance, t.name)));
    d.facts.push_back(fact(port));
    d.reason = "a tensor is bound along the callable that carries it, and this one names none";
    d.help = "name the callable and its parameter where " + quoted(t.name) + " is declared";
    faults_.push_back(std::move(d));
  }

  void unbound(PortRef port, PortRef taker, PortRef giver, const std::vector<LabelledFact>& rejected) {
    const TensorPort& t = composition_.contract(port.instance).tensors[port.index];
    const std::string& other = composition_.instances[giver.instance].name;
    const auto& call = composition_.contract(giver.instance).callables[giver.index];
    Diagnostic d = error("L-UNBOUND", "nobody exports what the tensor " +
                                          quoted(dotted(composition_, port.instance, t.name)) + " needs");
    d.facts.push_back(fact(port));
    d.facts.push_back({other,
                       std::string(word_of(call.direction)) + " callable " + quoted(call.name) +
                           ", to which " + quoted(dotted(composition_, taker.instance, t.via)) + " is bound",
                       call.where});
    d.facts.insert(d.facts.end(), rejected.begin(), rejected.end());
    d.reason = "0 tensors that " + other + " exports on parameter " + std::to_string(t.parameter) + " of " +
               quoted(call.name);
    d.help = "declare in " + other + " the tensor that it gives on this parameter, with its layout";
    faults_.push_back(std::move(d));
  }

  void ambiguous(PortRef port, const std::vector<PortRef>& fitting) {
    const TensorPort& t = composition_.contract(port.instance).tensors[port.index];
    Diagnostic d = error("L-AMBIGUOUS", "the tensor " + quoted(dotted(composition_, port.instance, t.name)) +
                                            " could be bound to " + counted(fitting.size(), "export"));
    d.facts.push_back(fact(port));
    for (const PortRef other : fitting) d.facts.push_back(fact(other));
    d.reason = std::to_string(fitting.size()) +
               " tensors travel on one parameter, and not just one of them has the "
               "import's name";
    d.help = "give the tensor that is meant the name " + quoted(t.name);
    faults_.push_back(std::move(d));
  }

  const Composition& composition_;
  Bindings& bindings_;
  Faults& faults_;
};

}  // namespace

void settle_tensors(const Composition& composition, Bindings& bindings, Faults& faults) {
  TensorSettler(composition, bindings, faults).run();
}

}  // namespace pipelink::binding
