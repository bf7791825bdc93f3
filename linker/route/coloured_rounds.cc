// Any demand, warp by warp: the words are the edges of a bipartite multigraph from the lanes that hold them
// to the lanes that demand them, a round is a colour.
#include <algorithm>
#include <array>
#include <map>
#include <tuple>

#include "linker/route/rounds.h"
#include "linker/route/tile_map.h"

namespace pipelink::transfer {
namespace {

constexpr int kLanes = 32;

/// A word that a lane gets from another: for one or several of its columns.
struct Edge {
  int from = 0, to = 0;  ///< lanes
  std::int32_t item = 0;
  int column = 0;  ///< the first
  int round = -1;
  bool operator<(const Edge& other) const {
    return std::tie(to, from, item, column) < std::tie(other.to, other.from, other.item, other.column);
  }
  bool same_word(const Edge& other) const {
    return to == other.to && from == other.from && item == other.item;
  }
};

/// One warp's edges, in the order of columns.
std::vector<Edge> edges_of(const Demand& demand, int warp) {
  std::vector<Edge> edges;
  for (std::size_t c = 0; c < demand.columns.size(); ++c)
    for (int lane = 0; lane < kLanes; ++lane) {
      const Wanted& w = demand.columns[c][flat(warp, kLanes, lane)];
      if (w.thread < 0 || w.thread == warp * kLanes + lane) continue;
      edges.push_back({w.thread - warp * kLanes, lane, w.item, static_cast<int>(c), -1});
    }
  std::sort(edges.begin(), edges.end());
  edges.erase(
      std::unique(edges.begin(), edges.end(), [](const Edge& a, const Edge& b) { return a.same_word(b); }),
      edges.end());
  std::sort(edges.begin(), edges.end(),
            [](const Edge& a, const Edge& b) { return std::tie(a.column, a.to) < std::tie(b.column, b.to); });
  return edges;
}

/// Lanes read from those at one distance, distance by distance; the number of rounds.
template <typename Distance>
int by_distance(std::vector<std::vector<Edge>>& warps, Distance distance) {
  int rounds = 0;
  for (int d = 0; d < kLanes; ++d) {
    int most = 0;
    for (std::vector<Edge>& edges : warps) {
      std::array<int, kLanes> count{};
      for (Edge& edge : edges)
        if (distance(edge) == d) {
          edge.round = rounds + count[static_cast<std::size_t>(edge.to)]++;
          most = std::max(most, count[static_cast<std::size_t>(edge.to)]);
        }
    }
    rounds += most;
  }
  return rounds;
}

/// Edge colouring with as many colours as the largest degree: an edge that finds no colour free at both ends
/// gets one by swapping the two colours along the path that they form.
int by_colouring(std::vector<Edge>& edges) {
  std::array<int, kLanes> out{}, in{};
  int colours = 0;
  for (const Edge& edge : edges) {
    colours = std::max(colours, ++out[static_cast<std::size_t>(edge.from)]);
    colours = std::max(colours, ++in[static_cast<std::size_t>(edge.to)]);
  }
  const auto width = static_cast<std::size_t>(colours);
  // at[side][lane * colours + colour] is the edge with that colour there, or -1.
  std::array<std::vector<int>, 2> at;
  for (auto& side : at) side.assign(kLanes * width, -1);
  const auto place = [&](int side, int lane, int colour) -> int& {
    return at[static_cast<std::size_t>(side)]
             [static_cast<std::size_t>(lane) * width + static_cast<std::size_t>(colour)];
  };
  const auto free = [&](int side, int lane) {
    int colour = 0;
    while (place(side, lane, colour) >= 0) ++colour;
    return colour;
  };
  for (std::size_t i = 0; i < edges.size(); ++i) {
    Edge& edge = edges[i];
    const int a = free(0, edge.from), b = free(1, edge.to);
    if (a != b && place(1, edge.to, a) >= 0) {
      // The path from edge.to by colours a, b, a, …; it cannot end at edge.from, where a is free.
      std::vector<int> path;
      int side = 1, lane = edge.to, colour = a;
      for (int next = place(side, lane, colour); next >= 0; next = place(side, lane, colour)) {
        path.push_back(next);
        const Edge& e = edges[static_cast<std::size_t>(next)];
        side = 1 - side;
        lane = side == 0 ? e.from : e.to;
        colour = colour == a ? b : a;
      }
      for (const int p : path) {
        const Edge& e = edges[static_cast<std::size_t>(p)];
        place(0, e.from, e.round) = place(1, e.to, e.round) = -1;
      }
      for (const int p : path) {
        Edge& e = edges[static_cast<std::size_t>(p)];
        e.round = e.round == a ? b : a;
        place(0, e.from, e.round) = place(1, e.to, e.round) = p;
      }
    }
    edge.round = a;
    place(0, edge.from, a) = place(1, edge.to, a) = static_cast<int>(i);
  }
  return colours;
}

/// Rounds one by one. Lanes that still lack most choose first: a word that is published already, else the
/// word that most others lack of a lane that has not published.
int by_greed(std::vector<Edge>& edges) {
  std::map<std::pair<int, std::int32_t>, std::size_t> words;
  std::vector<int> lacked_by;                    // word → lanes that lack it
  std::vector<std::size_t> word_of;              // edge → word
  std::array<std::vector<int>, kLanes> lacking;  // lane → its edges that have no round yet
  for (std::size_t i = 0; i < edges.size(); ++i) {
    const Edge& edge = edges[i];
    const auto [at, fresh] = words.try_emplace({edge.from, edge.item}, words.size());
    if (fresh) lacked_by.push_back(0);
    word_of.push_back(at->second);
    ++lacked_by[at->second];
    lacking[static_cast<std::size_t>(edge.to)].push_back(static_cast<int>(i));
  }
  std::size_t done = 0;
  int round = 0;
  for (; done < edges.size(); ++round) {
    std::array<std::size_t, kLanes> order{};
    for (std::size_t i = 0; i < kLanes; ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return lacking[a].size() > lacking[b].size(); });
    std::array<std::int32_t, kLanes> published;
    published.fill(-1);
    for (const std::size_t to : order) {
      std::vector<int>& own = lacking[to];
      std::size_t best = own.size();
      std::pair<bool, int> rank{};
      for (std::size_t i = 0; i < own.size(); ++i) {
        const auto index = static_cast<std::size_t>(own[i]);
        const std::int32_t out = published[static_cast<std::size_t>(edges[index].from)];
        if (out >= 0 && out != edges[index].item) continue;
        const std::pair<bool, int> candidate{out >= 0, lacked_by[word_of[index]]};
        if (best < own.size() && candidate <= rank) continue;
        best = i;
        rank = candidate;
      }
      if (best == own.size()) continue;
      const auto index = static_cast<std::size_t>(own[best]);
      edges[index].round = round;
      published[static_cast<std::size_t>(edges[index].from)] = edges[index].item;
      --lacked_by[word_of[index]];
      own.erase(own.begin() + static_cast<std::ptrdiff_t>(best));
      ++done;
    }
  }
  return round;
}

bool several_demand_one(const std::vector<Edge>& edges) {
  std::vector<std::pair<int, std::int32_t>> words;
  words.reserve(edges.size());
  for (const Edge& edge : edges) words.emplace_back(edge.from, edge.item);
  std::sort(words.begin(), words.end());
  return std::adjacent_find(words.begin(), words.end()) != words.end();
}

}  // namespace

