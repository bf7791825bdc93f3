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

constexpr std::size_t kMostRegisters = 255;  ///< of a thread

std::string request_fault(const Request& request) {
  for (const auto& [side, name] :
       {std::pair{&request.from, "producer"}, std::pair{&request.to, "consumer"}}) {
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
    return fmt::format(
        "the producer has elements of {} bytes, the consumer of {}; a transfer does not convert",
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

std::vector<std::int32_t> bytes_of(const AddressMap& address, int element_bytes) {
  std::vector<std::int32_t> out;
  out.reserve(address.offset.size());
  for (const std::int32_t offset : address.offset) out.push_back(offset * element_bytes);
  return out;
}

/// What has to be moved at least: the bytes that each warp accesses, in lines of 128.
int bound_of(const UnitPlaces& places, const Accesses& accesses) {
  int bound = 0;
  for (int warp = 0; warp < places.threads; warp += 32) {
    std::int64_t units = 0;
    for (int c = 0; c < places.columns; ++c) {
      if (accesses.same_as[static_cast<std::size_t>(c)] != c) continue;
      const auto column = places.column(c);
      for (int t = warp; t < std::min(warp + 32, places.threads); ++t)
        units += column[static_cast<std::size_t>(t)] == kAny ? 0 : 1;
    }
    bound += wavefront_bound(units * places.unit_bytes);
  }
  return bound;
}

/// Writes one transfer.
class Assembly {
 public:
  explicit Assembly(const Request& request)
      : request_(request),
        inputs_(request.from.space == Space::kRegisters
                    ? word_count(request.from.map.values, request.from.map.element_bytes)
                    : 0),
        builder_(request.from.threads, inputs_, unit_bytes(request.from.map.element_bytes)) {
    transfer_.threads = request.from.threads;
    transfer_.consumer_threads = request.to.threads;
    transfer_.groups = request.groups;
    transfer_.inputs = inputs_;
  }

  Builder& builder() { return builder_; }
  Cost& cost() { return transfer_.cost; }
  Held inputs() const { return {request_.from.map, inputs_of(request_.from.map)}; }
  void outputs(std::vector<Register> words) { transfer_.outputs = std::move(words); }
  void describe(Kind kind, std::string method) {
    transfer_.kind = kind;
    transfer_.method = std::move(method);
  }
  void renamed(std::vector<std::int32_t> names) { transfer_.renamed = std::move(names); }

  /// All threads of the producer's role meet; within warps if `warps`.
  void meet(bool warps = false) {
    ++transfer_.cost.barriers;
    if (warps || request_.from.threads == 32)
      builder_.add(WarpBarrier{});
    else
      builder_.add(NamedBarrier{barrier("tile", request_.from.threads), request_.from.threads, true});
  }
  /// One of the two barriers between roles.
  void between(const char* name, bool waits) {
    ++transfer_.cost.barriers;
    const int threads = request_.from.threads + request_.to.threads;
    builder_.add(NamedBarrier{barrier(name, threads), threads, waits});
  }
  void buffer(std::int64_t bytes, int align) {
    transfer_.buffer_bytes = (bytes + 15) / 16 * 16;
    transfer_.buffer_align = std::max(align, 16);
  }
  void count_stores(const UnitPlaces& places, const Accesses& accesses) {
    transfer_.cost.stores += static_cast<int>(accesses.list.size());
    transfer_.cost.store_wavefronts += accesses.wavefronts;
    transfer_.cost.store_bound += bound_of(places, accesses);
  }
  void count_loads(const UnitPlaces& places, const Accesses& accesses) {
    transfer_.cost.loads += static_cast<int>(accesses.list.size());
    transfer_.cost.load_wavefronts += accesses.wavefronts;
    transfer_.cost.load_bound += bound_of(places, accesses);
  }
  void end_steps() { transfer_.steps = builder_.take_steps(); }
  void end_after() { transfer_.after = builder_.take_steps(); }
  void end_receive() { transfer_.receive = builder_.take_steps(); }
  void end_release() { transfer_.release = builder_.take_steps(); }
  void prearrive() {
    transfer_.prearrive.push_back(barrier("empty", request_.from.threads + request_.to.threads));
  }

  Transfer finish() && {
    std::move(builder_).finish(transfer_);
    return std::move(transfer_);
  }

 private:
  int barrier(const std::string& name, int threads) {
    for (std::size_t i = 0; i < transfer_.barriers.size(); ++i)
      if (transfer_.barriers[i].name == name) return static_cast<int>(i);
    transfer_.barriers.push_back({name, threads});
    return static_cast<int>(transfer_.barriers.size()) - 1;
  }

  const Request& request_;
  int inputs_;
  Builder builder_;
  Transfer transfer_;
};

/// Whether each thread demands only what its own warp holds.
bool within_warps(const TileMap& from, const TileMap& to) {
  if (from.threads != to.threads) return false;
  std::vector<std::int32_t> warp(static_cast<std::size_t>(std::max(tile_size(from), tile_size(to))), -1);
  // The first holder stores.
  for (int t = from.threads - 1; t >= 0; --t)
    for (int v = 0; v < from.values; ++v)
      if (from(t, v) != kNothing) warp[static_cast<std::size_t>(from(t, v))] = t / 32;
  for (int t = 0; t < to.threads; ++t)
    for (int v = 0; v < to.values; ++v)
      if (to(t, v) != kNothing && warp[static_cast<std::size_t>(to(t, v))] != t / 32) return false;
  return true;
}

/// The planners in order; each candidate is verified.
class Planner {
 public:
  explicit Planner(const Request& request) : request_(request), from_(request.from), to_(request.to) {}

  Planned run() {
    if (std::string fault = request_fault(request_); !fault.empty()) {
      reject("any", std::move(fault));
      return std::move(planned_);
    }
    if (request_.two_roles) {
      reject("registers", "the consumer is another role: its threads have registers of their own");
      if (to_.space == Space::kTensorMemory)
        reject("in place",
               "between roles a tile is staged in shared memory; tensor memory is handed over by a "
               "protocol of the components");
      else
        through_shared();
      return std::move(planned_);
    }
    if (to_.space == Space::kTensorMemory) {
      tensor_memory_in_place();
    } else if (from_.space == to_.space && to_.space == Space::kRegisters) {
      registers() || shuffle(false) || through_shared() || shuffle(true);
    } else if (from_.space == Space::kTensorMemory && to_.space == Space::kRegisters) {
      tensor_load() || tensor_shuffle() || through_shared();
    } else if (from_.space == Space::kShared) {
      shared_in_place() || shared_load() || through_shared();
    } else {
      through_shared();
    }
    return std::move(planned_);
  }

 private:
  void reject(std::string kind, std::string reason) {
    planned_.rejected.push_back({std::move(kind), std::move(reason)});
  }

  bool accept(const std::string& kind, Transfer transfer) {
    const std::int64_t align = transfer.buffer_align;
    const std::int64_t bytes = (transfer.buffer_bytes + align - 1) / align * align * transfer.groups;
    if (bytes > request_.shared_bytes) {
      reject(kind,
             fmt::format("claims {} bytes of shared memory; {} are allowed", bytes, request_.shared_bytes));
      return false;
    }
    if (transfer.registers > 0 &&
        std::max(transfer.outputs.size(), static_cast<std::size_t>(transfer.inputs)) > kMostRegisters) {
      reject(kind, fmt::format("a thread has {} registers, not {} and more", kMostRegisters,
                               std::max(transfer.outputs.size(), static_cast<std::size_t>(transfer.inputs))));
      return false;
    }
    std::string fault = verify_transfer(request_, transfer);
    if (!fault.empty()) {
      reject(kind, "does not verify: " + fault);
      return false;
    }
    planned_.transfer = std::move(transfer);
    return true;
  }

  bool registers() {
    Assembly assembly(request_);
    Attempt attempt = plan_renaming(assembly.builder(), assembly.inputs(), to_.map);
    if (!attempt) {
      reject("registers", attempt.reason);
      return false;
    }
    std::string ignored;
    assembly.renamed(*renaming(from_.map, to_.map, ignored));
    assembly.describe(attempt.kind, {});
    assembly.outputs(std::move(attempt.outputs));
    assembly.end_steps();
    return accept("registers", std::move(assembly).finish());
  }

  bool shuffle(bool any_effort) {
    Assembly assembly(request_);
    Attempt attempt =
        plan_shuffle(assembly.builder(), assembly.inputs(), to_.map, assembly.cost(), any_effort);
    if (!attempt) {
      if (!any_effort) reject("shuffle", attempt.reason);
      return false;
    }
    assembly.describe(attempt.kind, attempt.method);
    assembly.outputs(std::move(attempt.outputs));
    assembly.end_steps();
    return accept("shuffle", std::move(assembly).finish());
  }

  void tensor_memory_in_place() {
    if (from_.space != Space::kTensorMemory)
      return reject("tensor memory", "the producer has it elsewhere; nothing stores into tensor memory");
    if (from_.map != to_.map)
      return reject("tensor memory", "the consumer demands another order of lanes or columns");
    Assembly assembly(request_);
    assembly.describe(Kind::kInPlace, "tensor memory");
    accept("tensor memory", std::move(assembly).finish());
  }

  bool tensor_load() {
    std::string reason;
    const std::optional<TensorPieces> pieces = matching_pieces(from_.map, to_.map, reason);
    if (!pieces) {
      reject("tensor memory", reason);
      return false;
    }
    Assembly assembly(request_);
    const Held held = load_pieces(assembly.builder(), *pieces, assembly.cost());
    Attempt attempt = plan_renaming(assembly.builder(), held, to_.map);
    assembly.describe(Kind::kTensorLoad, fmt::format("tcgen05.ld.{}", name_of(pieces->shape)));
    assembly.outputs(std::move(attempt.outputs));
    assembly.end_steps();
    return accept("tensor memory", std::move(assembly).finish());
  }

  std::vector<bool> demanded() const {
    std::vector<bool> out(static_cast<std::size_t>(tile_size(to_.map)), false);
    for (const std::int32_t e : to_.map.element)
      if (e != kNothing) out[static_cast<std::size_t>(e)] = true;
    if (to_.space == Space::kShared) out.assign(to_.address.offset.size(), true);
    return out;
  }

  /// A load in the shape that leaves the fewest shuffles.
  bool tensor_shuffle() {
    std::optional<Transfer> best;
    std::string reason;
    for (const TensorShape shape : kTensorShapes) {
      const std::optional<TensorPieces> pieces = tensor_pieces(from_.map, to_.threads, shape, demanded());
      if (!pieces || pieces->map.values * from_.map.element_bytes / 4 > static_cast<int>(kMostRegisters))
        continue;
      Assembly assembly(request_);
      const Held held = load_pieces(assembly.builder(), *pieces, assembly.cost());
      Attempt attempt = plan_shuffle(assembly.builder(), held, to_.map, assembly.cost(), false);
      if (!attempt) {
        if (reason.empty()) reason = fmt::format("of tcgen05.ld.{}, {}", name_of(shape), attempt.reason);
        continue;
      }
      assembly.describe(attempt.kind == Kind::kPermuted ? Kind::kTensorLoad : Kind::kShuffle,
                        fmt::format("tcgen05.ld.{}, {}", name_of(shape), attempt.method));
      assembly.outputs(std::move(attempt.outputs));
      assembly.end_steps();
      Transfer transfer = std::move(assembly).finish();
      if (!best || transfer.cost.shuffles < best->cost.shuffles) best = std::move(transfer);
    }
    if (best) return accept("shuffle", std::move(*best));
    reject("shuffle", reason.empty() ? "no shape of tcgen05.ld reads the tile" : reason);
    return false;
  }

  bool shared_in_place() {
    if (to_.space != Space::kShared) return false;
    if (from_.address != to_.address || from_.align < to_.align) {
      reject("in place", from_.address == to_.address
                             ? fmt::format("the producer's tile is aligned to {} bytes, {} are demanded",
                                           from_.align, to_.align)
                             : "the consumer demands other addresses");
      return false;
    }
    Assembly assembly(request_);
    assembly.describe(Kind::kInPlace, "shared memory");
    if (to_.async) assembly.builder().add(AsyncFence{});
    assembly.meet();
    assembly.end_steps();
    assembly.meet();
    assembly.end_after();
    return accept("in place", std::move(assembly).finish());
  }

  std::string warp_fault() const {
    if (from_.threads % 32 != 0 || to_.threads % 32 != 0)
      return fmt::format("barriers count whole warps; the sides have {} and {} threads", from_.threads,
                         to_.threads);
    return {};
  }

  bool shared_load() {
    if (to_.space != Space::kRegisters) return false;
    if (std::string fault = warp_fault(); !fault.empty()) {
      reject("load", std::move(fault));
      return false;
    }
    if (std::string fault = undelivered(); !fault.empty()) {
      reject("load", std::move(fault));
      return false;
    }
    Assembly assembly(request_);
    const UnitPlaces places = places_of(to_.map, bytes_of(from_.address, from_.map.element_bytes), false);
    const Accesses loads = plan_accesses(places, {std::min(from_.align, 16), request_.ldmatrix, false});
    assembly.meet();
    assembly.outputs(load_tile(assembly.builder(), to_.map, loads, Address::Buffer::kProducer));
    assembly.meet();
    assembly.count_loads(places, loads);
    assembly.describe(Kind::kLoad, {});
    assembly.end_steps();
    return accept("load", std::move(assembly).finish());
  }

  /// An element that is demanded and that the producer does not have.
  std::string undelivered() const {
    std::vector<bool> have;
    const auto note = [&](std::int32_t e) {
      if (e == kNothing) return;
      if (have.size() <= static_cast<std::size_t>(e)) have.resize(static_cast<std::size_t>(e) + 1, false);
      have[static_cast<std::size_t>(e)] = true;
    };
    if (from_.space == Space::kShared)
      have.assign(from_.address.offset.size(), true);
    else
      for (const std::int32_t e : from_.map.element) note(e);
    const std::vector<bool> wanted = demanded();
    for (std::size_t e = 0; e < wanted.size(); ++e)
      if (wanted[e] && (e >= have.size() || !have[e]))
        return fmt::format("the consumer demands element {}, which the producer does not have", e);
    return {};
  }

  /// The registers that are stored: the producer's, or what is loaded from tensor memory or from its tile.
  struct Source {
    std::optional<TensorPieces> pieces;
    TileMap map;
  };

  std::vector<Source> sources() const {
    if (from_.space == Space::kRegisters) return {{std::nullopt, from_.map}};
    if (from_.space == Space::kShared) {
      const AddressMap& order = to_.space == Space::kShared ? to_.address : from_.address;
      return {{std::nullopt, copy_map(order, from_.map.element_bytes, from_.threads)}};
    }
    std::vector<Source> out;
    for (const TensorShape shape : kTensorShapes)
      if (auto pieces = tensor_pieces(from_.map, from_.threads, shape, demanded())) {
        if (pieces->map.values * from_.map.element_bytes / 4 > static_cast<int>(kMostRegisters)) continue;
        TileMap map = pieces->map;
        out.push_back({std::move(pieces), std::move(map)});
      }
    return out;
  }

  /// A buffer that both sides access: the consumer's tile, or one whose layout is chosen.
  std::optional<Staging> staging_for(const Source& source) const {
    if (to_.space == Space::kRegisters)
      return choose_staging(source.map, to_.map, request_,
                            request_.shared_bytes / std::max(request_.groups, 1));
    Staging staging;
    staging.layout.byte = bytes_of(to_.address, to_.map.element_bytes);
    staging.layout.bytes = to_.address.bytes;
    staging.stores =
        plan_accesses(places_of(source.map, staging.layout.byte, true), {16, request_.stmatrix, true});
    return staging;
  }

  bool through_shared() {
    const bool to_registers = to_.space == Space::kRegisters;
    const char* kind = to_registers ? "staging" : "store";
    std::string fault = warp_fault();
    if (fault.empty()) fault = undelivered();
    if (!fault.empty()) {
      reject(kind, std::move(fault));
      return false;
    }
    const Source* source = nullptr;
    std::optional<Staging> staging;
    const std::vector<Source> all = sources();
    for (const Source& candidate : all) {
      std::optional<Staging> other = staging_for(candidate);
      const auto rank = [](const Staging& s) {
        return std::pair(s.stores.wavefronts + s.loads.wavefronts,
                         s.stores.instructions + s.loads.instructions);
      };
      if (!other || (staging && rank(*staging) <= rank(*other))) continue;
      staging = std::move(other);
      source = &candidate;
    }
    if (!staging) {
      reject(kind, all.empty() ? std::string("no shape of tcgen05.ld reads the tile")
                               : fmt::format("no layout of the tile takes at most {} bytes",
                                             request_.shared_bytes / std::max(request_.groups, 1)));
      return false;
    }
    return accept(kind, write_staging(*source, *staging));
  }

  Transfer write_staging(const Source& source, const Staging& staging) {
    const bool to_registers = to_.space == Space::kRegisters, two = request_.two_roles;
    Assembly assembly(request_);
    Builder& builder = assembly.builder();
    assembly.describe(to_registers ? Kind::kStaging : Kind::kStore, staging.layout.name);
    assembly.buffer(staging.layout.bytes, to_registers ? 16 : to_.align);

    Held held = assembly.inputs();
    if (source.pieces) {
      held = load_pieces(builder, *source.pieces, assembly.cost());
    } else if (from_.space == Space::kShared) {
      const UnitPlaces places =
          places_of(source.map, bytes_of(from_.address, from_.map.element_bytes), false);
      const Accesses loads = plan_accesses(places, {std::min(from_.align, 16), request_.ldmatrix, false});
      assembly.meet();
      held = {source.map, load_tile(builder, source.map, loads, Address::Buffer::kProducer)};
      assembly.count_loads(places, loads);
    }
    const UnitPlaces stored = places_of(source.map, stored_bytes(staging), true);
    const UnitPlaces loaded = to_registers ? places_of(to_.map, staging.layout.byte, false) : UnitPlaces{};
    // Earlier readers are done: those of the last tile. (Between roles this ends the loads from the
    // producer's tile as well.)
    const bool warps = !two && to_registers && within_warps(source.map, to_.map);
    if (two)
      assembly.between("empty", true);
    else if (from_.space != Space::kShared)
      assembly.meet(warps);
    store_tile(builder, held, staging.stores);
    assembly.count_stores(stored, staging.stores);
    if (to_.async && !to_registers) builder.add(AsyncFence{});
    if (two) {
      assembly.between("full", false);
      assembly.end_steps();
      builder.change_role(to_.threads);
      assembly.between("full", true);
      assembly.prearrive();
    } else {
      assembly.meet(warps);
    }
    if (to_registers) {
      assembly.outputs(load_tile(builder, to_.map, staging.loads, Address::Buffer::kTransfer));
      assembly.count_loads(loaded, staging.loads);
    }
    if (!two) {
      assembly.end_steps();
    } else {
      if (!to_registers) assembly.end_receive();
      assembly.between("empty", false);
      if (to_registers)
        assembly.end_receive();
      else
        assembly.end_release();
    }
    return std::move(assembly).finish();
  }

  /// Elements that nobody demands are not stored.
  std::vector<std::int32_t> stored_bytes(const Staging& staging) const {
    std::vector<std::int32_t> byte = staging.layout.byte;
    const std::vector<bool> wanted = demanded();
    for (std::size_t e = 0; e < byte.size(); ++e)
      if (e >= wanted.size() || !wanted[e]) byte[e] = kAny;
    return byte;
  }

  const Request& request_;
  const Endpoint &from_, &to_;
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
