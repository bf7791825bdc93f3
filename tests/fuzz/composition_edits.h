// Compositions to try, from few bytes, so that no run has to parse or copy what it does not change:
//
//   input := seed edit*       1 byte, and 8 bytes each
//
// where a seed is a file of tests/fuzz/seeds and an edit changes one value, one contract or one use of it.
// Linking composition_edits.cc installs the mutations that add, drop and change edits. An input that is the
// JSON text {"composition": …, "contracts": […]}, as seeds and regressions are, is taken as it is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace pipelink::fuzz {

struct ContractCase {
  const nlohmann::json* value = nullptr;
  /// What it was made of, for when a reader refuses it; itself if it is of no seed.
  std::size_t seed = 0, index = 0;
  bool edited = false;
};

struct Case {
  const nlohmann::json* composition = nullptr;
  std::vector<ContractCase> contracts;  ///< in the order of the composition's components
  std::size_t seed = 0;
  bool of_seed = false;             ///< by edits
  bool composition_edited = false;  ///< with regard to the seed
  std::deque<nlohmann::json> owned;

  Case() = default;
  Case(const Case&) = delete;  // it points into itself
  Case& operator=(const Case&) = delete;

  /// {"composition": …, "contracts": […]}
  std::string text() const;
};

struct Seed {
  nlohmann::json composition;
  std::vector<nlohmann::json> contracts;
  std::size_t weight = 1;  ///< how often it is taken
};

/// Files of `directory`, sorted by name. Ends the process if one cannot be read.
void load_seeds(const std::string& directory);
const std::vector<Seed>& seeds();

/// Whether `data` is an input at all.
bool make_case(const std::uint8_t* data, std::size_t size, Case& out);

}  // namespace pipelink::fuzz