Schedule coloured_schedule(const Demand& demand) {
  std::vector<std::vector<Edge>> warps;
  for (int warp = 0; warp < demand.threads / kLanes; ++warp) warps.push_back(edges_of(demand, warp));

  struct Candidate {
    int rounds = 0;
    std::string method;
    std::vector<std::vector<Edge>> warps;
  };
  std::vector<Candidate> candidates(3, {0, {}, warps});
  candidates[0].rounds =
      by_distance(candidates[0].warps, [](const Edge& e) { return (e.from ^ e.to) % kLanes; });
  candidates[0].method = "exchanges by XOR";
  candidates[1].rounds =
      by_distance(candidates[1].warps, [](const Edge& e) { return (e.from - e.to + kLanes) % kLanes; });
  candidates[1].method = "rotations";
  for (std::vector<Edge>& edges : candidates[2].warps) {
    const bool shared = several_demand_one(edges);
    const int rounds = shared ? by_greed(edges) : by_colouring(edges);
    candidates[2].rounds = std::max(candidates[2].rounds, rounds);
    if (shared) candidates[2].method = "greedy rounds";
  }
  if (candidates[2].method.empty()) candidates[2].method = "edge colouring";
  const Candidate& best =
      *std::min_element(candidates.begin(), candidates.end(),
                        [](const Candidate& a, const Candidate& b) { return a.rounds < b.rounds; });

  const auto threads = static_cast<std::size_t>(demand.threads);
  Schedule schedule;
  schedule.method = best.method;
  schedule.arrival.assign(demand.columns.size(), std::vector<std::int32_t>(threads, -1));
  schedule.rounds.resize(static_cast<std::size_t>(best.rounds));
  for (Round& round : schedule.rounds) {
    round.lane.assign(threads, -1);
    round.publish.assign(threads, -1);
  }
  for (std::size_t warp = 0; warp < best.warps.size(); ++warp) {
    std::vector<Edge> edges = best.warps[warp];
    std::sort(edges.begin(), edges.end());
    for (const Edge& edge : edges) {
      Round& round = schedule.rounds[static_cast<std::size_t>(edge.round)];
      const auto from = warp * kLanes + static_cast<std::size_t>(edge.from);
      const auto to = warp * kLanes + static_cast<std::size_t>(edge.to);
      round.lane[to] = static_cast<std::int32_t>(from);
      round.publish[from] = edge.item;
    }
    for (std::size_t c = 0; c < demand.columns.size(); ++c)
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const std::size_t thread = warp * kLanes + lane;
        const Wanted& w = demand.columns[c][thread];
        if (w.thread < 0 || w.thread == static_cast<std::int32_t>(thread)) continue;
        const Edge wanted{w.thread - static_cast<int>(warp) * kLanes, static_cast<int>(lane), w.item, -1, -1};
        schedule.arrival[c][thread] = std::lower_bound(edges.begin(), edges.end(), wanted)->round;
      }
  }
  return schedule;
}

}  // namespace pipelink::transfer
