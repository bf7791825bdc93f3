#include <algorithm>
#include <optional>

#include "linker/bind/compatible.h"
#include "linker/bind/passes.h"
#include "linker/bind/words.h"

namespace pipelink::binding {
namespace {

using contract::Contract;
using contract::Direction;

enum Kind { kCallable, kRing, kFact, kCounter, kTensor, kKinds };
constexpr const char* kWords[] = {"callable", "ring", "fact", "counter", "tensor"};

struct Port {
  std::size_t index;
  Direction direction;
  SourceSpan where;
};

/// One end of an entry: the ports of that name, by kind.
struct End {
  std::string text;
  std::size_t instance = 0;
  std::optional<Port> ports[kKinds];
};

template <class List>
std::optional<Port> find(const List& list, const std::string& name) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i].name == name) return Port{i, list[i].direction, list[i].where};
  }
  return std::nullopt;
}

std::vector<std::string> port_names(const Contract& c) {
  std::vector<std::string> names;
  for (const auto& p : c.callables) names.push_back(p.name);
  for (const auto& p : c.rings) names.push_back(p.name);
  for (const auto& p : c.facts) names.push_back(p.name);
  for (const auto& p : c.counters) names.push_back(p.name);
  std::sort(names.begin(), names.end());
  return names;
}

class Resolver {
 public:
  Resolver(const Composition& composition, Faults& faults) : composition_(composition), faults_(faults) {}

  BindEntries run() {
    for (const auto& [first, second] : composition_.bind) {
      first_ = first;
      second_ = second;
      entry_ = {"composition", bind_line(first, second), composition_.where(bind_line(first, second))};
      std::optional<End> a = end(first), b = end(second);
      if (a && b) {
        pair(*a, *b);
      } else {
        if (a) poison(*a);
        if (b) poison(*b);
      }
    }
    return std::move(out_);
  }

 private:
  Told* told(int kind) {
    Told* const all[] = {&out_.callables, &out_.rings, &out_.facts, &out_.counters};
    return kind < kTensor ? all[kind] : nullptr;
  }

  /// No further message about these ports. False: there are none.
  bool poison(const End& e) {
    bool any = false;
    for (int kind = 0; kind < kTensor; ++kind) {
      if (!e.ports[kind]) continue;
      told(kind)->faulty.insert({e.instance, e.ports[kind]->index});
      any = true;
    }
    return any;
  }

  void poison_all(std::size_t instance) {
    const Contract& c = composition_.contract(instance);
    const auto all = [&](int kind, const auto& list) {
      for (std::size_t i = 0; i < list.size(); ++i) told(kind)->faulty.insert({instance, i});
    };
    all(kCallable, c.callables);
    all(kRing, c.rings);
    all(kFact, c.facts);
    all(kCounter, c.counters);
  }

  std::optional<End> end(const std::string& text) {
    const auto dot = text.find('.');
    const std::string name = text.substr(0, dot), port = dot == std::string::npos ? "" : text.substr(dot + 1);
    const auto it = std::find_if(composition_.instances.begin(), composition_.instances.end(),
                                 [&](const Instance& i) { return i.name == name; });
    if (it == composition_.instances.end()) {
      std::vector<std::string> all;
      for (const Instance& i : composition_.instances) all.push_back(i.name);
      unknown(
          "a BIND names the instance " + quoted(name) + ", which does not exist", "the instances are ", all,
          near_names(name, all), [&](const std::string& near) { return near + "." + port; }, text);
      return std::nullopt;
    }
    const End e = ports_of(text, static_cast<std::size_t>(it - composition_.instances.begin()), port);
    if (std::none_of(std::begin(e.ports), std::end(e.ports), [](const auto& p) { return p.has_value(); })) {
      const std::vector<std::string> all = port_names(composition_.contract(e.instance));
      unknown(
          "a BIND names " + quoted(text) + ", which does not exist",
          "the ports and facts of " + name + " are ", all, near_names(port, all),
          [&](const std::string& near) { return name + "." + near; }, text);
      return std::nullopt;
    }
    return e;
  }

  End ports_of(const std::string& text, std::size_t instance, const std::string& port) const {
    End e;
    e.text = text;
    e.instance = instance;
    const Contract& c = composition_.contract(instance);
    e.ports[kCallable] = find(c.callables, port);
    e.ports[kRing] = find(c.rings, port);
    e.ports[kFact] = find(c.facts, port);
    e.ports[kCounter] = find(c.counters, port);
    e.ports[kTensor] = find(c.tensors, port);
    return e;
  }

  /// The ports that a misspelt end most likely means; all that it may mean, if its name is near none.
  void poison(const std::string& text) {
    const auto dot = text.find('.');
    const std::string name = text.substr(0, dot), port = dot == std::string::npos ? "" : text.substr(dot + 1);
    bool known = false, any = false;
    for (std::size_t i = 0; i < composition_.instances.size(); ++i) {
      if (composition_.instances[i].name != name) continue;
      known = true;
      if (!poison(ports_of(text, i, port))) poison_all(i);
    }
    if (known) return;
    for (std::size_t i = 0; i < composition_.instances.size(); ++i)
      any = poison(ports_of(text, i, port)) || any;
    for (std::size_t i = 0; !any && i < composition_.instances.size(); ++i) poison_all(i);
  }

