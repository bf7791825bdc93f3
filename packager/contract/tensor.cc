#include "packager/contract/tensor.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <utility>

#include "packager/layout/cover.h"
#include "packager/layout/text.h"

namespace pipelink::contract {
namespace {

using layout::Layout;

TensorResolution refuse(std::string clause, std::string about, std::string what, std::string reason) {
  return {std::nullopt, {std::move(clause), std::move(about), std::move(what), std::move(reason)}};
}

TensorResolution refuse_layout(std::string what, std::string reason) {
  return refuse("P-LAYOUT", "layout", std::move(what), std::move(reason));
}

std::int64_t threads_of(const std::string& scope) {
  return scope == "warp" ? 32 : scope == "warpgroup" ? 128 : 0;
}

/// In memory the layout takes a coordinate of the tile and gives each element a place.
std::string memory_fault(const Layout& map, const std::vector<std::int64_t>& tile) {
  bool same = map.rank() == tile.size();
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < map.rank(); ++i) {
    sizes.push_back(map.size(i));
    same = same && map.size(i) == tile[i];
  }
  if (!same)
    return fmt::format("its modes have {} elements, the tile is {}", fmt::join(sizes, " x "),
                       fmt::join(tile, " x "));
  return layout::injective_fault(map);
}

TensorResolution check_layout(const TensorPort& tensor, ResolvedTensor resolved) {
  const Layout& map = *resolved.layout;
  if (tensor.space == "shared") {
    if (resolved.replicas != 1)
      return refuse("P-VALUE", "replicas", "is stated of a tile in shared memory",
                    fmt::format("{}: each element has one place there", resolved.replicas));
    if (std::string fault = memory_fault(map, resolved.tile); !fault.empty())
      return refuse_layout("does not give each element a place of its own", std::move(fault));
    return {std::move(resolved), {}};
  }
  const std::int64_t threads = threads_of(tensor.scope);
  if (tensor.space == "registers" && threads != 0 && map.threads() != threads)
    return refuse_layout(
        fmt::format("is not for a {}", tensor.scope),
        fmt::format("its first mode has {} threads, a {} has {}", map.threads(), tensor.scope, threads));
  if (std::string fault = layout::cover_fault(map, resolved.size(), resolved.replicas); !fault.empty())
    return refuse_layout(resolved.replicas == 1
                             ? "does not cover its tile exactly once"
                             : "does not hold each element of its tile as often as is stated",
                         std::move(fault));
  return {std::move(resolved), {}};
}

}  // namespace

std::int64_t ResolvedTensor::size() const {
  std::int64_t size = 1;
  for (const std::int64_t extent : tile) size *= extent;
  return size;
}

std::vector<Amount> amounts_of(const TensorPort& tensor) {
  std::vector<Amount> out;
  for (const Amount& extent : tensor.tile)
    if (!extent.expression.empty()) out.push_back(extent);
  for (const std::optional<Amount>& amount : {tensor.replicas, tensor.generations})
    if (amount && !amount->expression.empty()) out.push_back(*amount);
  if (const auto parsed = layout::parse_layout_text(tensor.layout))
    for (const layout::LayoutText::Number& number : parsed->expressions()) out.push_back({0, number.text});
  return out;
}

std::vector<std::string> names_of(const TensorPort& tensor) {
  std::vector<std::string> out;
  for (const Amount& amount : amounts_of(tensor))
    for (std::string& name : names_of(amount)) out.push_back(std::move(name));
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

layout::Result<Layout> layout_of(const TensorPort& tensor, const Scope& scope) {
  const auto parsed = layout::parse_layout_text(tensor.layout);
  if (!parsed) return layout::Result<Layout>::fault(parsed.error);
  return parsed->evaluate([&](std::string_view expression) {
    const Evaluation found = evaluate(Amount{0, std::string(expression)}, scope);
    return found ? layout::Result<std::int64_t>(*found)
                 : layout::Result<std::int64_t>::fault(fmt::format("'{}': {}", expression, found.error));
  });
}

TensorResolution resolve(const TensorPort& tensor, const Scope& scope) {
  ResolvedTensor out;
  std::int64_t size = tensor.tile.empty() ? 0 : 1;
  for (const Amount& amount : tensor.tile) {
    const Evaluation extent = evaluate(amount, scope);
    if (!extent)
      return refuse("P-EXPRESSION", "tile", "cannot be evaluated",
                    fmt::format("'{}': {}", amount.expression, extent.error));
    out.tile.push_back(*extent);
    size =
        *extent < 1 || *extent > layout::kMaxSize || size * *extent > layout::kMaxSize ? 0 : size * *extent;
  }
  if (size == 0)
    return refuse(
        "P-VALUE", "tile", "is out of range",
        fmt::format("({}) has not between 1 and {} elements", fmt::join(out.tile, ", "), layout::kMaxSize));
  for (const auto& [name, amount, to] : {std::tuple{"replicas", &tensor.replicas, &out.replicas},
                                         {"generations", &tensor.generations, &out.generations}}) {
    if (!*amount) continue;
    const Evaluation found = evaluate(**amount, scope);
    if (!found)
      return refuse("P-EXPRESSION", name, "cannot be evaluated",
                    fmt::format("'{}': {}", (*amount)->expression, found.error));
    *to = *found;
    if (*to < 1 || *to > layout::kMaxSize)
      return refuse("P-VALUE", name, "is out of range",
                    fmt::format("{} is not between 1 and {}", *to, layout::kMaxSize));
  }
  if (tensor.space == "registers" && out.generations != 1)
    return refuse("P-VALUE", "generations", "is stated of a tile in registers",
                  fmt::format("{}: it is there for one call", out.generations));
  if (tensor.layout.empty()) return {std::move(out), {}};
  const layout::Result<Layout> map = layout_of(tensor, scope);
  if (!map) return refuse_layout("cannot be read", fmt::format("'{}', {}", tensor.layout, map.error));
  out.layout = *map;
  return check_layout(tensor, std::move(out));
}

Scope fixed_facts(const Contract& contract) {
  std::map<std::string_view, const Fact*> open;
  for (const Fact& fact : contract.facts)
    if (fact.direction == Direction::kExport && !fact.settable && fact.value &&
        (fact.type == FactType::kInteger || fact.type == FactType::kBoolean))
      open.emplace(fact.name, &fact);
  Scope scope;
  const auto settle = [&](const auto& self, std::string_view name) -> void {
    const auto found = open.find(name);
    if (found == open.end()) return;
    const Fact& fact = *found->second;
    open.erase(found);  // so that a circle ends
    for (const std::string& used : names_of(*fact.value)) self(self, used);
    if (const Evaluation value = evaluate(*fact.value, scope)) scope.emplace(fact.name, *value);
  };
  while (!open.empty()) settle(settle, open.begin()->first);
  return scope;
}

std::string tile_text(const TensorPort& tensor) {
  std::vector<std::string> parts;
  for (const Amount& extent : tensor.tile) parts.push_back(to_text(extent));
  return fmt::format("{}", fmt::join(parts, "x"));
}

}  // namespace pipelink::contract
