// The placement of a guarded link: no two claims share bytes, every ring has its least depth, and around the
// claims lie bands that nobody may write.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "linker/place/problem.h"
#include "linker/place/solution.h"

namespace pipelink {

/// The guard's own words, at the start of shared memory; laid out by templates/guard.cu.mustache.
inline constexpr const char* kGuardClaim = "kernel:guard";
inline constexpr std::int64_t kGuardBytes = 208;
/// The least width of a band. What alignment adds is watched too.
inline constexpr std::int64_t kGuardBand = 128;

/// Bytes [begin, end) of shared memory that no claim covers.
struct GuardBand {
  std::int64_t begin = 0, end = 0;
  bool operator==(const GuardBand&) const = default;
};

/// How many bytes are watched just before and just after a claim.
struct GuardedClaim {
  std::string name;
  std::int64_t before = 0, after = 0;
};

/// What no guard sees, and why.
struct NotGuarded {
  std::string owner;  ///< an instance, or a component
  std::string what, why;
  bool operator==(const NotGuarded&) const = default;
};

struct GuardedPlacement {
  place::Problem problem;            ///< as it was solved, without bands, with the guard's own claim
  place::Solution solution;          ///< sizes are those of the claims; the bands are what lies between them
  std::vector<std::string> reusing;  ///< claims that may share bytes, for else they would not fit; sorted
  std::int64_t end = 0;              ///< of the last band: the bytes of shared memory that the block needs
};

/// Where not everything fits, claims go without bands: those with the largest alignment first (a band costs
/// them most), then by name. If that does not suffice, claims may share bytes as in any link: the largest
/// first. Errors: those of place::solve; its L-SMEM if nothing helps.
Outcome<GuardedPlacement> place_guarded(const place::Problem& problem, std::uint64_t limit);

/// What no claim covers, in order, up to `end`.
std::vector<GuardBand> guard_bands(const place::Solution& solution, std::int64_t end);

/// All claims but the guard's own, by name.
std::vector<GuardedClaim> guarded_claims(const place::Solution& solution,
                                         const std::vector<GuardBand>& bands);

/// Claims that share bytes, or have no band on a side; tensor memory. By name.
std::vector<NotGuarded> not_guarded(const GuardedPlacement& placed, const std::vector<GuardBand>& bands);

}  // namespace pipelink