  template <class Spell>
  void unknown(const std::string& title, const std::string& lead, const std::vector<std::string>& all,
               const std::vector<std::string>& near, Spell spell, const std::string& wrong) {
    Diagnostic d = error("L-BIND", title);
    d.facts.push_back(entry_);
    d.reason = all.empty() ? "there are none" : lead + joined(all, ", ");
    d.help = "name one of these, or remove the BIND";
    poison(near.empty() ? wrong : spell(near.front()));
    std::vector<Proposal> proposals;
    for (const std::string& name : near) {
      const std::string right = spell(name), old_first = first_, old_second = second_;
      const std::string first = first_ == wrong ? right : first_, second = second_ == wrong ? right : second_;
      proposals.push_back({bind_line(first, second), [=](Composition& c) {
                             for (auto& entry : c.bind)
                               if (entry.first == old_first && entry.second == old_second)
                                 entry = {first, second};
                           }});
    }
    faults_.push_back(std::move(d), std::move(proposals));
  }

  LabelledFact port_fact(const End& e, int kind) const {
    const Port& p = *e.ports[kind];
    return {composition_.instances[e.instance].name,
            std::string(word_of(p.direction)) + " " + kWords[kind] + " " +
                quoted(e.text.substr(e.text.find('.') + 1)),
            p.where};
  }

  void refuse(const End& a, const End& b, const std::string& title, const std::string& reason,
              const std::string& help, std::vector<Proposal> proposals = {}) {
    Diagnostic d = error("L-BIND", title);
    d.facts.push_back(entry_);
    for (const End* e : {&a, &b}) {
      for (int kind = 0; kind < kKinds; ++kind) {
        if (e->ports[kind]) d.facts.push_back(port_fact(*e, kind));
      }
    }
    d.reason = reason;
    d.help = help;
    faults_.push_back(std::move(d), std::move(proposals));
    poison(a);
    poison(b);
  }

  void pair(const End& a, const End& b) {
    bool bound = false, shared_kind = false;
    for (int kind = 0; kind < kTensor; ++kind) {
      if (!a.ports[kind] || !b.ports[kind]) continue;
      shared_kind = true;
      if (a.ports[kind]->direction == b.ports[kind]->direction) continue;
      if (a.instance == b.instance && kind != kCallable) {
        refuse(a, b, "a BIND joins two ports of one instance",
               "a " + std::string(kWords[kind]) + " is shared by two instances",
               "name a port of another instance");
        return;
      }
      bound = true;
      if (a.ports[kind]->direction == Direction::kImport) {
        enter(kind, a, b);
      } else {
        enter(kind, b, a);
      }
    }
    if (bound || hand_over(a, b) || hand_over(b, a)) return;
    if (shared_kind) {
      int kind = 0;
      while (!a.ports[kind] || !b.ports[kind]) ++kind;
      const bool imports = a.ports[kind]->direction == Direction::kImport;
      refuse(a, b, imports ? "a BIND joins two imports" : "a BIND joins two exports",
             imports ? "2 imports and 0 exports; an import meets an export"
                     : "0 imports and 2 exports; an import meets an export",
             opposite(kind, imports ? Direction::kExport : Direction::kImport));
    } else if (a.ports[kTensor] || b.ports[kTensor]) {
      const End& e = a.ports[kTensor] ? a : b;
      const auto& tensor = composition_.contract(e.instance).tensors[e.ports[kTensor]->index];
      const std::string carrier = dotted(composition_, e.instance, tensor.via);
      refuse(a, b, "a BIND names a tensor", "a tensor follows the callable that carries it",
             "name the callable in its place",
             {{"BIND " + quoted(carrier) + " in its place",
               [=, first = first_, second = second_](Composition& c) {
                 for (auto& entry : c.bind)
                   if (entry.first == first && entry.second == second)
                     (first == e.text ? entry.first : entry.second) = carrier;
               }}});
    } else {
      refuse(a, b, "a BIND joins ports of two kinds",
             "a callable meets a callable, a ring a ring, a fact a fact",
             "name two ports of one kind, or remove the BIND");
    }
  }

