// What a port says of its tile, as planning takes it.
#pragma once

#include <optional>
#include <string>

#include "linker/route/plan_transfer.h"
#include "packager/contract/expression.h"
#include "packager/contract/model.h"

namespace pipelink {

struct ReadEndpoint {
  std::optional<transfer::Endpoint> value;
  std::string error;
};

/// `facts` has what the port's expressions read; `parameter` is the type of what carries the tile; `threads`:
/// that call, for a tile which is in no registers.
ReadEndpoint read_endpoint(const contract::TensorPort& port, const contract::Scope& facts,
                           const contract::Type& parameter, int threads);

/// Threads that hold a tile together, by its scope; 0 for a block, whose threads the layout tells.
int scope_threads(const std::string& scope);

}  // namespace pipelink
