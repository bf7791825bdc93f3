#include "linker/bind/compatible.h"

#include <algorithm>
#include <cctype>

#include "linker/bind/words.h"
#include "packager/contract/expression.h"
#include "packager/contract/tensor.h"

namespace pipelink::binding {
namespace {

using contract::Callable;
using contract::Direction;
using contract::Ring;
using contract::TensorPort;
using contract::Type;

constexpr RingProperty kRingProperties[] = {
    {"stage_bytes", &Ring::stage_bytes,
     "one side would reach beyond its stage, or leave a part of it unused"},
    {"full_arrivals", &Ring::full_arrivals, "the full barrier would complete too early or never"},
    {"transaction_bytes", &Ring::transaction_bytes, "the full barrier would complete too early or never"},
    {"empty_arrivals", &Ring::empty_arrivals, "the empty barrier would complete too early or never"},
    {"full_parity", &Ring::full_parity, "one side waits at first where the other passes"},
    {"empty_parity", &Ring::empty_parity, "one side waits at first where the other passes"},
};

constexpr CounterProperty kCounterProperties[] = {
    {"initial", &contract::Counter::initial, "the first waits would pass too early or never"},
    {"arrivals", &contract::Counter::arrivals, "waits would pass too early or never"},
};

/// What both sides state by numbers, and as their scope.
template <class Port, class Property>
void compare_stated(std::span<const Property> properties, const Side& a, const Port& x, const Side& b,
                    const Port& y, std::vector<std::string>& faults) {
  for (const Property& property : properties) {
    const auto &p = x.*property.value, &q = y.*property.value;
    if (!p || !q || !p->expression.empty() || !q->expression.empty() || p->number == q->number) continue;
    faults.push_back(std::string(property.name) + " is " + std::to_string(p->number) + " in " + a.owner +
                     " and " + std::to_string(q->number) + " in " + b.owner);
  }
  if (!x.scope.empty() && !y.scope.empty() && x.scope != y.scope)
    faults.push_back("the scope is " + x.scope + " in " + a.owner + " and " + y.scope + " in " + b.owner);
}

/// A type's name without const, volatile and references: "const float (&)[4]" and "float[4]" are the same.
std::string bare(const std::string& name) {
  std::string out, word;
  const auto flush = [&] {
    if (word != "const" && word != "volatile") out += word;
    word.clear();
  };
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') {
      word += c;
      continue;
    }
    flush();
    if (c != ' ' && c != '&' && c != '(' && c != ')') out += c;
  }
  flush();
  return out;
}

std::string size_text(const Type& type) {
  return counted(static_cast<std::size_t>(std::max<std::int64_t>(type.size, 0)), "byte") + " aligned to " +
         std::to_string(type.align);
}

void compare_type(const std::string& what, const Side& a, const Type& x, const Side& b, const Type& y,
                  std::vector<std::string>& faults) {
  if (x == y) return;
  if (x.name == y.name) {
    faults.push_back(what + ", " + quoted(x.name) + ", has " + size_text(x) + " in " + a.owner + " and " +
                     size_text(y) + " in " + b.owner);
    return;
  }
  std::string fault =
      what + " is " + quoted(x.name) + " in " + a.owner + " and " + quoted(y.name) + " in " + b.owner;
  if (bare(x.name) == bare(y.name)) fault += ", which differ in const, volatile or reference only";
  faults.push_back(std::move(fault));
}

/// "float[64]" → "float".
std::string element_of(const std::string& name) {
  const std::string plain = bare(name);
  return plain.substr(0, plain.find('['));
}

/// The tensor of a side that `parameter` of its callable carries, if there is just one.
const TensorPort* tile_on(const Side& side, const Callable& callable, std::size_t parameter) {
  const TensorPort* found = nullptr;
  for (const TensorPort& port : side.contract.tensors) {
    if (port.via != callable.name || port.parameter != static_cast<int>(parameter)) continue;
    if (found != nullptr) return nullptr;
    found = &port;
  }
  return found;
}

