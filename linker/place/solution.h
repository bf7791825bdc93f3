// Where everything was placed. Lists are sorted by name, whatever the order of the problem was.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pipelink::place {

struct RingDepth {
  std::string name;
  int depth = 0;
  bool operator==(const RingDepth&) const = default;
};

struct BufferPlacement {
  std::string name;
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  bool operator==(const BufferPlacement&) const = default;
};

struct BarrierPlacement {
  std::string name;
  int id = 0;  ///< 1…
  bool operator==(const BarrierPlacement&) const = default;
};

struct ColumnPlacement {
  std::string name;
  int column = 0;
  int columns = 0;
  bool operator==(const ColumnPlacement&) const = default;
};

struct RolePlacement {
  std::string name;
  int first_warp = 0;
  int warps = 0;
  int registers = 0;  ///< of the warpgroups that it runs in
  bool operator==(const RolePlacement&) const = default;
};

/// One objective, in the order of importance.
struct Objective {
  std::string name;        ///< "depths", "registers", "footprint", "columns", "barriers"
  bool proven = true;      ///< no better value exists, given the objectives before it
  std::int64_t value = 0;  ///< sum of depths, sum of budgets, bytes, columns, ids
  std::int64_t bound = 0;  ///< the best value that was not excluded
  bool operator==(const Objective&) const = default;
};

struct Solution {
  std::vector<RingDepth> rings;
  std::vector<BufferPlacement> buffers;
  std::vector<BarrierPlacement> barriers;
  std::vector<ColumnPlacement> tensor_columns;
  std::vector<RolePlacement> roles;

  std::int64_t footprint = 0;            ///< bytes of shared memory, to be allocated
  std::int64_t capacity = 0;             ///< bytes that the block may use
  int barrier_count = 0;                 ///< ids 1…barrier_count are used
  int tensor_column_count = 0;           ///< columns 0…, not rounded to an allocation size
  int warps = 0;                         ///< of the block, a multiple of 4
  int entry_registers = 0;               ///< per thread, at the kernel's entry
  std::vector<int> warpgroup_registers;  ///< the budget of each warpgroup, in order

  std::vector<Objective> objectives;
  bool optimal = true;         ///< every objective is proven
  std::int64_t gap_bytes = 0;  ///< footprint − proven lower bound
  std::uint64_t rlimit_used = 0;
  std::uint64_t rlimit_limit = 0;

  std::int64_t free_bytes() const { return capacity - footprint; }
  const RingDepth* ring(std::string_view name) const;
  const BufferPlacement* buffer(std::string_view name) const;
  const BarrierPlacement* barrier(std::string_view name) const;
  const ColumnPlacement* columns(std::string_view name) const;
  const RolePlacement* role(std::string_view name) const;
  bool operator==(const Solution&) const = default;
};

}  // namespace pipelink::place
