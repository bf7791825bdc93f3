#include "linker/route/plan_transfer.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "linker/route/interpret.h"
#include "linker/route/order.h"
#include "linker/route/planners.h"

namespace pipelink::transfer {
namespace {

constexpr int kMostRegisters = 255;  ///< of a thread

std::string request_fault(const Request& request) {
  for (const auto& [side, name] : {std::pair{&request.from, "producer"}, std::pair{&request.to, "consumer"}}) {
    std::string fault;
    if (side->space == Space::kShared)
      fault = fault_of(side->address, side->map.element_bytes);
    else
      fault = fault_of(side->map);
    if (fault.empty() && side->threads < 1) fault = fmt::format("{} threads", side->threads);
    if (fault.empty() && side->space == Space::kRegisters && side->threads != side->map.threads)
      fault = fmt::format("{} threads call, {} hold the tile", side->threads, side->map.threads);
    if (fault.empty() && side->space == Space::kTensorMemory && side->map.threads > 128)
      fault = fmt::format("tensor memory has 128 lanes, not {}", side->map.threads);
    if (!fault.empty()) return fmt::format("the {}'s map: {}", name, fault);
  }
  if (request.from.map.element_bytes != request.to.map.element_bytes)
    return fmt::format("the producer has elements of {} bytes, the consumer of {}; a transfer does not convert",
                       request.from.map.element_bytes, request.to.map.element_bytes);
  if (!request.two_roles && request.from.threads != request.to.threads)
    return fmt::format("{} threads hold the tile and {} demand it; a call is made by the same threads",
                       request.from.threads, request.to.threads);
  return {};
}

std::vector<Register> inputs_of(const TileMap& map) {
  std::vector<Register> words(static_cast<std::size_t>(word_count(map.values, map.element_bytes)));
  std::iota(words.begin(), words.end(), 0);
  return words;
}

Transfer blank(const Request& request) {
  Transfer transfer;
  transfer.threads = request.from.threads;
  transfer.consumer_threads = request.to.threads;
  transfer.groups = request.groups;
  if (request.from.space == Space::kRegisters)
    transfer.inputs = word_count(request.from.map.values, request.from.map.element_bytes);
  return transfer;
}

/// The planners in order; each candidate is verified.
class Planner {
 public:
  explicit Planner(const Request& request) : request_(request) {}

  Planned run() {
    if (std::string fault = request_fault(request_); !fault.empty()) {
      reject("any", std::move(fault));
      return std::move(planned_);
    }
    try_registers();
    return std::move(planned_);
  }

 private:
  void reject(std::string kind, std::string reason) {
    planned_.rejected.push_back({std::move(kind), std::move(reason)});
  }

  bool accept(const std::string& kind, Transfer transfer) {
    std::string fault = verify_transfer(request_, transfer);
    if (!fault.empty()) {
      reject(kind, "does not verify: " + fault);
      return false;
    }
    planned_.transfer = std::move(transfer);
    return true;
  }

  void try_registers() {
    const Endpoint &from = request_.from, &to = request_.to;
    if (from.space != Space::kRegisters || to.space != Space::kRegisters || request_.two_roles) return;
    Transfer transfer = blank(request_);
    Builder renaming(from.threads, transfer.inputs, unit_bytes(from.map.element_bytes));
    const Held held{from.map, inputs_of(from.map)};
    Attempt attempt = plan_renaming(renaming, held, to.map);
    if (attempt) {
      transfer.kind = attempt.kind;
      transfer.outputs = std::move(attempt.outputs);
      std::string ignored;
      transfer.renamed = *pipelink::transfer::renaming(from.map, to.map, ignored);
      transfer.steps = renaming.take_steps();
      std::move(renaming).finish(transfer);
      if (accept("registers", std::move(transfer))) return;
    } else {
      reject("registers", attempt.reason);
    }
    transfer = blank(request_);
    Builder shuffling(from.threads, transfer.inputs, unit_bytes(from.map.element_bytes));
    attempt = plan_shuffle(shuffling, held, to.map, transfer.cost, false);
    if (attempt) {
      transfer.kind = attempt.kind;
      transfer.method = attempt.method;
      transfer.outputs = std::move(attempt.outputs);
      transfer.steps = shuffling.take_steps();
      std::move(shuffling).finish(transfer);
      accept("shuffle", std::move(transfer));
    } else {
      reject("shuffle", attempt.reason);
    }
  }

  const Request& request_;
  Planned planned_;
};

}  // namespace

Planned plan_transfer(const Request& request) {
  return Planner(request).run();
}

std::string verify_transfer(const Request& request, const Transfer& transfer) {
  std::string fault = delivery_fault(request, transfer);
  return fault.empty() ? ordering_fault(request, transfer) : fault;
}

Endpoint in_registers(TileMap map) {
  Endpoint side;
  side.threads = map.threads;
  side.map = std::move(map);
  return side;
}

Endpoint in_tensor_memory(TileMap map, int threads) {
  Endpoint side;
  side.space = Space::kTensorMemory;
  side.threads = threads;
  side.map = std::move(map);
  return side;
}

Endpoint in_shared(AddressMap address, int element_bytes, int threads, bool async, int align) {
  Endpoint side;
  side.space = Space::kShared;
  side.address = std::move(address);
  side.map.element_bytes = element_bytes;
  side.threads = threads;
  side.async = async;
  side.align = align;
  return side;
}

}  // namespace pipelink::transfer
