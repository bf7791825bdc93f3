// Contract ⇄ contract.json, schema 1. Ordered and deterministic; every unknown or missing key is refused by
// name.
#pragma once

#include <string>
#include <string_view>

#include "packager/base/outcome.h"
#include "packager/contract/model.h"

namespace pipelink::contract {

inline constexpr int kSchema = 1;

/// Indented by two, keys in the order of the model, one final newline.
std::string to_json(const Contract& contract);

/// `name` is what messages call the text, e.g. "softmax.sm_90a.plk:contract.json". I-JSON for text that is no
/// such contract, I-FORMAT for another schema. Never throws; nesting is bounded.
Outcome<Contract> from_json(std::string_view text, std::string_view name);

}  // namespace pipelink::contract
