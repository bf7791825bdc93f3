#include "linker/place/gluing.h"

#include <algorithm>

#include "linker/place/clique.h"
#include "linker/place/filling.h"

namespace pipelink::place {
namespace {

constexpr std::uint64_t kFillingUnits = 500'000;  // for the holes of one alignment
constexpr std::uint64_t kGlanceUnits = 2'000;     // for a heavy clique
constexpr std::int64_t kTight = 1024;             // room below this part of the footprint is as good as none

Allowance filling_part(Allowance& allowance) {
  return Allowance(allowance.meter(), std::min(kFillingUnits, allowance.left()));
}

// Part of a clique, while it is joined.
struct Piece {
  Block block;
  Bits conflict;      // of any of its items
  bool open = false;  // ends unaligned, so that nothing may follow
  bool gone = false;  // has become part of another one
};

// What items outside the clique suffer that may share with the head but not with the filler: where the filler
// lies, they cannot use the head's bytes and those behind it as one stretch.
struct Outside {
  const std::vector<int>& items;
  const std::vector<std::int64_t>& weight;

  std::int64_t harm(const Piece& head, const Piece& filler) const {
    std::int64_t sum = 0;
    for (std::size_t k = 0; k < items.size(); ++k)
      if (filler.conflict.test(items[k]) && !head.conflict.test(items[k])) sum += weight[k];
    return sum;
  }
};

void append(Piece& head, const Piece& filler) {
  const std::int64_t start = align_up(head.block.size, filler.block.align);
  for (auto [item, distance] : filler.block.parts) head.block.parts.emplace_back(item, start + distance);
  head.block.size = start + filler.block.size;
  head.conflict |= filler.conflict;
}

// Returns whether there was a hole.
bool fill_holes(const Outside& outside, std::int64_t level, std::uint64_t seed, std::int64_t waste,
                std::vector<Piece>& pieces, Allowance allowance) {
  std::vector<std::size_t> heads, fillers;
  std::vector<std::int64_t> head_sizes, filler_sizes;
  for (std::size_t p = 0; p < pieces.size(); ++p) {
    if (pieces[p].block.align >= level) {
      heads.push_back(p);
      head_sizes.push_back(pieces[p].block.size);
    } else if (!pieces[p].open) {
      fillers.push_back(p);
      filler_sizes.push_back(pieces[p].block.size);
    }
  }
  Taste taste;
  taste.seed = seed;
  taste.waste = waste;
  for (std::size_t h : heads) {
    taste.harm.emplace_back();
    for (std::size_t f : fillers) taste.harm.back().push_back(outside.harm(pieces[h], pieces[f]));
  }
  allowance.meter().steps(heads.size() * fillers.size() * outside.items.size());
  const Filling filling = least_waste(head_sizes, filler_sizes, level, allowance, taste);
  if (!filling.found) return true;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    std::vector<std::size_t> behind;
    for (int f : filling.behind[h]) behind.push_back(fillers[f]);
    std::stable_sort(behind.begin(), behind.end(), [&](std::size_t a, std::size_t b) {
      return pieces[a].block.align > pieces[b].block.align;
    });
    Piece& head = pieces[heads[h]];
    for (std::size_t f : behind) {
      append(head, pieces[f]);
      pieces[f].gone = true;
    }
    if (static_cast<int>(h) == filling.open)
      head.open = head.block.size % level != 0;
    else
      head.block.size = align_up(head.block.size, level);
  }
  std::erase_if(pieces, [](const Piece& piece) { return piece.gone; });
  return filling.open >= 0;
}

}  // namespace

// An item is hurt more if it is large, and if there is little room when it is live.
Gluer::Gluer(const Items& items, const std::vector<int>& clique, Allowance allowance)
    : items_(items), clique_(clique) {
  for (int i : clique) {
    bound_ += items.size[i];
    if (items.align[i] > 1) levels_.emplace(items.align[i], Level());
  }
  const std::int64_t weight_of_all = bound_;
  for (auto& [level, known] : levels_) {
    std::vector<std::int64_t> heads, fillers;
    for (int i : clique) (items.align[i] >= level ? heads : fillers).push_back(items.size[i]);
    const Filling filling = least_waste(heads, fillers, level, filling_part(allowance));
    known = {filling.waste, filling.found};
    bound_ = std::max(bound_, weight_of_all + filling.waste);
  }
  const std::size_t groups = items.between_groups.size();
  std::vector<std::int64_t> load(groups), fullest(groups);
  for (std::size_t i = 0; i < items.count(); ++i) load[items.group[i]] += items.size[i];
  for (std::size_t i = 0; i < items.count(); ++i) {
    if (std::binary_search(clique.begin(), clique.end(), static_cast<int>(i))) continue;
    const std::size_t g = static_cast<std::size_t>(items.group[i]);
    if (fullest[g] == 0) {  // the heaviest clique with this group
      std::vector<std::int64_t> weight(groups);
      items.between_groups[g].for_each([&](std::size_t other) { weight[other] = load[other]; });
      fullest[g] =
          load[g] + heaviest_clique(items.between_groups, weight,
                                    Allowance(allowance.meter(), std::min(kGlanceUnits, allowance.left())))
                        .weight;
    }
    const std::int64_t room = std::max<std::int64_t>(0, bound_ - fullest[g]);
    outside_.push_back(static_cast<int>(i));
    hurt_by_.push_back(items.size[i] * kTight / (room + bound_ / kTight + 1));
  }
}

std::vector<Block> Gluer::glue(std::uint64_t seed, Allowance allowance) const {
  const std::vector<Block> single = single_blocks(items_);
  std::vector<Piece> pieces;
  for (int i : clique_) pieces.push_back({single[i], items_.conflict[i]});
  bool whole = true;  // nothing was joined yet, so what is known of the clique's waste holds
  for (const auto& [level, known] : levels_) {
    if (whole && !known.found) continue;  // nor would it be found again
    const std::int64_t least = whole ? known.waste : 0;
    if (fill_holes({outside_, hurt_by_}, level, seed, least, pieces, filling_part(allowance))) whole = false;
  }
  std::vector<Block> blocks;
  for (Piece& piece : pieces) blocks.push_back(std::move(piece.block));
  for (int i : outside_) blocks.push_back(single[i]);
  return blocks;
}

}  // namespace pipelink::place
