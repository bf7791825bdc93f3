// Runs a transfer on bytes, and counts wavefronts, in the simplest way; shares nothing with the linker's own
// interpreter.
#pragma once

#include <cstdint>
#include <string>

#include "linker/route/plan_transfer.h"

namespace pipelink::transfer::test {

/// Two tiles of random bytes; empty if the consumer got each demanded element, byte for byte.
std::string run_on_bytes(const Request& request, const Transfer& transfer, std::uint32_t seed);

/// Wavefronts of all stores, and of all loads, of the steps of one tile.
struct Wavefronts {
  int stores = 0, loads = 0;
};
Wavefronts count_wavefronts(const Transfer& transfer);

}  // namespace pipelink::transfer::test
