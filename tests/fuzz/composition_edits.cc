#include "tests/fuzz/composition_edits.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <random>

#include "tests/fuzz/json_values.h"

namespace pipelink::fuzz {
namespace {

using nlohmann::json;

struct Edit {
  std::uint8_t part = 0, kind = 0;
  std::uint16_t node = 0, a = 0, b = 0;
};
constexpr std::size_t kEdit = 8, kMaxContracts = 12;

Edit edit_at(const std::uint8_t* bytes) {
  const auto two = [&](int at) { return static_cast<std::uint16_t>(bytes[at] | bytes[at + 1] << 8); };
  return {bytes[0], bytes[1], two(2), two(4), two(6)};
}

std::vector<Seed>& loaded() {
  static std::vector<Seed> all;
  return all;
}

/// Values of all seeds by their key: what may stand there.
std::map<std::string, std::vector<const json*>>& gifts() {
  static std::map<std::string, std::vector<const json*>> all;
  return all;
}

void collect_gifts(const json& from, const std::string& key) {
  if (!key.empty()) gifts()[key].push_back(&from);
  if (from.is_object())
    for (const auto& [inner, value] : from.items()) collect_gifts(value, inner);
  else if (from.is_array())
    for (const json& value : from) collect_gifts(value, key + "[]");
}

std::size_t count_nodes(const json& from) {
  std::size_t n = 0;
  if (from.is_structured())
    for (const json& value : from) n += 1 + count_nodes(value);
  return n;
}

/// Values of all contracts.
std::size_t count_of(const Seed& seed) {
  std::size_t n = 1;
  for (const json& contract : seed.contracts) n += count_nodes(contract);
  return n;
}

struct Node {
  json* parent = nullptr;
  std::string key;        ///< in an object; of an array, that of the array and "[]"
  std::size_t index = 0;  ///< in an array
  json& value() const { return parent->is_object() ? (*parent)[key] : (*parent)[index]; }
};

/// The `number`-th value below `from`, in order; counts down.
bool find_node(json& from, const std::string& key, std::size_t& number, Node& out) {
  if (from.is_object()) {
    for (auto item = from.begin(); item != from.end(); ++item) {
      if (number-- == 0) {
        out = {&from, item.key(), 0};
        return true;
      }
      if (find_node(*item, item.key(), number, out)) return true;
    }
  } else if (from.is_array()) {
    for (std::size_t i = 0; i < from.size(); ++i) {
      if (number-- == 0) {
        out = {&from, key + "[]", i};
        return true;
      }
      if (find_node(from[i], key, number, out)) return true;
    }
  }
  return false;
}

Node node_of(json& part, std::size_t number) {
  Node node;
  const std::size_t count = count_nodes(part);
  if (count == 0) return node;
  number %= count;
  find_node(part, "", number, node);
  return node;
}

/// Small seeds more often: a run of the largest takes ten times as long as one of the smallest.
std::size_t seed_of(std::uint8_t byte) {
  const std::vector<Seed>& all = seeds();
  std::size_t sum = 0;
  for (const Seed& seed : all) sum += seed.weight;
  std::size_t at = byte % sum;
  for (std::size_t i = 0;; ++i) {
    if (at < all[i].weight) return i;
    at -= all[i].weight;
  }
}

void edit_value(json& part, const Edit& e) {
  const Node node = node_of(part, e.node);
  if (node.parent == nullptr) return;
  json& value = node.value();
  switch (e.kind % 12) {
    case 0:
      if (node.parent->is_object())
        node.parent->erase(node.key);
      else
        node.parent->erase(node.index);
      break;
    case 1:
      if (node.parent->is_array()) node.parent->insert(node.parent->end(), json(value));
      break;
    case 2: {
      const Node other = node_of(part, e.a);
      const json one = value, two = other.value();
      other.value() = one;
      node_of(part, e.node).value() = two;  // they may lie in each other
      break;
    }
    case 3:
    case 4:
    case 5:
      if (const auto found = gifts().find(node.key); found != gifts().end())
        value = *found->second[e.a % found->second.size()];
      break;
    case 6:
      value = kNumbers[e.a % std::size(kNumbers)];
      break;
    case 7:
      value = kTexts[e.a % std::size(kTexts)];
      break;
    case 8:
      value = static_cast<std::int16_t>(e.a);
      break;
    case 9: {
      static const std::array<json, 6> kOthers{json(true),    json(false),    json(),
                                               json::array(), json::object(), json(0.5)};
      value = kOthers[e.a % kOthers.size()];
      break;
    }
    case 10:
      if (value.is_string()) {
        std::string text = value;
        const char c = "az_09.*+ ();?x<"[e.b % 15];
        if (e.a % 2 == 0 || text.empty())
          text.insert(text.begin() + static_cast<std::ptrdiff_t>(e.a / 2 % (text.size() + 1)), c);
        else
          text[e.a / 2 % text.size()] = c;
        value = text;
        break;
      }
      [[fallthrough]];
    case 11:
      if (value.is_number_integer()) {
        const auto n = static_cast<std::uint64_t>(value.get<std::int64_t>());
        const std::uint64_t near[] = {n / 2, n * 2, n + 1, n - 1, n + 8, n * 4, n + 32};
        value = static_cast<std::int64_t>(near[e.a % std::size(near)]);
      } else if (value.is_string()) {
        value = value.get<std::string>() + value.get<std::string>();
      } else if (value.is_boolean()) {
        value = !value.get<bool>();
      }
  }
}

class Editor {
 public:
  explicit Editor(Case& out) : out_(out) {}

