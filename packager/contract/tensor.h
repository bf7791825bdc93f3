// A tensor port with the values of its facts: what its tile, its layout and its replication come to.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "packager/contract/expression.h"
#include "packager/contract/model.h"
#include "packager/layout/layout.h"

namespace pipelink::contract {

struct ResolvedTensor {
  std::vector<std::int64_t> tile;        ///< extents
  std::int64_t replicas = 1;             ///< how often each element is held
  std::int64_t generations = 1;          ///< calls that a tile outlives, its own among them
  std::optional<layout::Layout> layout;  ///< what it maps is up to the space, see TensorPort::layout
  std::int64_t size() const;             ///< elements of the tile
};

/// Why a port is refused.
struct TensorFault {
  std::string clause;  ///< "P-LAYOUT", "P-VALUE" or "P-EXPRESSION"
  std::string about;   ///< what of the port: "layout", "tile", "replicas", "generations"
  std::string what;    ///< "does not cover its tile exactly once"
  std::string reason;
};

/// Every expression of the port: extents, replicas, generations, and the numbers in its layout. A layout that
/// cannot be read has none.
std::vector<Amount> amounts_of(const TensorPort& tensor);

/// The names that the port reads, sorted, once each.
std::vector<std::string> names_of(const TensorPort& tensor);

/// The tile's layout by the text, with the values of `scope`. For the layout alone: nothing is checked of the
/// tile.
layout::Result<layout::Layout> layout_of(const TensorPort& tensor, const Scope& scope);

/// The port with the values of `scope`, which has all of names_of(), or the first fault: extents from 1, at
/// most layout::kMaxSize elements, a layout that can be read, is for as many threads as the scope has, and
/// covers the tile as often as is stated.
struct TensorResolution {
  std::optional<ResolvedTensor> value;
  TensorFault fault;
  explicit operator bool() const { return value.has_value(); }
  const ResolvedTensor& operator*() const { return *value; }
  const ResolvedTensor* operator->() const { return &*value; }
};
TensorResolution resolve(const TensorPort& tensor, const Scope& scope);

/// The facts whose values no composition changes: owned, not settable, and depending on such facts alone.
Scope fixed_facts(const Contract& contract);

/// "64x256"
std::string tile_text(const TensorPort& tensor);

}  // namespace pipelink::contract
