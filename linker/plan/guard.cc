#include "linker/plan/guard.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "linker/place/solve.h"

namespace pipelink {
namespace {

std::int64_t round_up(std::int64_t value, std::int64_t align) {
  return (value + align - 1) / align * align;
}

/// Names in an order of theirs: `key` descending, then by name.
template <class Key>
std::vector<std::string> ordered(const std::vector<const place::Buffer*>& claims, Key key) {
  std::vector<std::pair<std::int64_t, std::string>> list;
  for (const place::Buffer* b : claims) list.emplace_back(-key(*b), b->name);
  std::sort(list.begin(), list.end());
  std::vector<std::string> out;
  for (auto& [unused, name] : list) out.push_back(std::move(name));
  return out;
}

class Guarded {
 public:
  Guarded(const place::Problem& problem, std::uint64_t limit) : base_(problem), limit_(limit) {
    for (place::Ring& ring : base_.rings) ring.max_depth = ring.min_depth;
    if (static_cast<int>(base_.barriers.size()) <= base_.target.named_barriers)
      for (place::NamedBarrier& b : base_.barriers) b.live.clear();
    std::vector<const place::Buffer*> all, limited;
    for (const place::Buffer& b : problem.buffers) {
      all.push_back(&b);
      if (!b.live.empty()) limited.push_back(&b);
      align_ = std::max(align_, b.align);
    }
    drops_ = ordered(all, [](const place::Buffer& b) { return b.align; });
    drops_.emplace_back(kGuardClaim);
    reuses_ =
        ordered(limited, [&](const place::Buffer& b) { return b.bytes + b.stage_bytes * depth(b.ring); });
  }

  Outcome<GuardedPlacement> run() {
    if (attempt(0, 0)) return finish();
    if (!failure_.empty()) return failure_;
    const std::size_t all = drops_.size();
    std::size_t reused = 0;
    if (!attempt(all, 0)) {
      if (!failure_.empty()) return failure_;
      if (!attempt(all, reuses_.size())) return failure_.empty() ? refusal() : failure_;
      reused = least(reuses_.size(), [&](std::size_t n) { return attempt(all, n); });
    }
    const std::size_t dropped = least(all, [&](std::size_t n) { return attempt(n, reused); });
    if (!attempt(dropped, reused)) return failure_;
    return finish();
  }

 private:
  int depth(const std::string& ring) const {
    for (const place::Ring& r : base_.rings)
      if (r.name == ring) return r.min_depth;
    return 0;
  }

  /// The least n up to `most`, which is known to do, for which `fits`.
  template <class Fits>
  static std::size_t least(std::size_t most, Fits fits) {
    std::size_t low = 0;
    while (low < most) {
      const std::size_t middle = low + (most - low) / 2;
      if (fits(middle))
        most = middle;
      else
        low = middle + 1;
    }
    return most;
  }

  /// Solves with the first `dropped` claims of drops_ without a band, and the first `reused` of reuses_ with
  /// their lifetimes. False if the memory does not suffice; failure_ holds any other error.
  bool attempt(std::size_t dropped, std::size_t reused) {
    const std::set<std::string> bare(drops_.begin(), drops_.begin() + static_cast<std::ptrdiff_t>(dropped));
    const std::set<std::string> sharing(reuses_.begin(),
                                        reuses_.begin() + static_cast<std::ptrdiff_t>(reused));
    result_ = {base_, {}, {sharing.begin(), sharing.end()}, 0};
    for (place::Buffer& b : result_.problem.buffers)
      if (!sharing.contains(b.name)) b.live.clear();
    head_ = round_up(kGuardBytes + (bare.contains(kGuardClaim) ? 0 : kGuardBand), align_);
    place::Problem wide = result_.problem;
    for (place::Buffer& b : wide.buffers)
      if (!bare.contains(b.name)) b.bytes += kGuardBand;
    wide.target.shared_bytes =
        std::max<std::int64_t>(0, wide.target.shared_bytes - head_ * wide.target.blocks_per_sm);
    Outcome<place::Solution> solved = place::solve(wide, limit_);
    if (!solved) {
      refused_ = solved.diagnostics;
      for (const Diagnostic& d : refused_)
        if (d.severity == Severity::kError && d.clause != "L-SMEM" && d.clause != "L-UNKNOWN")
          failure_ = refused_;
      return false;
    }
    notes_ = std::move(solved.diagnostics);
    result_.solution = std::move(*solved.value);
    for (place::BufferPlacement& b : result_.solution.buffers)
      if (!bare.contains(b.name)) b.bytes -= kGuardBand;
    return true;
  }