  void run(std::size_t seed, const std::uint8_t* edits, std::size_t size) {
    const Seed& from = seeds()[seed];
    out_.seed = seed;
    out_.of_seed = true;
    out_.composition = &from.composition;
    for (std::size_t i = 0; i < from.contracts.size(); ++i)
      out_.contracts.push_back({&from.contracts[i], seed, i, false});
    for (; size >= kEdit; size -= kEdit, edits += kEdit) apply(edit_at(edits));
  }

 private:
  json& composition() {
    if (!out_.composition_edited) {
      out_.composition = &out_.owned.emplace_back(*out_.composition);
      out_.composition_edited = true;
    }
    return const_cast<json&>(*out_.composition);  // owned, as it is edited
  }

  json& contract(std::size_t i) {
    ContractCase& c = out_.contracts[i];
    if (!c.edited) {
      c.value = &out_.owned.emplace_back(*c.value);
      c.edited = true;
    }
    return const_cast<json&>(*c.value);
  }

  void apply(const Edit& e) {
    const std::size_t part = e.part % (out_.contracts.size() + 1);
    switch (e.kind % 32) {
      case 0:
        return add(e);
      case 1:
        return drop(part);
      case 2:
        return twice(part, e);
      default:
        edit_value(part == 0 ? composition() : contract(part - 1), e);
    }
  }

  json* uses() {
    json& all = composition();
    const auto found = all.find("components");
    const bool fits = found != all.end() && found->is_array() && found->size() == out_.contracts.size();
    return fits ? &*found : nullptr;
  }

  void use(ContractCase of, const char* as) {
    json* list = uses();
    if (list == nullptr || out_.contracts.size() >= kMaxContracts) return;
    json entry = {{"package", std::to_string(out_.contracts.size()) + ".plk"}};
    if (*as != '\0') entry["as"] = as;
    list->push_back(std::move(entry));
    out_.contracts.push_back(of);
  }

  void add(const Edit& e) {
    const std::size_t seed = e.a % seeds().size(), index = e.b % seeds()[seed].contracts.size();
    use({&seeds()[seed].contracts[index], seed, index, false}, e.node % 2 == 0 ? "" : "more");
  }

  void drop(std::size_t part) {
    json* list = part == 0 ? nullptr : uses();
    if (list == nullptr) return;
    list->erase(part - 1);
    out_.contracts.erase(out_.contracts.begin() + static_cast<std::ptrdiff_t>(part) - 1);
  }

  void twice(std::size_t part, const Edit& e) {
    if (part != 0) use(out_.contracts[part - 1], e.a % 2 == 0 ? "again" : "second");
  }

