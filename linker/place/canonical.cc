#include "linker/place/canonical.h"

#include <bit>

namespace pipelink::place {
namespace {

void sort_names(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

template <class T>
void sort_by_name(std::vector<T>& list) {
  std::stable_sort(list.begin(), list.end(), [](const T& a, const T& b) { return a.name < b.name; });
}

template <class T>
void sort_claims(std::vector<T>& list) {
  for (T& claim : list) sort_names(claim.live);
  sort_by_name(list);
}

}  // namespace

Problem canonical(const Problem& problem) {
  Problem p = problem;
  for (Phase& phase : p.phases) {
    sort_names(phase.after);
    sort_names(phase.after_previous);
  }
  sort_by_name(p.phases);
  sort_by_name(p.rings);
  sort_claims(p.buffers);
  sort_claims(p.barriers);
  sort_claims(p.tensor_columns);
  sort_claims(p.roles);
  return p;
}

std::string lifetime_text(const Claim& claim) {
  if (claim.live.empty()) return "always live";
  std::string text = "live in ";
  for (std::size_t i = 0; i < claim.live.size(); ++i) {
    if (i) text += ", ";
    text += claim.live[i];
  }
  return text;
}

int warp_capacity(const Target& target) {
  return std::min(target.max_warps, target.sm_warps / target.blocks_per_sm) / 4 * 4;
}

int column_capacity(const Target& target) {
  const int share = target.tensor_columns / target.blocks_per_sm;
  return share < 32 ? 0 : static_cast<int>(std::bit_floor(static_cast<unsigned>(share)));
}

std::int64_t shared_capacity(const Target& target) {
  if (target.blocks_per_sm <= 1) return target.shared_bytes;
  const std::int64_t sm = target.shared_bytes + target.shared_reserved_bytes;
  const std::int64_t block = sm / target.blocks_per_sm - target.shared_reserved_bytes;
  return std::max<std::int64_t>(0, block / 128 * 128);
}

}  // namespace pipelink::place
