// The table of symbols of linker/DESIGN.md, "Names in the object".
#include <fmt/format.h>

#include <algorithm>

#include "packager/capture/capture.h"

namespace pipelink {
namespace {

using contract::Direction;

void sort_unique(std::vector<std::string>& names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
}

}  // namespace

std::vector<std::string> handle_symbols(const contract::Contract& contract) {
  const std::string prefix = fmt::format("pl__{}__", contract.component);
  std::vector<std::string> names;
  for (const auto& role : contract.roles) names.push_back(fmt::format("{}role__{}__warp", prefix, role.name));
  for (const auto& callable : contract.callables)
    if (callable.direction == Direction::kImport)
      names.push_back(fmt::format("{}import__{}", prefix, callable.name));
  for (const auto& buffer : contract.buffers)
    names.push_back(fmt::format("{}buffer__{}", prefix, buffer.name));
  for (const auto& ring : contract.rings)
    for (const char* part : {"data", "full", "empty", "stages", "stage_bytes"})
      names.push_back(fmt::format("{}ring__{}__{}", prefix, ring.name, part));
  for (const auto& mbarriers : contract.mbarriers)
    names.push_back(fmt::format("{}mbarriers__{}", prefix, mbarriers.name));
  for (const auto& barrier : contract.named_barriers)
    names.push_back(fmt::format("{}barrier__{}", prefix, barrier.name));
  for (const auto& memory : contract.tensor_memory)
    names.push_back(fmt::format("{}tensor_memory__{}", prefix, memory.name));
  for (const auto& scratch : contract.scratch)
    names.push_back(fmt::format("{}scratch__{}", prefix, scratch.name));
  for (const auto& fact : contract.facts) names.push_back(fmt::format("{}fact__{}", prefix, fact.name));
  if (contract.parameters) names.push_back(prefix + "parameters");
  names.emplace_back("pl__guard__barrier");
  names.emplace_back("pl__guard__wait");
  sort_unique(names);
  return names;
}

std::vector<std::string> defined_symbols(const contract::Contract& contract) {
  const std::string prefix = fmt::format("pl__{}__", contract.component);
  std::vector<std::string> names;
  for (const auto& role : contract.roles) names.push_back(fmt::format("{}role__{}", prefix, role.name));
  for (const auto& callable : contract.callables)
    if (callable.direction == Direction::kExport)
      names.push_back(fmt::format("{}export__{}", prefix, callable.name));
  sort_unique(names);
  return names;
}

}  // namespace pipelink
