// Times the placement solver alone: `place_bench [--repeat N] [--limit UNITS] FILE.pl…` prints one JSON line
// for each instance. `ms` is the median wall time of solve(), without reading and verifying. Ends with 1 if a
// placement does not verify, 2 if a file cannot be read.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "linker/place/instance_format.h"
#include "linker/place/json.h"
#include "linker/place/solve.h"
#include "linker/place/verify.h"

namespace {

using namespace pipelink;
using namespace pipelink::place;
using json = nlohmann::ordered_json;

std::string stem(const std::string& path) {
  const std::size_t slash = path.rfind('/') + 1;
  return path.substr(slash, path.rfind('.') - slash);
}

/// 0, 1 or 2, as the whole ends.
int bench(const std::string& path, int repeat, std::uint64_t limit) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  const Outcome<Problem> problem = parse_instance(text.str(), path);
  if (!in || !problem) {
    std::fprintf(stderr, "error: %s cannot be read\n", path.c_str());
    return 2;
  }
  std::vector<double> times;
  Outcome<Solution> solution{Diagnostics{}};
  for (int i = 0; i < repeat; ++i) {
    const auto start = std::chrono::steady_clock::now();
    solution = solve(*problem, limit);
    times.push_back(
        std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count());
  }
  std::sort(times.begin(), times.end());
  json row = {{"instance", problem->name.empty() ? stem(path) : problem->name},
              {"claims", problem->buffers.size() + problem->barriers.size() + problem->tensor_columns.size() +
                             problem->roles.size()},
              {"ms", std::round(times[times.size() / 2] * 1000) / 1000}};
  if (!solution) {
    row["rejected"] = solution.diagnostics.front().clause;
    std::printf("%s\n", row.dump().c_str());
    return 0;
  }
  row["optimal"] = solution->optimal;
  row["gap_bytes"] = solution->gap_bytes;
  row["rlimit_used"] = solution->rlimit_used;
  row["rlimit_limit"] = solution->rlimit_limit;
  row["footprint"] = solution->footprint;
  row["free"] = solution->free_bytes();
  row["depths"] = json::object();
  for (const RingDepth& r : solution->rings) row["depths"][r.name] = r.depth;
  const FirstFit fit = first_fit(*problem, *solution);
  row["first_fit"] = {{"contract_order", fit.contract_order},
                      {"by_name", fit.by_name},
                      {"by_size", fit.by_size},
                      {"by_align", fit.by_align}};
  std::printf("%s\n", row.dump().c_str());
  const Diagnostics wrong = verify(*problem, *solution);
  for (const Diagnostic& d : wrong)
    std::fprintf(stderr, "error: %s: %s\n", problem->name.c_str(), d.title.c_str());
  return wrong.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  int repeat = 3, status = 0;
  std::uint64_t limit = kDefaultLimit;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--repeat" && i + 1 < argc)
      repeat = std::max(1, std::atoi(argv[++i]));
    else if (word == "--limit" && i + 1 < argc)
      limit = std::strtoull(argv[++i], nullptr, 10);
    else
      status = std::max(status, bench(word, repeat, limit));
  }
  return status;
}