  Case& out_;
};

}  // namespace

std::string Case::text() const {
  json all = {{"composition", *composition}, {"contracts", json::array()}};
  for (const ContractCase& c : contracts) all["contracts"].push_back(*c.value);
  return all.dump(-1, ' ', false, json::error_handler_t::replace);
}

void load_seeds(const std::string& directory) {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  for (const std::string& file : files) {
    std::ifstream in(file);
    const json all = json::parse(in, nullptr, false);
    if (!all.is_object()) {
      std::fprintf(stderr, "not a seed: %s\n", file.c_str());
      std::exit(2);
    }
    loaded().push_back({all.at("composition"), all.at("contracts"), 1});
  }
  std::size_t most = 0;
  for (const Seed& seed : loaded()) most = std::max(most, count_of(seed));
  for (Seed& seed : loaded()) seed.weight = std::min<std::size_t>(most / count_of(seed), 6);
  for (const Seed& seed : loaded()) {
    collect_gifts(seed.composition, "");
    for (const json& contract : seed.contracts) collect_gifts(contract, "");
  }
}

const std::vector<Seed>& seeds() {
  return loaded();
}

bool make_case(const std::uint8_t* data, std::size_t size, Case& out) {
  if (size == 0 || seeds().empty()) return false;
  if (data[0] != '{') {
    Editor(out).run(seed_of(data[0]), data + 1, size - 1);
    return true;
  }
  const json& all = out.owned.emplace_back(parsed(data, size));
  if (!all.is_object() || !all.contains("composition") || !all.contains("contracts")) return false;
  out.composition = &all.at("composition");
  for (const json& contract : all.at("contracts")) out.contracts.push_back({&contract, 0, 0, true});
  return true;
}

}  // namespace pipelink::fuzz

using namespace pipelink::fuzz;

namespace {

void random_bytes(std::minstd_rand& random, std::uint8_t* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = static_cast<std::uint8_t>(random() >> 8);
}

}  // namespace

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t max_size,
                                               unsigned number) {
  std::minstd_rand random(number + 1);
  if (max_size < 1 + kEdit) return size;
  if (size == 0 || data[0] == '{') {
    data[0] = static_cast<std::uint8_t>(random() % 64);
    size = 1;
  }
  std::size_t edits = (size - 1) / kEdit;
  const auto at = [&](std::size_t edit) { return data + 1 + edit * kEdit; };
  const std::size_t room = (max_size - 1) / kEdit;
  const unsigned kind = random() % 16;
  if (edits == 0 || (kind < 6 && edits < room)) {  // one more
    random_bytes(random, at(edits), kEdit);
    ++edits;
  } else if (kind < 12) {  // another value, place or kind
    const std::size_t field[][2] = {{0, 1}, {1, 1}, {2, 2}, {4, 2}, {4, 4}, {6, 2}};
    const auto& [from, count] = field[random() % 6];
    random_bytes(random, at(random() % edits) + from, count);
  } else if (kind < 14) {  // drop one
    const std::size_t which = random() % edits;
    std::copy(at(which + 1), at(edits), at(which));
    --edits;
  } else if (kind == 14) {  // two change places
    std::uint8_t* const one = at(random() % edits);
    std::swap_ranges(one, one + kEdit, at(random() % edits));
  } else {
    data[0] = static_cast<std::uint8_t>(random() % 64);
  }
  return 1 + edits * kEdit;
}

/// Edits of the one, then edits of the other.
extern "C" std::size_t LLVMFuzzerCustomCrossOver(const std::uint8_t* one, std::size_t one_size,
                                                 const std::uint8_t* two, std::size_t two_size,
                                                 std::uint8_t* out, std::size_t max_size, unsigned number) {
  std::minstd_rand random(number + 1);
  if (one_size == 0 || two_size == 0 || one[0] == '{' || two[0] == '{') return 0;
  const std::size_t first = random() % ((one_size - 1) / kEdit + 1), all = (two_size - 1) / kEdit,
                    skipped = random() % (all + 1);
  const std::size_t room = (max_size - 1) / kEdit, kept = std::min(first, room),
                    added = std::min(all - skipped, room - kept);
  std::copy(one, one + 1 + kept * kEdit, out);
  std::copy(two + 1 + skipped * kEdit, two + 1 + (skipped + added) * kEdit, out + 1 + kept * kEdit);
  return 1 + (kept + added) * kEdit;
}