/// Whether the parameter carries a tile from one side to the other: a route then stands between the two
/// types, which need not be one.
bool carries_tile(const Side& a, const Callable& x, const Side& b, const Callable& y, std::size_t parameter) {
  const TensorPort *p = tile_on(a, x, parameter), *q = tile_on(b, y, parameter);
  if (p == nullptr || q == nullptr || p->direction == q->direction) return false;
  // In registers the elements are C++ values on both sides.
  return p->space != q->space || p->space != "registers" ||
         element_of(x.parameters[parameter].name) == element_of(y.parameters[parameter].name);
}

/// No extent is an expression.
bool fixed(const std::vector<contract::Amount>& tile) {
  return std::all_of(tile.begin(), tile.end(), [](const auto& extent) { return extent.expression.empty(); });
}

}  // namespace

std::string signature_text(const Callable& callable) {
  std::vector<std::string> parameters;
  for (const Type& type : callable.parameters) parameters.push_back(type.name);
  return callable.result.name + "(" + joined(parameters, ", ") + ")";
}

std::vector<std::string> signature_faults(const Side& a, const Callable& x, const Side& b,
                                          const Callable& y) {
  std::vector<std::string> faults;
  compare_type("the result", a, x.result, b, y.result, faults);
  if (x.parameters.size() != y.parameters.size()) {
    faults.push_back(a.owner + " has " + counted(x.parameters.size(), "parameter") + " and " + b.owner +
                     " has " + std::to_string(y.parameters.size()));
  }
  for (std::size_t i = 0; i < std::min(x.parameters.size(), y.parameters.size()); ++i) {
    if (!carries_tile(a, x, b, y, i))
      compare_type("parameter " + std::to_string(i), a, x.parameters[i], b, y.parameters[i], faults);
  }
  return faults;
}

std::string tensor_text(const TensorPort& tensor) {
  std::string out =
      tensor.element + " " + contract::tile_text(tensor) + " in " + tensor.space + " of a " + tensor.scope;
  if (tensor.generations) out += ", generations " + contract::to_text(*tensor.generations);
  return out;
}

std::vector<std::string> tensor_faults(const Side& a, const TensorPort& x, const Side& b,
                                       const TensorPort& y) {
  std::vector<std::string> faults;
  const auto compare = [&](const char* what, const std::string& p, const std::string& q) {
    if (p != q)
      faults.push_back(std::string(what) + " is " + p + " in " + a.owner + " and " + q + " in " + b.owner);
  };
  compare("the element", x.element, y.element);
  if (x.tile.size() != y.tile.size() || (fixed(x.tile) && fixed(y.tile)))
    compare("the tile", contract::tile_text(x), contract::tile_text(y));
  compare("the scope", x.scope, y.scope);
  return faults;
}

std::optional<std::size_t> handed_tensor(const contract::Contract& contract, const Callable& callable,
                                         Direction direction) {
  const std::vector<std::size_t> carried = tensors_via(contract, callable.name);
  if (callable.direction != Direction::kImport || carried.size() != 1 ||
      contract.tensors[carried.front()].direction != direction)
    return std::nullopt;
  return carried.front();
}

std::vector<std::string> handover_faults(const Side& giver, const Callable& put, const Side& taker,
                                         const Callable& get) {
  std::vector<std::string> faults;
  for (const auto& [side, callable] : {std::pair{&giver, &put}, std::pair{&taker, &get}}) {
    if (callable->result.name != "void")
      faults.push_back(side->owner + " expects a result, " + quoted(callable->result.name) +
                       "; no code of the other role runs in the call");
    if (callable->parameters.size() != 1)
      faults.push_back(quoted(callable->name) + " of " + side->owner + " has " +
                       counted(callable->parameters.size(), "parameter") +
                       "; between roles only the tile travels");
  }
  if (!faults.empty()) return faults;
  const TensorPort& to = taker.contract.tensors[*handed_tensor(taker.contract, get, Direction::kImport)];
  const TensorPort& from = giver.contract.tensors[*handed_tensor(giver.contract, put, Direction::kExport)];
  const Type &given = put.parameters.front(), &taken = get.parameters.front();
  if (to.space != "registers")
    faults.push_back(taker.owner + " takes the tile in " + to.space +
                     "; between roles it is given in registers");
  else if (from.space == "registers" && element_of(given.name) != element_of(taken.name))
    faults.push_back("elements are " + quoted(element_of(given.name)) + " in " + giver.owner + " and " +
                     quoted(element_of(taken.name)) + " in " + taker.owner);
  if (taken.name.starts_with("const ") || taken.name.find(" const") != std::string::npos)
    faults.push_back(taker.owner + " takes the tile as " + quoted(taken.name) + ", which cannot be filled");
  return faults;
}

