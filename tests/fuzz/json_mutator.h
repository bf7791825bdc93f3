// Mutations of JSON that change its values, not its bytes, so that most of them are read. Linking
// json_mutator.cc installs them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace pipelink::fuzz {

/// What an input says; discarded if it is no JSON, null if it is too deep to be worth while.
nlohmann::json parsed(const std::uint8_t* data, std::size_t size);

}  // namespace pipelink::fuzz
