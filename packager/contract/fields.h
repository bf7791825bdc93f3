// The fields of every contract entry, listed once: records, JSON, listings and comparisons all walk these
// lists.
//
// A visitor has the members
//   text(key, string, Need)   number(key, int or int64, Need)   flag(key, bool)   amount(key, Amount, Need)
//   stated(key, optional<Amount>)   choice(key, enum)   names(key, record_key, vector<string>)
//   numbers(key, record_key, vector<int64>)   amounts(key, record_key, vector<Amount>)   type(key, Type)
//   types(key, record_key, vector<Type>)   members(key, record_key, vector<Field>)
//   packed(key, string)   packed(key, vector<string>): filled by pack, in no record; the latter newer than
//   schema 1, absent when empty
//   later(key, int64)   later(key, string)   later(key, record_key, vector<Field> or vector<string>): newer
//   than schema 1, absent when 0 or empty
// where `record_key` is the repeated key of the list's records. Entries are taken as const or not, as the
// visitor needs.
#pragma once

#include <array>
#include <concepts>
#include <string_view>
#include <type_traits>

#include "packager/contract/model.h"

namespace pipelink::contract {

/// Whether a record without the key is refused. JSON always has every key.
enum class Need { kRequired, kDefaulted };

template <class Enum>
struct EnumNames;
template <>
struct EnumNames<Direction> {
  static constexpr std::array<std::string_view, 2> names{"export", "import"};
};
template <>
struct EnumNames<RingSide> {
  static constexpr std::array<std::string_view, 2> names{"producer", "consumer"};
};
template <>
struct EnumNames<FactType> {
  static constexpr std::array<std::string_view, 4> names{"integer", "boolean", "real", "text"};
};

template <>
struct EnumNames<FieldKind> {
  static constexpr std::array<std::string_view, 6> names{"bytes",    "pointer", "signed",
                                                         "unsigned", "real",    "boolean"};
};

template <class Enum>
constexpr std::string_view enum_name(Enum value) {
  return EnumNames<Enum>::names[static_cast<std::size_t>(value)];
}

template <class Enum>
constexpr bool enum_value(std::string_view name, Enum& value) {
  for (std::size_t i = 0; i < EnumNames<Enum>::names.size(); ++i)
    if (EnumNames<Enum>::names[i] == name) {
      value = static_cast<Enum>(i);
      return true;
    }
  return false;
}

template <class T, class Model>
concept Of = std::same_as<std::remove_const_t<T>, Model>;

template <class V, Of<Role> T>
void fields(V& v, T& role) {
  v.number("warps", role.warps, Need::kRequired);
  v.number("align_warps", role.align_warps, Need::kDefaulted);
  v.number("registers_min", role.registers_min, Need::kDefaulted);
  v.number("registers_max", role.registers_max, Need::kDefaulted);
}

template <class V, Of<Callable> T>
void fields(V& v, T& callable) {
  v.choice("direction", callable.direction);
  v.type("result", callable.result);
  v.types("parameters", "parameter", callable.parameters);
  v.names("phases", "phase", callable.phases);
  v.packed("calls", callable.calls);
}

template <class V, Of<Buffer> T>
void fields(V& v, T& buffer) {
  v.amount("bytes", buffer.bytes, Need::kRequired);
  v.number("align", buffer.align, Need::kDefaulted);
  v.names("live", "live", buffer.live);
}

template <class V, Of<Ring> T>
void fields(V& v, T& ring) {
  v.choice("direction", ring.direction);
  v.choice("side", ring.side);
  v.amount("stages_min", ring.stages_min, Need::kDefaulted);
  v.amount("stages_max", ring.stages_max, Need::kDefaulted);
  v.stated("stage_bytes", ring.stage_bytes);
  v.number("align", ring.align, Need::kDefaulted);
  v.stated("full_arrivals", ring.full_arrivals);
  v.stated("transaction_bytes", ring.transaction_bytes);
  v.stated("empty_arrivals", ring.empty_arrivals);
  v.stated("full_parity", ring.full_parity);
  v.stated("empty_parity", ring.empty_parity);
  v.later("scope", ring.scope);
  v.number("tier", ring.tier, Need::kDefaulted);
  v.number("weight", ring.weight, Need::kDefaulted);
  v.names("live", "live", ring.live);
}

template <class V, Of<Mbarriers> T>
void fields(V& v, T& mbarriers) {
  v.amount("count", mbarriers.count, Need::kRequired);
  v.amount("arrivals", mbarriers.arrivals, Need::kRequired);
  v.later("first_parity", mbarriers.first_parity);
  v.later("scope", mbarriers.scope);
}

template <class V, Of<NamedBarrier> T>
void fields(V& v, T& barrier) {
  v.amount("threads", barrier.threads, Need::kRequired);
  v.names("live", "live", barrier.live);
}

template <class V, Of<TensorMemory> T>
void fields(V& v, T& memory) {
  v.amount("columns", memory.columns, Need::kRequired);
  v.names("live", "live", memory.live);
}

template <class V, Of<Fact> T>
void fields(V& v, T& fact) {
  v.choice("direction", fact.direction);
  v.choice("type", fact.type);
  v.text("cpp_type", fact.cpp_type, Need::kRequired);
  v.flag("settable", fact.settable);
  v.stated("value", fact.value);
  v.text("text_value", fact.text_value, Need::kDefaulted);
  v.numbers("domain", "domain", fact.domain);
  v.later("texts", "texts", fact.texts);
  v.later("least", fact.least);
  v.later("most", fact.most);
}

template <class V, Of<Requirement> T>
void fields(V& v, T& requirement) {
  v.text("expression", requirement.expression, Need::kRequired);
}

template <class V, Of<TensorPort> T>
void fields(V& v, T& tensor) {
  v.choice("direction", tensor.direction);
  v.text("element", tensor.element, Need::kRequired);
  v.amounts("tile", "tile", tensor.tile);
  v.text("space", tensor.space, Need::kRequired);
  v.text("scope", tensor.scope, Need::kRequired);
  v.text("layout", tensor.layout, Need::kRequired);
  v.stated("replicas", tensor.replicas);
  v.stated("generations", tensor.generations);
  v.text("via", tensor.via, Need::kDefaulted);
  v.number("parameter", tensor.parameter, Need::kDefaulted);
  v.later("proxy", tensor.proxy);
  v.later("align", tensor.align);
}

template <class V, Of<Phase> T>
void fields(V& v, T& phase) {
  v.names("after", "after", phase.after);
  v.names("after_previous", "after_previous", phase.after_previous);
}

template <class V, Of<Steps> T>
void fields(V& v, T& steps) {
  v.text("once", steps.once, Need::kDefaulted);
  v.text("loop", steps.loop, Need::kDefaulted);
}

template <class V, Of<Counter> T>
void fields(V& v, T& counter) {
  v.choice("direction", counter.direction);
  v.text("field", counter.field, Need::kRequired);
  v.stated("initial", counter.initial);
  v.stated("arrivals", counter.arrivals);
  v.later("scope", counter.scope);
}

template <class V, Of<Scratch> T>
void fields(V& v, T& scratch) {
  v.text("field", scratch.field, Need::kRequired);
  v.amount("bytes", scratch.bytes, Need::kRequired);
  v.number("align", scratch.align, Need::kDefaulted);
  v.flag("per_block", scratch.per_block);
  v.flag("zeroed", scratch.zeroed);
}

template <class V, Of<Grid> T>
void fields(V& v, T& grid) {
  v.numbers("cluster", "cluster", grid.cluster);
  v.flag("resident", grid.resident);
}

template <class V, Of<ParameterRegion> T>
void fields(V& v, T& region) {
  v.text("type", region.type, Need::kRequired);
  v.text("header", region.header, Need::kDefaulted);
  v.number("size", region.size, Need::kRequired);
  v.number("align", region.align, Need::kRequired);
  v.members("fields", "field", region.fields);
}

template <class V, Of<HostProvider> T>
void fields(V& v, T& host) {
  v.text("symbol", host.symbol, Need::kRequired);
  v.text("arguments", host.arguments, Need::kDefaulted);
  v.text("header", host.header, Need::kDefaulted);
  v.number("abi", host.abi, Need::kDefaulted);
  v.later("size", host.size);
  v.later("align", host.align);
  v.later("fields", "field", host.fields);
  v.packed("library", host.library);
  v.packed("sha256", host.sha256);
}

/// A list that came into schema 1 later: absent from the JSON when it is empty, so that contracts without it
/// stay readable both ways.
constexpr bool later_list(std::string_view key) {
  return key == "tensor_memory" || key == "steps" || key == "counters" || key == "scratch";
}

/// Calls each(key, record kind, list) for every list of named entries, in the order of the contract's JSON.
template <class Each, Of<Contract> T>
void entry_lists(T& contract, Each&& each) {
  each("roles", "role", contract.roles);
  each("callables", "callable", contract.callables);
  each("buffers", "buffer", contract.buffers);
  each("rings", "ring", contract.rings);
  each("mbarriers", "mbarriers", contract.mbarriers);
  each("named_barriers", "named_barrier", contract.named_barriers);
  each("tensor_memory", "tensor_memory", contract.tensor_memory);
  each("facts", "fact", contract.facts);
  each("requirements", "requirement", contract.requirements);
  each("tensors", "tensor", contract.tensors);
  each("phases", "phase", contract.phases);
  each("steps", "steps", contract.steps);
  each("counters", "counter", contract.counters);
  each("scratch", "scratch", contract.scratch);
}

}  // namespace pipelink::contract
