// Mutations of JSON that change its values, not its bytes, so that most of them are read. Linking this file
// installs them.
#include <algorithm>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/json_values.h"

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t max_size);

namespace pipelink::fuzz {

using nlohmann::json;

namespace {

/// Every value below `from`, with its parent.
struct Node {
  json* parent;
  std::string key;        ///< in an object
  std::size_t index = 0;  ///< in an array
  json& value() const { return parent->is_object() ? (*parent)[key] : (*parent)[index]; }
};

void collect(json& from, std::vector<Node>& nodes) {
  if (from.is_object()) {
    for (auto& [key, value] : from.items()) {
      nodes.push_back({&from, key});
      collect(value, nodes);
    }
  } else if (from.is_array()) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      nodes.push_back({&from, "", i});
      collect(from[i], nodes);
    }
  }
}

json interesting(std::mt19937& random, const json& old) {
  switch (random() % 6) {
    case 0:
      return kNumbers[random() % std::size(kNumbers)];
    case 1:
      return kTexts[random() % std::size(kTexts)];
    case 2:
      if (old.is_number_integer()) return old.get<std::int64_t>() / 2;
      return random() % 2 == 0;
    case 3:
      if (old.is_number_integer()) {
        const auto value = static_cast<std::uint64_t>(old.get<std::int64_t>());
        return static_cast<std::int64_t>(value * 2 + random() % 2);
      }
      return nullptr;
    case 4:
      if (old.is_string()) return old.get<std::string>() + old.get<std::string>();
      return json::array();
    default:
      if (old.is_string()) {
        std::string text = old;
        if (!text.empty()) text[random() % text.size()] = static_cast<char>("az_09.*+ ()"[random() % 11]);
        return text;
      }
      return json::object();
  }
}

void mutate(json& input, const json& donor, std::mt19937& random) {
  std::vector<Node> nodes;
  collect(input, nodes);
  if (nodes.empty()) {
    input = donor;
    return;
  }
  const Node& node = nodes[random() % nodes.size()];
  json copy = donor;
  std::vector<Node> gifts;
  collect(copy, gifts);
  switch (random() % 8) {
    case 0:  // drop
      if (node.parent->is_object())
        node.parent->erase(node.key);
      else
        node.parent->erase(node.parent->begin() + static_cast<std::ptrdiff_t>(node.index));
      break;
    case 1:  // twice
      if (node.parent->is_array()) {
        const json twin = node.value();
        node.parent->push_back(twin);
      }
      break;
    case 2: {  // two values change places
      const json one = node.value(), two = nodes[random() % nodes.size()].value();
      node.value() = two;
      break;
    }
    case 3:  // a value of the same key from elsewhere
    case 4: {
      std::vector<const Node*> same;
      for (const Node& gift : gifts)
        if (gift.key == node.key && gift.parent->is_object() == node.parent->is_object())
          same.push_back(&gift);
      if (!same.empty()) node.value() = same[random() % same.size()]->value();
      break;
    }
    default:
      node.value() = interesting(random, node.value());
  }
}

std::size_t written(const json& input, std::uint8_t* data, std::size_t size, std::size_t max_size) {
  const std::string text = input.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > max_size) return size;  // as it was
  std::copy(text.begin(), text.end(), data);
  return text.size();
}

}  // namespace

}  // namespace pipelink::fuzz

using namespace pipelink::fuzz;

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned seed) {
  std::mt19937 random(seed);
  json input = parsed(data, size);
  if (input.is_discarded() || !input.is_object()) return LLVMFuzzerMutate(data, size, max_size);
  for (unsigned n = 1 + random() % 4; n > 0; --n) {
    const json before = input;
    mutate(input, before, random);
  }
  return written(input, data, size, max_size);
}

extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t one_size,
                                                 const std::uint8_t* two, std::size_t two_size,
                                                 std::uint8_t* out, std::size_t max_size, unsigned seed) {
  std::mt19937 random(seed);
  json input = parsed(one, one_size);
  const json donor = parsed(two, two_size);
  if (!input.is_object() || !donor.is_object()) return 0;
  for (unsigned n = 1 + random() % 3; n > 0; --n) mutate(input, donor, random);
  return written(input, out, 0, max_size);
}