  /// The ports of one kind and direction that a BIND could name.
  std::string opposite(int kind, Direction direction) const {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < composition_.instances.size(); ++i) {
      const Contract& c = composition_.contract(i);
      const auto add = [&](const auto& list) {
        for (const auto& p : list) {
          if (p.direction == direction) names.push_back(dotted(composition_, i, p.name));
        }
      };
      if (kind == kCallable) add(c.callables);
      if (kind == kRing) add(c.rings);
      if (kind == kFact) add(c.facts);
      if (kind == kCounter) add(c.counters);
    }
    const std::string what =
        std::string(direction == Direction::kExport ? "exported " : "imported ") + kWords[kind];
    return names.empty() ? "no instance has an " + what : "name an " + what + ": " + joined(names, ", ");
  }

  void enter(int kind, const End& importer, const End& exporter) {
    const PortRef from{importer.instance, importer.ports[kind]->index};
    const PortRef to{exporter.instance, exporter.ports[kind]->index};
    Told& t = *told(kind);
    const auto [entry, first] = entries_.emplace(std::make_pair(kind, from), entry_);
    std::vector<PortRef>& exporters = t.exporters_of[from];
    if (std::find(exporters.begin(), exporters.end(), to) != exporters.end()) return;
    exporters.push_back(to);
    if (first) return;
    const std::string why =
        kind == kCallable ? one_only(from) : "an import meets one export; here it is given 2";
    if (why.empty()) return;
    twice(kind, importer, entry->second, why);
    t.faulty.insert(exporters.begin(), exporters.end());
  }

  /// Why not several exports can be called in the place of one import; empty: they can.
  std::string one_only(PortRef import) const {
    if (handed(import)) return "its tile is handed to another role; no export is called";
    const Contract& c = composition_.contract(import.instance);
    const contract::Callable& callable = c.callables[import.index];
    if (callable.result.name != "void")
      return "it returns " + quoted(callable.result.name) + ", and each of 2 exports would return one";
    for (const std::size_t tensor : tensors_via(c, callable.name))
      if (c.tensors[tensor].direction == Direction::kImport)
        return "it takes the tile " + quoted(c.tensors[tensor].name) +
               ", and each of 2 exports would give one";
    return {};
  }

  bool handed(PortRef import) const {
    return std::any_of(out_.handovers.begin(), out_.handovers.end(),
                       [&](const Binding& b) { return b.importer == import || b.exporter == import; });
  }

  /// The imported callable that an end names, itself or by the tensor that it carries.
  std::optional<PortRef> carrier(const End& e) const {
    const Contract& c = composition_.contract(e.instance);
    std::optional<Port> port = e.ports[kCallable];
    if (!port && e.ports[kTensor]) port = find(c.callables, c.tensors[e.ports[kTensor]->index].via);
    if (!port || port->direction != Direction::kImport) return std::nullopt;
    return PortRef{e.instance, port->index};
  }

  /// Two imports, one of which gives the tile that the other takes, each in a role of its own.
  bool hand_over(const End& giver, const End& taker) {
    const std::optional<PortRef> from = carrier(giver), to = carrier(taker);
    const auto carries = [&](PortRef port, Direction direction) {
      const Contract& c = composition_.contract(port.instance);
      return handed_tensor(c, c.callables[port.index], direction).has_value();
    };
    if (!from || !to || !carries(*from, Direction::kExport) || !carries(*to, Direction::kImport))
      return false;
    const Binding pair{*to, *from};
    for (const Binding& b : out_.handovers)
      if (b.importer == pair.importer && b.exporter == pair.exporter) return true;
    bool good = true;
    for (const auto& [end, port] : {std::pair{&giver, *from}, std::pair{&taker, *to}}) {
      const auto [entry, first] = entries_.emplace(std::make_pair(int{kCallable}, port), entry_);
      if (first || !good) continue;
      good = false;
      twice(kCallable, *end, entry->second,
            "a tile goes from one role to one other; here the import is given 2 other sides");
    }
    if (good)
      out_.handovers.push_back(pair);
    else
      out_.callables.faulty.insert({*from, *to});
    return true;
  }

  void twice(int kind, const End& importer, const LabelledFact& first, const std::string& why) {
    Diagnostic d = error("L-BIND", quoted(importer.text) + " is bound twice");
    d.facts.push_back(first);
    d.facts.push_back(entry_);
    d.reason = why;
    d.help = "remove all but one of them";
    std::vector<Proposal> proposals;
    for (const LabelledFact& entry : {entry_, d.facts.front()}) {
      proposals.push_back({"remove " + entry.text, [line = entry.text](Composition& c) {
                             std::erase_if(
                                 c.bind, [&](const auto& e) { return bind_line(e.first, e.second) == line; });
                           }});
    }
    faults_.push_back(std::move(d), std::move(proposals), true);
    if (const std::optional<Port>& port = importer.ports[kind])
      told(kind)->faulty.insert({importer.instance, port->index});
  }

  const Composition& composition_;
  Faults& faults_;
  BindEntries out_;
  LabelledFact entry_;          ///< the entry at hand
  std::string first_, second_;  ///< its two ends
  std::map<std::pair<int, PortRef>, LabelledFact> entries_;
};

}  // namespace

BindEntries resolve_bind(const Composition& composition, Faults& faults) {
  return Resolver(composition, faults).run();
}

}  // namespace pipelink::binding
