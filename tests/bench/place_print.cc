// Everything that the solver says of instances and of random problems, in the order of shuffled inputs: what
// must be the same in every process and at every level of optimisation. `place_print SEED FILE.pl…`
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "linker/place/instance_format.h"
#include "linker/place/json.h"
#include "linker/place/solve.h"
#include "tests/unit/place/random_problem.h"

namespace {

using namespace pipelink;
using namespace pipelink::place;

void print(const Problem& given, test::Random& random) {
  const Problem p = test::shuffled(given, random);
  const auto solution = solve(p);
  if (solution) {
    Problem sorted = given;
    std::printf("%s", to_json(sorted, *solution).c_str());
  }
  for (const Diagnostic& d : solution.diagnostics) {
    std::printf("%s: %s (%s)\n", d.clause.c_str(), d.reason.c_str(), d.help.c_str());
    for (const LabelledFact& fact : d.facts) std::printf("  %s: %s\n", fact.owner.c_str(), fact.text.c_str());
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) return 2;
  test::Random shuffle(std::strtoull(argv[1], nullptr, 10));
  for (int i = 2; i < argc; ++i) {
    std::ifstream in(argv[i]);
    std::stringstream text;
    text << in.rdbuf();
    const Outcome<Problem> problem = parse_instance(text.str(), "instance.pl");
    if (!in || !problem) return 2;
    print(*problem, shuffle);
  }
  for (int seed = 1; seed <= 300; ++seed) {
    test::Random random(static_cast<std::uint64_t>(seed));
    print(test::random_problem(random, random.between(1, 10), random.below(2) == 1), shuffle);
  }
  return 0;
}
