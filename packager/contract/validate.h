// What a contract must satisfy by itself, before any other is known.
#pragma once

#include "packager/base/diagnostic.h"
#include "packager/contract/model.h"

namespace pipelink::contract {

/// All errors of the contract, in a fixed order. P-NAME, P-DUPLICATE, P-VALUE, P-EXPRESSION, P-LAYOUT,
/// P-HOST, P-ARCH.
Diagnostics validate(const Contract& contract);

}  // namespace pipelink::contract
