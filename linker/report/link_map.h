// A link map read back from its JSON, with every number in bounds: the page is drawn from this alone.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "packager/base/outcome.h"

namespace pipelink {

struct MapClaim {
  std::string name, owner;
  SourceSpan where;
  std::vector<std::string> live;  ///< phases; empty: always
  std::vector<int> glue;          ///< lines of the glue that speak of it, 1-based
};

struct MapShared : MapClaim {
  std::string kind;  ///< "buffer", "ring", "full barriers", "empty barriers", "barriers"; "" in an old map
  std::int64_t offset = 0, bytes = 0, align = 1, arrivals = 0;
  std::int64_t end() const { return offset + bytes; }
};

struct MapWhy {
  std::string text;
  bool proven = true;
  std::vector<LabelledFact> facts;
};

struct MapRing : MapClaim {
  std::int64_t stages = 1, least = 1, most = 1, stage_bytes = 0, data = 0, full = 0, empty = 0;
  std::int64_t full_arrivals = 0, empty_arrivals = 0, tier = 0, weight = 1;
  std::optional<MapWhy> why;
};

struct MapBarrier : MapClaim {
  int id = 0;
};

struct MapColumns : MapClaim {
  int column = 0, columns = 0;  ///< of tensor memory
};

struct MapRole : MapClaim {
  int first_warp = 0, warps = 0, registers = 0, least = 0, most = 0;
  std::optional<MapWhy> why;
};

struct MapPhase {
  std::string name, owner;
  SourceSpan where;
  std::vector<std::string> after, after_previous, called_in;
};

struct MapOrder {
  std::vector<std::string> path;
  std::size_t next_iteration_at = 0;  ///< 0: within one iteration
};

struct MapReuse {
  enum class Of { kShared, kColumns, kBarrier };
  Of of = Of::kShared;
  std::string first, second;
  std::int64_t offset = 0, size = 0;  ///< bytes or columns; of a barrier its id, and 0
  std::vector<MapOrder> within, across;
};

struct MapRegion {
  std::string instance, type;
  std::int64_t offset = 0, bytes = 0;
};

struct MapProtocol {
  std::string producer, consumer;
  std::int64_t stages = 0, stage_bytes = 0, full_arrivals = 0, empty_arrivals = 0;
  std::optional<std::int64_t> transaction_bytes;
};

struct MapTile {
  std::string element, extents, space, scope, layout, from_layout, via;
  std::string from_space;  ///< `space` is the consumer's
  std::vector<int> shape;  ///< extents as numbers
};

struct MapBinding {
  std::string kind;  ///< "callable", "ring", "tensor"
  std::string import, exported;
  SourceSpan import_at, export_at;
  std::string signature;
  std::optional<MapProtocol> protocol;
  std::optional<MapTile> tile;
  std::vector<int> glue;
};

struct MapRoute {
  std::string from, to, route;
  std::size_t permuted = 0;  ///< how many values are renamed
  std::string method;
  std::vector<std::string> cost;
  struct Rejected {
    std::string route, reason;
  };
  std::vector<Rejected> rejected;  ///< what was tried before
};

struct MapFact {
  std::string name, value;
  bool settable = false, set = false;
  std::vector<std::string> domain, readers;
  SourceSpan where;
  std::vector<int> glue;
};

struct MapObjective {
  std::string name;
  bool proven = true;
  std::int64_t value = 0, bound = 0;
};

struct MapGuard {
  struct Claim {
    std::string name;
    std::int64_t before = 0, after = 0;  ///< bytes of the bands
  };
  struct Missing {
    std::string what, why;
  };
  std::int64_t milliseconds = 0;
  std::vector<Claim> claims;
  std::vector<std::string> waits;
  std::vector<Missing> not_guarded;
};

struct LinkMap {
  std::string name, arch, version;
  struct Instance {
    std::string name, component;
  };
  std::vector<Instance> instances;
  std::int64_t cluster[3] = {1, 1, 1}, blocks_per_sm = 1;

  std::int64_t shared_bytes = 0, shared_capacity = 0, free = 0;
  std::vector<MapShared> shared;
  std::vector<MapRing> rings;
  std::vector<MapBarrier> barriers;
  std::vector<MapColumns> tensor_memory;
  int columns = 0, column_capacity = 0;  ///< that the block allocates, and might
  std::vector<MapRole> roles;
  int threads = 0, entry_registers = 0, register_pool = 65'536, max_barriers = 16;
  std::vector<int> warpgroup_registers;
  std::int64_t parameter_bytes = 0;
  std::vector<MapRegion> regions;
  std::vector<MapPhase> phases;  ///< each after those that it comes after
  std::vector<MapReuse> reuse;

  bool optimal = true;
  std::int64_t gap_bytes = 0, work_used = 0, work_limit = 0;
  std::vector<MapObjective> objectives;

  std::vector<MapBinding> bindings;
  std::vector<MapRoute> routes;
  std::vector<MapFact> facts;
  std::vector<std::string> dropped;
  struct Input {
    std::string package, component, version, sha256;
  };
  std::vector<Input> inputs;
  struct GateRow {
    std::string what, planned, found;
  };
  std::vector<GateRow> gate;
  struct Cubin {
    std::string toolkit, sha256, text_sha256;
    std::int64_t text_bytes = 0, stack_bytes = 0;
  };
  std::optional<Cubin> cubin;
  std::optional<MapGuard> guard;
  std::string glue_sha256;
  std::vector<std::string> glue;
};

/// I-JSON, naming the row, for what is no link map: a key that is missing or of the wrong type, a number out
/// of any sensible range. Maps of earlier versions lack some keys; then those values are empty.
Outcome<LinkMap> parse_link_map(const std::string& json, const std::string& file);

}  // namespace pipelink
