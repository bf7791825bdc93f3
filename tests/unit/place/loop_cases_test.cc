// Persistent roles as programs of waits, uses and arrivals: what may share, worked out from the programs
// themselves by writing out iterations, against the relation that comes of the phases' orders. The k-th wait
// for an event pairs with the k-th arrival; with c credits, the first c waits pass.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "linker/place/canonical.h"
#include "linker/place/relation.h"
#include "linker/place/solve.h"
#include "linker/place/verify.h"
#include "random_problem.h"

using namespace pipelink::place;
using namespace pipelink::place::test;

namespace {

struct Step {
  char kind;  ///< 'w' wait, 'a' arrive, 'u' use
  std::string name;
};
using Program = std::vector<Step>;

struct Case {
  std::string title;
  std::vector<Program> roles;
  std::map<std::string, int> credits;  ///< 0 where not stated; at most 1
  std::vector<std::string> sharing;    ///< pairs "ab" that may share; no others
  std::int64_t footprint = 0;          ///< of claims of 1,024 bytes
};

Step w(std::string n) {
  return {'w', std::move(n)};
}
Step a(std::string n) {
  return {'a', std::move(n)};
}
Step u(std::string n) {
  return {'u', std::move(n)};
}

// The phases: one for each use. Orders by program and, from arrival to wait, by event.
Problem problem_of(const Case& c) {
  Problem p;
  p.name = "loop";
  p.loop = true;
  struct Use {
    std::string phase;
    int role, at;
  };
  std::vector<Use> uses;
  std::map<std::string, std::vector<std::string>> live;
  for (std::size_t r = 0; r < c.roles.size(); ++r)
    for (std::size_t k = 0; k < c.roles[r].size(); ++k)
      if (c.roles[r][k].kind == 'u') {
        const std::string phase = "r" + std::to_string(r) + "_" + std::to_string(k);
        uses.push_back({phase, static_cast<int>(r), static_cast<int>(k)});
        live[c.roles[r][k].name].push_back(phase);
      }
  for (const Use& to : uses) {
    Phase phase{to.phase, {}, {}};
    for (const Use& from : uses)
      if (from.role == to.role) (from.at < to.at ? phase.after : phase.after_previous).push_back(from.phase);
    // Every use before an arrival comes before what follows its wait: in this iteration, or in the next if
    // the wait comes after this use.
    for (int k = 0; k < static_cast<int>(c.roles[to.role].size()); ++k) {
      const Step& wait = c.roles[to.role][k];
      if (wait.kind != 'w') continue;
      const int later = (c.credits.count(wait.name) ? c.credits.at(wait.name) : 0) + (k > to.at ? 1 : 0);
      if (later > 1) continue;  // no such order can be stated; it follows from others, or is lost
      for (const Use& from : uses)
        for (std::size_t m = from.at; m < c.roles[from.role].size(); ++m)
          if (c.roles[from.role][m].kind == 'a' && c.roles[from.role][m].name == wait.name)
            (later ? phase.after_previous : phase.after).push_back(from.phase);
    }
    p.phases.push_back(phase);
  }
  for (const auto& [name, phases] : live) {
    Buffer b;
    b.name = name;
    b.bytes = 1024;
    b.live = phases;
    p.buffers.push_back(b);
  }
  return p;
}

// The same from the programs alone: every step of every iteration is a node.
bool may_share(const Case& c, const std::string& x, const std::string& y) {
  constexpr int kIterations = 5;
  struct Node {
    int role, iteration, at;
  };
  std::vector<Node> nodes;
  std::map<std::tuple<int, int, int>, int> number;
  for (std::size_t r = 0; r < c.roles.size(); ++r)
    for (int i = 0; i < kIterations; ++i)
      for (std::size_t k = 0; k < c.roles[r].size(); ++k) {
        number[{static_cast<int>(r), i, static_cast<int>(k)}] = static_cast<int>(nodes.size());
        nodes.push_back({static_cast<int>(r), i, static_cast<int>(k)});
      }
  const int n = static_cast<int>(nodes.size());
  std::vector<std::vector<char>> before(n, std::vector<char>(n));
  for (int f = 0; f < n; ++f)
    for (int t = 0; t < n; ++t) {
      const Node &from = nodes[f], &to = nodes[t];
      const Step &s = c.roles[from.role][from.at], &e = c.roles[to.role][to.at];
      if (from.role == to.role && std::pair(from.iteration, from.at) < std::pair(to.iteration, to.at))
        before[f][t] = 1;
      const int credit = e.kind == 'w' && c.credits.count(e.name) ? c.credits.at(e.name) : 0;
      if (s.kind == 'a' && e.kind == 'w' && s.name == e.name && from.iteration + credit == to.iteration)
        before[f][t] = 1;
    }
  for (int k = 0; k < n; ++k)
    for (int i = 0; i < n; ++i)
      if (before[i][k])
        for (int j = 0; j < n; ++j) before[i][j] |= before[k][j];
  const auto all = [&](const std::string& p, int i, const std::string& q, int j) {
    for (int f = 0; f < n; ++f)
      for (int t = 0; t < n; ++t) {
        const Step &s = c.roles[nodes[f].role][nodes[f].at], &e = c.roles[nodes[t].role][nodes[t].at];
        if (s.kind == 'u' && s.name == p && nodes[f].iteration == i && e.kind == 'u' && e.name == q &&
            nodes[t].iteration == j && !before[f][t])
          return false;
      }
    return true;
  };
  for (int i = 0; i < kIterations; ++i)
    for (int j = 0; j < kIterations; ++j)
      if (!all(x, i, y, j) && !all(y, j, x, i)) return false;
  return true;
}

const std::vector<Case>& cases() {
  static const std::vector<Case> all = {
      {"A/B and B/C share, A of one iteration races C of an earlier one",
       {{w("e1"), u("a"), w("e2"), u("b"), a("f")}, {w("f"), u("b"), a("e1"), u("c"), a("e2")}},
       {{"e1", 1}, {"e2", 1}},
       {"ab", "bc"},
       2048},
      {"one role alone: everything shares", {{u("a"), u("b"), u("c")}}, {}, {"ab", "ac", "bc"}, 1024},
      {"two roles that never meet", {{u("a")}, {u("b")}}, {}, {}, 2048},
      {"a hand-over without a way back: the producer runs ahead",
       {{u("a"), a("full")}, {w("full"), u("b")}},
       {},
       {},
       2048},
      {"a hand-over with one credit back: producer and consumer take turns",
       {{w("empty"), u("a"), a("full")}, {w("full"), u("b"), a("empty")}},
       {{"empty", 1}},
       {"ab"},
       1024},
      {"the consumer gives the credit back too early",
       {{w("empty"), u("a"), a("full")}, {w("full"), a("empty"), u("b")}},
       {{"empty", 1}},
       {},
       2048},
      {"the producer goes on with something of its own after the hand-over",
       {{w("empty"), u("a"), a("full"), u("c")}, {w("full"), u("b"), a("empty")}},
       {{"empty", 1}},
       {"ab", "ac"},
       2048},
      {"a pipeline of three, each with a credit back to the one before: neighbours share, the ends do not",
       {{w("e1"), u("a"), a("f1")}, {w("f1"), u("b"), a("e1"), a("f2"), w("e2")}, {w("f2"), u("c"), a("e2")}},
       {{"e1", 1}},
       {"ab", "bc"},
       2048},
      {"the same with one credit from the end to the start: all share",
       {{w("e"), u("a"), a("f1")}, {w("f1"), u("b"), a("f2")}, {w("f2"), u("c"), a("e")}},
       {{"e", 1}},
       {"ab", "ac", "bc"},
       1024},
      {"a fork that joins: the branches conflict, what is before and after them shares with both",
       {{w("j1"), w("j2"), u("a"), a("f1"), a("f2")}, {w("f1"), u("b"), a("j1")}, {w("f2"), u("c"), a("j2")}},
       {{"j1", 1}, {"j2", 1}},
       {"ab", "ac"},
       2048},
      {"of a fork one branch is not waited for",
       {{w("j1"), u("a"), a("f1"), a("f2")}, {w("f1"), u("b"), a("j1")}, {w("f2"), u("c")}},
       {{"j1", 1}},
       {"ab"},
       2048},
      {"a buffer used by both roles shares with what only comes between its uses' ends",
       {{w("empty"), u("a"), u("s"), a("full")}, {w("full"), u("s"), u("b"), a("empty")}},
       {{"empty", 1}},
       {"ab", "as", "bs"},
       1024},
  };
  return all;
}

}  // namespace

TEST_CASE("what the programs of persistent roles let share") {
  for (const Case& c : cases()) {
    CAPTURE(c.title);
    const Problem p = problem_of(c);
    const Lifetimes lifetimes(canonical(p));
    for (const Buffer& x : p.buffers)
      for (const Buffer& y : p.buffers) {
        if (x.name >= y.name) continue;
        CAPTURE(x.name + y.name);
        const bool stated = std::find(c.sharing.begin(), c.sharing.end(), x.name + y.name) != c.sharing.end();
        CHECK(may_share(c, x.name, y.name) == stated);
        CHECK(lifetimes.may_share(lifetimes.phases(x), lifetimes.phases(y)) == stated);
      }
    const auto s = solve(p);
    REQUIRE(s);
    CHECK(s->footprint == c.footprint);
    CHECK(s->optimal);
    CHECK(verify(p, *s).empty());
    // The verifier finds exactly the pairs that may not share when all lie in one place.
    Solution flat = *s;
    for (BufferPlacement& b : flat.buffers) b.offset = 0;
    flat.footprint = 1024;
    const std::size_t n = p.buffers.size();
    CHECK(verify(p, flat).size() == n * (n - 1) / 2 - c.sharing.size());
  }
}
