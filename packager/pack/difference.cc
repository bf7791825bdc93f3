#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "packager/contract/records.h"
#include "packager/pack/pack.h"

namespace pipelink {
namespace {

/// Values by key; the values of a repeated key are joined.
using Values = std::map<std::string, std::string>;

Values values_of(const contract::Record& record) {
  Values values;
  for (const auto& [key, value] : record.entries) {
    if (key == "file" || key == "line" || key == "component" || key == "kind" || key == "name") continue;
    const auto [found, inserted] = values.emplace(key, value);
    if (!inserted) found->second += ", " + value;
  }
  return values;
}

/// "role main" → its values, for all of a contract.
std::map<std::string, Values> entries_of(const contract::Contract& contract) {
  std::map<std::string, Values> entries;
  for (const contract::Record& record : contract::records_from_contract(contract)) {
    const std::string& kind = *record.find("kind");
    const bool single = kind == "component" || kind == "parameters" || kind == "host";
    entries[single ? kind : fmt::format("{} {}", kind, *record.find("name"))] = values_of(record);
  }
  Values& component = entries["component"];
  component["arch"] = contract.arch;
  component["toolkit"] = contract.toolkit;
  component["name"] = contract.component;
  component["mutable_data"] = fmt::format("{}", fmt::join(contract.mutable_data, ", "));
  component["weak"] = fmt::format("{}", fmt::join(contract.weak, ", "));
  for (const contract::Callable& callable : contract.callables)
    if (!callable.calls.empty())
      entries["callable " + callable.name]["calls"] = fmt::format("{}", fmt::join(callable.calls, ", "));
  if (contract.host) {
    entries["host"]["library"] = contract.host->library;
    entries["host"]["sha256"] = contract.host->sha256;
  }
  return entries;
}

std::string shown(const std::string& value) {
  return value.empty() ? "none" : value;
}

}  // namespace

std::vector<std::string> contract_differences(const contract::Contract& a, const contract::Contract& b) {
  const std::map<std::string, Values> left = entries_of(a), right = entries_of(b);
  std::vector<std::string> lines;
  for (const auto& [entry, values] : left) {
    const auto other = right.find(entry);
    if (other == right.end()) {
      lines.push_back(fmt::format("- {}", entry));
      continue;
    }
    Values keys = values;
    keys.insert(other->second.begin(), other->second.end());
    for (const auto& [key, unused] : keys) {
      const auto text = [&key = key](const Values& from) {
        const auto found = from.find(key);
        return found == from.end() ? std::string() : found->second;
      };
      if (text(values) != text(other->second))
        lines.push_back(
            fmt::format("  {}: {} {} -> {}", entry, key, shown(text(values)), shown(text(other->second))));
    }
  }
  for (const auto& [entry, values] : right)
    if (!left.contains(entry)) lines.push_back(fmt::format("+ {}", entry));
  return lines;
}

}  // namespace pipelink
