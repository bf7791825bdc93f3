// What is to be placed: a solver-free model. Everything is referred to by name; the order of the lists never
// matters.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "packager/base/outcome.h"

namespace pipelink::place {

/// What one block may use. The defaults are those of sm_90a.
struct Target {
  std::int64_t shared_bytes = 232'448;        ///< of a block that is alone on its SM
  std::int64_t shared_reserved_bytes = 1024;  ///< what the system takes for each block
  int registers = 65'536;                     ///< of an SM
  int max_warps = 32;                         ///< of a block
  int sm_warps = 64;                          ///< of an SM
  int named_barriers = 15;                    ///< ids 1…; id 0 is the dispatch kernel's
  int tensor_columns = 512;                   ///< of an SM
  int blocks_per_sm = 1;
};

/// What one block may use when `blocks_per_sm` blocks share the SM: bytes, warps, and columns of tensor
/// memory, which a block allocates as a power of two from 32. (Registers: entry_registers in warps.h. Named
/// barriers belong to a block. A cluster changes none of these: each of its blocks has all that a block has.)
std::int64_t shared_capacity(const Target& target);
int warp_capacity(const Target& target);
int column_capacity(const Target& target);

/// A stretch of one role's program (or of several that are ordered alike). In iteration i it comes after
/// every phase of `after` in iteration i and after every phase of `after_previous` in iteration i − 1. No
/// order is implied, not even between a phase and itself one iteration later: a role that repeats names its
/// last phase in the `after_previous` of its first.
struct Phase {
  std::string name;
  std::vector<std::string> after;
  std::vector<std::string> after_previous;  ///< only with Problem::loop
};

/// What every claim has. `live` names the phases that use it; empty means always live, never shared.
struct Claim {
  std::string name;   ///< unique among the claims of its kind, e.g. "gu.a"
  std::string owner;  ///< for messages: the instance that claims it
  SourceSpan where;
  std::vector<std::string> live;
};

/// A ring's depth is chosen in [min_depth, max_depth]. Its storage is the buffers that name it; the caller
/// adds the full and empty mbarriers as always-live buffers (stage_bytes 16, align 8).
struct Ring {
  std::string name;
  std::string owner;
  SourceSpan where;
  int min_depth = 1;
  int max_depth = 1;
  int tier = 0;    ///< lower tiers are deepened first
  int weight = 1;  ///< within a tier, (depth − min_depth) / weight is kept level
};

/// `bytes` + `stage_bytes` × depth of `ring`.
struct Buffer : Claim {
  std::int64_t bytes = 0;
  std::int64_t stage_bytes = 0;
  std::string ring;         ///< needed if stage_bytes is not 0
  std::int64_t align = 16;  ///< a power of two
};

struct NamedBarrier : Claim {};

struct TensorColumns : Claim {
  int columns = 32;  ///< a power of two, 32 to 512
};

/// Warps that run one program. Roles of up to four warps lie within one warpgroup; larger ones start a
/// warpgroup. `live` is not used. Register bounds are multiples of 8.
struct Role : Claim {
  int warps = 4;
  int align_warps = 4;  ///< 1, 2 or 4 (a warpgroup)
  int min_registers = 24;
  int max_registers = 240;
};

struct Problem {
  std::string name;
  Target target;
  bool loop = false;  ///< the phases repeat: the kernel is persistent
  std::vector<Phase> phases;
  std::vector<Ring> rings;
  std::vector<Buffer> buffers;
  std::vector<NamedBarrier> barriers;
  std::vector<TensorColumns> tensor_columns;
  std::vector<Role> roles;
};

/// Everything that makes a problem meaningless: unknown or repeated names, an order that has a cycle within
/// one iteration, sizes, alignments, depths or bounds out of range. Empty if it is well formed; solve() calls
/// it.
Diagnostics validate(const Problem& problem);

}  // namespace pipelink::place
