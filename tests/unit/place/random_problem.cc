#include "tests/unit/place/random_problem.h"

namespace pipelink::place::test {
namespace {

std::vector<std::string> random_live(Random& random, const std::vector<Phase>& phases) {
  std::vector<std::string> live;
  if (random.below(8) == 0) return live;
  const int n = static_cast<int>(phases.size()), first = random.below(n), count = random.between(1, 2);
  for (int i = first; i < n && i < first + count; ++i) live.push_back(phases[i].name);
  return live;
}

}  // namespace

std::vector<Phase> random_phases(Random& random, int count, bool loop) {
  std::vector<Phase> phases(count);
  for (int i = 0; i < count; ++i) {
    phases[i].name = "p" + std::to_string(i);
    for (int j = 0; j < i; ++j)
      if (j == i - 1 ? random.below(5) : random.below(4) == 0) phases[i].after.push_back(phases[j].name);
  }
  if (loop)
    for (int i = 0; i < count; ++i)
      for (int j = 0; j < count; ++j)
        if (random.below(j > i ? 3 : 4) == 0) phases[i].after_previous.push_back("p" + std::to_string(j));
  return phases;
}

Problem random_problem(Random& random, int buffers, bool loop) {
  Problem p;
  p.name = "random";
  p.loop = loop;
  p.phases = random_phases(random, random.between(1, 5), loop);
  p.target.shared_bytes = random.between(8, 40) * 8;
  p.target.named_barriers = random.between(1, 4);
  const int rings = random.below(3);
  for (int r = 0; r < rings; ++r) {
    Ring ring;
    ring.name = "r" + std::to_string(r);
    ring.min_depth = random.between(1, 2);
    ring.max_depth = ring.min_depth + random.below(3);
    ring.tier = random.below(2);
    ring.weight = random.between(1, 2);
    p.rings.push_back(ring);
  }
  for (int i = 0; i < buffers; ++i) {
    Buffer b;
    b.name = "b" + std::to_string(i);
    b.owner = "o" + std::to_string(i % 2);
    b.live = random_live(random, p.phases);
    b.align = 8 << random.below(4);
    if (rings && random.below(3) == 0) {
      b.ring = "r" + std::to_string(random.below(rings));
      b.stage_bytes = 8 * random.between(1, 6);
      b.bytes = 8 * random.below(2);
    } else {
      b.bytes = 8 * random.between(1, 14);
    }
    p.buffers.push_back(b);
  }
  for (int i = random.below(6); i > 0; --i) {
    NamedBarrier b;
    b.name = "n" + std::to_string(i);
    b.live = random_live(random, p.phases);
    p.barriers.push_back(b);
  }
  return p;
}

Problem shuffled(const Problem& problem, Random& random) {
  Problem p = problem;
  random.shuffle(p.phases);
  for (Phase& phase : p.phases) {
    random.shuffle(phase.after);
    random.shuffle(phase.after_previous);
  }
  random.shuffle(p.rings);
  random.shuffle(p.buffers);
  for (Buffer& b : p.buffers) random.shuffle(b.live);
  random.shuffle(p.barriers);
  for (NamedBarrier& b : p.barriers) random.shuffle(b.live);
  random.shuffle(p.tensor_columns);
  random.shuffle(p.roles);
  return p;
}

}  // namespace pipelink::place::test