  /// Moves everything up by the guard's own room.
  Outcome<GuardedPlacement> finish() {
    place::Solution& s = result_.solution;
    for (place::BufferPlacement& b : s.buffers) b.offset += head_;
    s.buffers.push_back({kGuardClaim, 0, kGuardBytes});
    std::sort(s.buffers.begin(), s.buffers.end(),
              [](const auto& a, const auto& b) { return a.name < b.name; });
    result_.end = s.footprint + head_;
    s.footprint = 0;
    for (const place::BufferPlacement& b : s.buffers) s.footprint = std::max(s.footprint, b.offset + b.bytes);
    s.capacity = place::shared_capacity(base_.target);
    for (place::Objective& o : s.objectives)
      if (o.name == "footprint") {
        o.value += head_;
        o.bound += head_;
      }
    place::Buffer own;
    own.name = kGuardClaim;
    own.owner = "kernel";
    own.bytes = kGuardBytes;
    result_.problem.buffers.push_back(std::move(own));
    return {std::move(result_), std::move(notes_)};
  }

  Diagnostics refusal() {
    for (Diagnostic& d : refused_)
      if (d.clause == "L-SMEM")
        d.help = fmt::format("{}{}the guard itself takes {} bytes: link without it, or with less", d.help,
                             d.help.empty() ? "" : "; ", head_);
    return refused_;
  }

  place::Problem base_;
  std::uint64_t limit_;
  std::int64_t align_ = 16, head_ = 0;
  std::vector<std::string> drops_, reuses_;
  GuardedPlacement result_;
  Diagnostics refused_, failure_, notes_;
};

}  // namespace

Outcome<GuardedPlacement> place_guarded(const place::Problem& problem, std::uint64_t limit) {
  return Guarded(problem, limit).run();
}

std::vector<GuardBand> guard_bands(const place::Solution& solution, std::int64_t end) {
  std::vector<std::pair<std::int64_t, std::int64_t>> covered;
  for (const place::BufferPlacement& b : solution.buffers) covered.emplace_back(b.offset, b.offset + b.bytes);
  std::sort(covered.begin(), covered.end());
  covered.emplace_back(end, end);
  std::vector<GuardBand> out;
  std::int64_t at = 0;
  for (const auto& [begin, stop] : covered) {
    if (begin > at) out.push_back({at, begin});
    at = std::max(at, stop);
  }
  return out;
}

std::vector<GuardedClaim> guarded_claims(const place::Solution& solution,
                                         const std::vector<GuardBand>& bands) {
  std::vector<GuardedClaim> out;
  for (const place::BufferPlacement& b : solution.buffers) {
    if (b.name == kGuardClaim) continue;
    GuardedClaim& claim = out.emplace_back(GuardedClaim{b.name, 0, 0});
    for (const GuardBand& band : bands) {
      if (band.end == b.offset) claim.before = band.end - band.begin;
      if (band.begin == b.offset + b.bytes) claim.after = band.end - band.begin;
    }
  }
  return out;
}

std::vector<NotGuarded> not_guarded(const GuardedPlacement& placed, const std::vector<GuardBand>& bands) {
  std::map<std::string, std::string> owners;
  for (const place::Buffer& b : placed.problem.buffers) owners[b.name] = b.owner;
  std::vector<NotGuarded> out;
  for (const GuardedClaim& claim : guarded_claims(placed.solution, bands)) {
    const std::string& owner = owners[claim.name];
    if (std::binary_search(placed.reusing.begin(), placed.reusing.end(), claim.name)) {
      out.push_back(
          {owner, claim.name, "it may share bytes with other claims, for else not all of them fit"});
    } else if (claim.before == 0 || claim.after == 0) {
      const char* sides = claim.after != 0 ? "before" : claim.before != 0 ? "after" : "around";
      out.push_back(
          {owner, fmt::format("the bytes {} {}", sides, claim.name), "there is no room for a band"});
    }
  }
  for (const place::TensorColumns& t : placed.problem.tensor_columns)
    out.push_back({t.owner, t.name, "there are no bands in tensor memory"});
  return out;
}

}  // namespace pipelink