std::span<const RingProperty> ring_properties() {
  return kRingProperties;
}

std::string ring_text(const Ring& ring) {
  std::string out(word_of(ring.side));
  for (const RingProperty& property : kRingProperties) {
    if (const auto& amount = ring.*property.value) {
      out += std::string(", ") + property.name + " " + contract::to_text(*amount);
    }
  }
  if (!ring.scope.empty()) out += ", scope " + ring.scope;
  return out;
}

std::span<const CounterProperty> counter_properties() {
  return kCounterProperties;
}

std::string counter_text(const contract::Counter& counter) {
  std::vector<std::string> parts;
  for (const CounterProperty& property : kCounterProperties)
    if (const auto& amount = counter.*property.value)
      parts.push_back(std::string(property.name) + " " + contract::to_text(*amount));
  if (!counter.scope.empty()) parts.push_back("scope " + counter.scope);
  return joined(parts, ", ");
}

std::vector<std::string> counter_faults(const Side& a, const contract::Counter& x, const Side& b,
                                        const contract::Counter& y) {
  std::vector<std::string> faults;
  compare_stated(counter_properties(), a, x, b, y, faults);
  return faults;
}

std::vector<std::string> ring_faults(const Side& a, const Ring& x, const Side& b, const Ring& y) {
  std::vector<std::string> faults;
  if (x.side == y.side) faults.push_back("both are the " + std::string(word_of(x.side)));
  compare_stated(ring_properties(), a, x, b, y, faults);
  return faults;
}

std::vector<std::size_t> tensors_via(const contract::Contract& contract, const std::string& callable) {
  std::vector<std::size_t> found;
  for (std::size_t i = 0; i < contract.tensors.size(); ++i) {
    if (contract.tensors[i].via == callable) found.push_back(i);
  }
  return found;
}

std::string callable_misfit(const Side& importer, const Callable& import, const Side& exporter,
                            const Callable& exported) {
  std::vector<std::string> faults = signature_faults(importer, import, exporter, exported);
  // Messages show both signatures beside this: of many differences the first is enough.
  constexpr std::size_t kMost = 3;
  if (faults.size() > kMost)
    return faults.front() + "; " + std::to_string(faults.size() - 1) + " more differences";
  if (!faults.empty()) return joined(faults, "; ");
  // Every tensor that one side takes must be one that the other side gives on the same parameter.
  const auto taken = [&](const Side& a, const Callable& f, const Side& b, const Callable& g) {
    for (const std::size_t i : tensors_via(a.contract, f.name)) {
      const TensorPort& x = a.contract.tensors[i];
      if (x.direction != Direction::kImport) continue;
      bool given = false;
      for (const std::size_t k : tensors_via(b.contract, g.name)) {
        const TensorPort& y = b.contract.tensors[k];
        if (y.direction != Direction::kExport || y.parameter != x.parameter) continue;
        given = true;
        for (const std::string& fault : tensor_faults(a, x, b, y)) {
          faults.push_back("of tensor " + quoted(x.name) + " " + fault);
        }
      }
      if (!given) {
        faults.push_back(b.owner + " gives no tensor on parameter " + std::to_string(x.parameter) + " for " +
                         quoted(x.name));
      }
    }
  };
  taken(importer, import, exporter, exported);
  taken(exporter, exported, importer, import);
  return joined(faults, "; ");
}

}  // namespace pipelink::binding
