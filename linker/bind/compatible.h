// Whether two ports fit each other, and in what they do not.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "packager/contract/model.h"

namespace pipelink::binding {

/// A port's contract and the name of its instance.
struct Side {
  const std::string& owner;
  const contract::Contract& contract;
};

/// "void(float (&)[128], int)"
std::string signature_text(const contract::Callable& callable);

/// Each difference of two signatures, e.g. "parameter 2 is `int` in gemm and `float` in swiglu". Parameters
/// are numbered from 0, as contracts do; type names are compared as the device compiler spells them.
std::vector<std::string> signature_faults(const Side& a, const contract::Callable& x, const Side& b,
                                          const contract::Callable& y);

/// "f32 64x256 in registers of a warpgroup"
std::string tensor_text(const contract::TensorPort& tensor);

/// Each difference in element, tile, space and scope that needs no fact to see. The layouts are route's to
/// compare.
std::vector<std::string> tensor_faults(const Side& a, const contract::TensorPort& x, const Side& b,
                                       const contract::TensorPort& y);

/// The tensor that an imported callable hands to another role (`direction` export), or takes from one: the
/// only one that it carries. None: it carries another, several or no tile.
std::optional<std::size_t> handed_tensor(const contract::Contract& contract,
                                         const contract::Callable& callable, contract::Direction direction);

/// Why a role cannot take by `get` what another one gives by `put`, tensors apart; each import has its
/// handed_tensor.
std::vector<std::string> handover_faults(const Side& giver, const contract::Callable& put, const Side& taker,
                                         const contract::Callable& get);

/// What both sides of a ring may state.
struct RingProperty {
  const char* name;
  std::optional<contract::Amount> contract::Ring::*value;
  const char* consequence;  ///< of a disagreement
};
std::span<const RingProperty> ring_properties();

struct CounterProperty {
  const char* name;
  std::optional<contract::Amount> contract::Counter::*value;
  const char* consequence;
};
std::span<const CounterProperty> counter_properties();

/// "arrivals 1, scope device"
std::string counter_text(const contract::Counter& counter);

/// The differences that need no fact to see.
std::vector<std::string> counter_faults(const Side& a, const contract::Counter& x, const Side& b,
                                        const contract::Counter& y);

/// "consumer, stage_bytes 16384, full_arrivals 1"
std::string ring_text(const contract::Ring& ring);

/// The differences that need no fact to see: the sides, and numbers that both state.
std::vector<std::string> ring_faults(const Side& a, const contract::Ring& x, const Side& b,
                                     const contract::Ring& y);

/// The tensor ports of `contract` that travel with a callable.
std::vector<std::size_t> tensors_via(const contract::Contract& contract, const std::string& callable);

/// Why an exported callable cannot be what an import asks for, tensors included; empty if it can.
std::string callable_misfit(const Side& importer, const contract::Callable& import, const Side& exporter,
                            const contract::Callable& exported);

}  // namespace pipelink::binding
