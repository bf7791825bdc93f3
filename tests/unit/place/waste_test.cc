// What alignment wastes in a clique, against all orders; and the trees behind placements without waste,
// against all permutations.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "linker/place/block_line.h"
#include "linker/place/filling.h"
#include "linker/place/gluing.h"
#include "linker/place/pq_tree.h"
#include "random_problem.h"

using namespace pipelink::place;
using namespace pipelink::place::test;

namespace {

Items clique_of(Random& random, int count) {
  Items items;
  for (int i = 0; i < count; ++i) {
    items.align.push_back(std::int64_t{1} << (2 * random.below(3)));
    items.size.push_back(random.between(1, 40));
    items.group.push_back(0);
    Bits others(static_cast<std::size_t>(count));
    for (int j = 0; j < count; ++j)
      if (j != i) others.set(static_cast<std::size_t>(j));
    items.conflict.push_back(others);
  }
  items.between_groups.assign(1, Bits(1));
  items.order.assign(1, Bits(1));
  return items;
}

std::int64_t least_footprint(const Items& items) {
  std::vector<std::size_t> order(items.count());
  std::iota(order.begin(), order.end(), 0);
  std::int64_t least = INT64_MAX;
  do {
    std::int64_t end = 0;
    for (std::size_t i : order) end = align_up(end, items.align[i]) + items.size[i];
    least = std::min(least, end);
  } while (std::next_permutation(order.begin(), order.end()));
  return least;
}

}  // namespace

TEST_CASE("the bound of a clique never exceeds its least footprint, and mostly is it") {
  Random random(7);
  int exact = 0, better = 0;
  for (int round = 0; round < 1'000; ++round) {
    const Items items = clique_of(random, random.between(2, 6));
    std::vector<int> members(items.count());
    std::iota(members.begin(), members.end(), 0);
    Meter meter(1'000'000);
    const std::int64_t bound = Gluer(items, members, Allowance(meter, 1'000'000)).bound();
    const std::int64_t least = least_footprint(items);
    const std::int64_t sum = std::accumulate(items.size.begin(), items.size.end(), std::int64_t{0});
    REQUIRE(bound <= least);
    exact += bound == least;
    better += bound > sum;
  }
  CHECK(exact > 700);
  CHECK(better > 300);
}

namespace {

// A clique of `count` items, and others that conflict with some of them.
Items with_others(Random& random, int count, int others) {
  Items items = clique_of(random, count);
  const std::size_t n = static_cast<std::size_t>(count + others);
  std::vector<Bits> conflict(n, Bits(n));
  for (std::size_t i = 0; i < n; ++i) {
    if (static_cast<int>(i) >= count) {
      items.align.push_back(std::int64_t{1} << (2 * random.below(3)));
      items.size.push_back(random.between(1, 40));
    }
    for (std::size_t j = 0; j < i; ++j)
      if (static_cast<int>(i) < count || random.below(2)) {
        conflict[i].set(j);
        conflict[j].set(i);
      }
  }
  items.conflict = conflict;
  items.between_groups = conflict;
  items.order.clear();
  items.group.resize(n);
  std::iota(items.group.begin(), items.group.end(), 0);
  return items;
}

}  // namespace

TEST_CASE("with a taste, a filling wastes as little and harms less") {
  Random random(11);
  std::int64_t plain = 0, tasted = 0;
  for (int round = 0; round < 300; ++round) {
    std::vector<std::int64_t> heads, fillers;
    for (int k = random.between(3, 6); k > 0; --k) heads.push_back(random.between(1, 60));
    for (int k = random.between(2, 8); k > 0; --k) fillers.push_back(random.between(1, 20));
    Taste taste;
    taste.seed = static_cast<std::uint64_t>(round) + 1;
    for (std::size_t h = 0; h < heads.size(); ++h) {
      taste.harm.emplace_back();
      for (std::size_t f = 0; f < fillers.size(); ++f) taste.harm[h].push_back(random.below(100));
    }
    Meter meter(10'000'000);
    const Filling without = least_waste(heads, fillers, 16, Allowance(meter, 1'000'000));
    const Filling with = least_waste(heads, fillers, 16, Allowance(meter, 1'000'000), taste);
    REQUIRE(without.found);
    REQUIRE(with.found);
    CHECK(with.waste == without.waste);
    for (const Filling* filling : {&without, &with}) {
      std::int64_t waste = 0;
      std::set<int> used;
      for (std::size_t h = 0; h < heads.size(); ++h) {
        std::int64_t end = heads[h];
        for (int f : filling->behind[h]) {
          CHECK(used.insert(f).second);
          end += fillers[f];
          (filling == &with ? tasted : plain) += taste.harm[h][f];
        }
        if (static_cast<int>(h) != filling->open) waste += align_up(end, 16) - end;
      }
      CHECK(waste <= filling->waste);
    }
  }
  CHECK(tasted < plain * 9 / 10);
}

