// The first transfer that verifies: registers, tensor memory, shuffle, staging, in this order.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "linker/route/tile_map.h"
#include "linker/route/transfer.h"

namespace pipelink::transfer {

enum class Space { kRegisters, kShared, kTensorMemory };

/// One side of a transfer.
struct Endpoint {
  Space space = Space::kRegisters;
  TileMap map;         ///< registers, tensor memory; element_bytes always
  AddressMap address;  ///< shared memory
  int threads = 0;     ///< that call or are called; for registers it is map.threads
  bool async = false;  ///< shared memory, consumer: it reads through the async proxy (TMA store, wgmma, …)
  int align = 16;      ///< shared memory: bytes
};

struct Request {
  Endpoint from, to;
  bool two_roles = false;  ///< else the consumer is called by the threads that hold the tile
  int groups = 1;          ///< tiles side by side in the role, each in its own `threads`
  int columns = 0;         ///< of the tile, a hint for staging; 0: not known
  bool stmatrix = true;    ///< the architecture has it (sm_90 and later)
  bool ldmatrix = true;
  std::int64_t shared_bytes = 232448;  ///< no transfer may claim more, all groups together
};

/// A kind of transfer that was tried and does not serve, for `link --why`.
struct Rejected {
  std::string kind;    ///< "registers", "tensor memory", "shuffle", "staging", …
  std::string reason;  ///< "thread 0 demands element 8, which thread 1 holds"
  bool operator==(const Rejected&) const = default;
};

struct Planned {
  std::optional<Transfer> transfer;  ///< verified
  std::vector<Rejected> rejected;    ///< in the order tried; if there is no transfer, all reasons
};

/// Takes a few milliseconds for the largest tiles. Deterministic.
Planned plan_transfer(const Request& request);

/// Empty if the transfer delivers what is demanded, and nothing else, in order; else the first fault, e.g.
/// "tile 1: thread 3 word 2 is element 7 of tile 0, not element 7 of tile 1". Shares no code with the
/// planners: interpret.h and order.h.
std::string verify_transfer(const Request& request, const Transfer& transfer);

/// The producer's endpoint in registers or tensor memory, the consumer's likewise.
Endpoint in_registers(TileMap map);
Endpoint in_tensor_memory(TileMap map, int threads = 128);
Endpoint in_shared(AddressMap address, int element_bytes, int threads, bool async = false, int align = 16);

}  // namespace pipelink::transfer
