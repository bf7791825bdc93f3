#include <algorithm>

#include "linker/bind/compatible.h"
#include "linker/bind/words.h"
#include "linker/check/context.h"

namespace pipelink::checking {
namespace {

using binding::quoted;
using contract::Amount;
using contract::Ring;

void check_sides(const Context& context, const Binding& b, const Ring& owned, const Ring& used,
                 Findings& findings) {
  if (owned.side != used.side) return;
  const std::string word(binding::word_of(owned.side));
  const bool producers = owned.side == contract::RingSide::kProducer;
  const std::string &owner = context.owner(b.exporter.instance), &user = context.owner(b.importer.instance);
  Finding f;
  f.diagnostic =
      binding::error("L-RING", "the ring " + quoted(owner + "." + owned.name) + " has two " + word + "s");
  f.diagnostic.facts = {{owner, "owns ring " + quoted(owned.name) + " as " + word, owned.where},
                        {user, "uses it as " + quoted(used.name) + " as " + word, used.where}};
  f.diagnostic.reason = producers ? "2 producers and 0 consumers: the empty barriers never complete"
                                  : "0 producers and 2 consumers: the full barriers never complete";
  f.diagnostic.help =
      "bind " + quoted(owner + "." + owned.name) + " to a " + (producers ? "consumer" : "producer");
  findings.push_back(std::move(f));
}

/// How a kind of port that both sides state values of is spoken of.
struct Words {
  const char *clause, *kind;
};
constexpr Words kRing{"L-RING", "ring"}, kCounter{"L-COUNTER", "counter"};

template <class Port>
std::vector<Port>& list_of(contract::Contract& c) {
  if constexpr (std::is_same_v<Port, Ring>)
    return c.rings;
  else
    return c.counters;
}

template <class Port, class Property>
void check_property(const Context& context, const Binding& b, const Port& owned, const Port& used,
                    const Property& property, const Words& words, Findings& findings) {
  const std::optional<Amount>&mine = owned.*property.value, &theirs = used.*property.value;
  if (!mine || !theirs) return;
  const std::size_t i = b.exporter.instance, k = b.importer.instance;
  // Before placement what is known is judged; after it only what was not known before.
  if (context.placed && !context.reads_placement(i, *mine) && !context.reads_placement(k, *theirs)) return;
  const Value x = context.evaluate(i, *mine), y = context.evaluate(k, *theirs);
  if (!x.number || !y.number || *x.number == *y.number) return;
  const std::string &owner = context.owner(i), &user = context.owner(k);
  Finding f;
  f.diagnostic =
      binding::error(words.clause, "the two sides of the " + std::string(words.kind) + " " +
                                       quoted(owner + "." + owned.name) + " disagree on " + property.name);
  f.diagnostic.facts = {
      {owner,
       "owns " + std::string(words.kind) + " " + quoted(owned.name) + ", " + property.name + " " +
           context.shown(i, *mine),
       owned.where},
      {user, "uses it as " + quoted(used.name) + ", " + property.name + " " + context.shown(k, *theirs),
       used.where}};
  for (const auto& [instance, amount] : {std::pair(i, &*mine), std::pair(k, &*theirs)}) {
    const std::vector<LabelledFact> sources = context.sources(instance, *amount);
    f.diagnostic.facts.insert(f.diagnostic.facts.end(), sources.begin(), sources.end());
    for (Proposal& p : context.settings(instance, *amount)) f.proposals.push_back(std::move(p));
  }
  f.diagnostic.reason =
      std::to_string(*x.number) + " in " + owner + " and " + std::to_string(*y.number) + " in " + user +
      ", which differ by " +
      std::to_string(*x.number > *y.number
                         ? static_cast<std::uint64_t>(*x.number) - static_cast<std::uint64_t>(*y.number)
                         : static_cast<std::uint64_t>(*y.number) - static_cast<std::uint64_t>(*x.number)) +
      ": " + property.consequence;
  f.diagnostic.help = "let " + user + " state " + property.name + " by the facts of " + owner;
  f.proposals.push_back({"state " + std::string(property.name) + " " + std::to_string(*x.number) + " in " +
                             user + ", by the facts of " + owner + " if it has them",
                         [&property, k, port = b.importer.index, number = *x.number](Composition& c) {
                           contract::Contract& changed = c.packages[c.instances[k].package].contract;
                           list_of<Port>(changed)[port].*property.value = Amount{number, {}};
                         }});
  findings.push_back(std::move(f));
}

/// After placement nothing new is known of it.
template <class Port>
void check_scope(const Context& context, const Binding& b, const Port& owned, const Port& used,
                 const Words& words, Findings& findings) {
  if (context.placed || owned.scope.empty() || used.scope.empty() || owned.scope == used.scope) return;
  const std::string &owner = context.owner(b.exporter.instance), &user = context.owner(b.importer.instance);
  const auto reach = [](const std::string& scope) {
    return std::find(std::begin(contract::kScopes), std::end(contract::kScopes), scope);
  };
  const bool owner_near = reach(owned.scope) < reach(used.scope);
  const std::string &near = owner_near ? owned.scope : used.scope,
                    &far = owner_near ? used.scope : owned.scope;
  Finding f;
  f.diagnostic = binding::error("L-SCOPE", "the two sides of the " + std::string(words.kind) + " " +
                                               quoted(owner + "." + owned.name) + " state different scopes");
  f.diagnostic.facts = {
      {owner, "owns " + std::string(words.kind) + " " + quoted(owned.name) + ", scope " + owned.scope,
       owned.where},
      {user, "uses it as " + quoted(used.name) + ", scope " + used.scope, used.where}};
  f.diagnostic.reason = "what " + (owner_near ? owner : user) + " writes is ordered for one " + near +
                        ", and " + (owner_near ? user : owner) + " relies on it in the whole " + far;
  f.diagnostic.help = "state scope " + far + " in " + (owner_near ? owner : user) +
                      ", if its code orders memory for it, or " + near + " in " + (owner_near ? user : owner);
  findings.push_back(std::move(f));
}

}  // namespace

void check_counters(const Context& context, Findings& findings) {
  for (const Binding& b : context.bindings.counters) {
    const contract::Counter& owned = context.contract(b.exporter.instance).counters[b.exporter.index];
    const contract::Counter& used = context.contract(b.importer.instance).counters[b.importer.index];
    check_scope(context, b, owned, used, kCounter, findings);
    for (const binding::CounterProperty& p : binding::counter_properties()) {
      check_property(context, b, owned, used, p, kCounter, findings);
    }
  }
}

void check_rings(const Context& context, Findings& findings) {
  for (const Binding& b : context.bindings.rings) {
    const Ring& owned = context.contract(b.exporter.instance).rings[b.exporter.index];
    const Ring& used = context.contract(b.importer.instance).rings[b.importer.index];
    if (!context.placed) check_sides(context, b, owned, used, findings);
    check_scope(context, b, owned, used, kRing, findings);
    for (const binding::RingProperty& p : binding::ring_properties()) {
      check_property(context, b, owned, used, p, kRing, findings);
    }
  }
}

}  // namespace pipelink::checking