TEST_CASE("after a change, blocks lie as if all of them were placed anew") {
  Random random(12);
  int kept = 0, undone = 0;
  for (int round = 0; round < 100; ++round) {
    const Items items = with_others(random, random.between(3, 8), random.between(3, 12));
    std::vector<int> clique;
    for (int i = 0; items.conflict[i].test(static_cast<std::size_t>(i == 0)); ++i) {
      if (!std::all_of(clique.begin(), clique.end(), [&](int j) { return items.conflict[i].test(j); })) break;
      clique.push_back(i);
    }
    Meter meter(100'000'000);
    const std::vector<Block> blocks =
        Gluer(items, clique, Allowance(meter, 1'000'000)).glue(1, Allowance(meter, 1'000'000));
    std::vector<int> order(blocks.size());
    std::iota(order.begin(), order.end(), 0);
    const std::int64_t target = 60;
    BlockLine line(items, blocks, order, target, meter);
    const int n = static_cast<int>(blocks.size());
    for (int step = 0; step < 60 && n > 1; ++step) {
      const int from = random.below(n), to = random.below(n);
      if (from == to) continue;
      const bool swap = random.below(2);
      std::vector<int> next = order;
      if (swap) {
        std::swap(next[from], next[to]);
      } else {
        next.erase(next.begin() + from);
        next.insert(next.begin() + to, order[from]);
      }
      const BlockLine anew(items, blocks, next, target, meter);
      const std::int64_t limit = line.excess() + random.below(20);
      const bool changed =
          line.change(static_cast<std::size_t>(from), static_cast<std::size_t>(to), swap, limit);
      REQUIRE(changed == (anew.excess() <= limit));
      if (changed) order = next;
      const BlockLine now(items, blocks, order, target, meter);
      REQUIRE(line.offsets() == now.offsets());
      REQUIRE(line.excess() == now.excess());
      for (std::size_t i = 0; i < items.count(); ++i)
        for (std::size_t j = 0; j < i; ++j)
          if (items.conflict[i].test(j))
            REQUIRE((now.offsets()[i] + items.size[i] <= now.offsets()[j] ||
                     now.offsets()[j] + items.size[j] <= now.offsets()[i]));
      ++(changed ? kept : undone);
    }
  }
  CHECK(kept > 500);
  CHECK(undone > 500);
}

TEST_CASE("glued blocks keep every item once, aligned and apart") {
  Random random(8);
  for (int round = 0; round < 300; ++round) {
    const Items items = clique_of(random, random.between(2, 12));
    std::vector<int> members(items.count());
    std::iota(members.begin(), members.end(), 0);
    Meter meter(1'000'000);
    std::set<int> seen;
    for (const Block& block :
         Gluer(items, members, Allowance(meter, 1'000'000)).glue(1, Allowance(meter, 1'000'000))) {
      std::int64_t end = 0;
      CHECK(block.parts.front().second == 0);
      for (auto [item, distance] : block.parts) {
        CHECK(seen.insert(item).second);
        CHECK(distance % items.align[item] == 0);
        CHECK(items.align[item] <= block.align);
        CHECK(distance >= end);
        end = distance + items.size[item];
      }
      CHECK(block.size >= end);
    }
    CHECK(seen.size() == items.count());
  }
}

TEST_CASE("a PQ-tree has exactly the orders that are possible") {
  Random random(9);
  int impossible = 0, possible = 0;
  for (int round = 0; round < 60; ++round) {
    constexpr int kElements = 7;
    std::vector<int> first(kElements);
    std::iota(first.begin(), first.end(), 0);
    std::set<std::vector<int>> orders;
    std::vector<PqTree> leaves;
    for (int i : first) leaves.push_back(pq_leaf(i, static_cast<std::uint64_t>(i)));
    PqTree tree = pq_any(leaves);
    do orders.insert(first);
    while (std::next_permutation(first.begin(), first.end()));
    std::vector<int> live = first;
    std::sort(live.begin(), live.end());
    int next = kElements;
    for (int step = 0; step < 6; ++step) {
      // Some of the live elements become contiguous and are replaced by as many new ones.
      std::vector<bool> marked(64);
      std::vector<int> rest, block;
      const auto certain = static_cast<std::size_t>(random.below(static_cast<int>(live.size())));
      for (std::size_t k = 0; k < live.size(); ++k) {
        marked[static_cast<std::size_t>(live[k])] = k == certain || random.below(4) == 0;
        if (!marked[static_cast<std::size_t>(live[k])]) rest.push_back(live[k]);
      }
      for (std::size_t k = rest.size(); k < live.size(); ++k) block.push_back(next++);
      std::set<std::vector<int>> after;
      for (const std::vector<int>& order : orders) {
        const auto is_marked = [&](int i) { return marked[static_cast<std::size_t>(i)]; };
        const auto begin = std::find_if(order.begin(), order.end(), is_marked);
        const auto end = std::find_if_not(begin, order.end(), is_marked);
        if (std::any_of(end, order.end(), is_marked)) continue;
        do {
          std::vector<int> replaced(order.begin(), begin);
          replaced.insert(replaced.end(), block.begin(), block.end());
          replaced.insert(replaced.end(), end, order.end());
          after.insert(std::move(replaced));
        } while (std::next_permutation(block.begin(), block.end()));
      }
      std::vector<PqTree> parts;
      for (int i : block) parts.push_back(pq_leaf(i, static_cast<std::uint64_t>(i)));
      tree = pq_replace(tree, marked, pq_any(parts));
      REQUIRE((tree != nullptr) == !after.empty());
      (tree ? possible : impossible) += 1;
      if (!tree) break;
      const double count = std::exp2(static_cast<double>(tree->freedom) / 1024);
      REQUIRE(count == doctest::Approx(static_cast<double>(after.size())).epsilon(0.02));
      orders = std::move(after);
      live = std::move(rest);
      live.insert(live.end(), block.begin(), block.end());
      std::vector<int> order;
      std::vector<std::int64_t> key(64);
      const std::vector<int>& wanted =
          *std::next(orders.begin(), random.below(static_cast<int>(orders.size())));
      for (std::size_t k = 0; k < wanted.size(); ++k)
        key[static_cast<std::size_t>(wanted[k])] = static_cast<std::int64_t>(k);
      pq_order(tree, key, order);
      REQUIRE(order == wanted);
    }
  }
  CHECK(possible > 200);
  CHECK(impossible > 10);
}
