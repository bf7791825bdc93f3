#include <doctest/doctest.h>

#include <fstream>
#include <sstream>

#include "linker/place/instance_format.h"
#include "random_problem.h"

namespace pipelink::place::test {

Problem load(const std::string& name) {
  std::ifstream in(PLACE_DATA + name + ".pl");
  std::stringstream text;
  text << in.rdbuf();
  Outcome<Problem> problem = parse_instance(text.str(), name + ".pl");
  REQUIRE(problem);
  return *problem;
}

}  // namespace pipelink::place::test
