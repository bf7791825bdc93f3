#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "packager/base/sha256.h"
#include "packager/base/strict_json.h"
#include "packager/contract/expression.h"
#include "packager/contract/fields.h"
#include "packager/contract/json.h"
#include "packager/contract/tensor.h"
#include "packager/layout/text.h"
#include "packager/pack/pack.h"

namespace pipelink {
namespace {

using namespace contract;

std::string position(const SourceSpan& where) {
  return where.file.empty() ? std::string() : fmt::format("{}:{}", where.file, where.line);
}

/// A title and rows of columns; each column but the last is as wide as its widest cell.
struct Table {
  std::string title;
  std::vector<std::vector<std::string>> rows;

  void add(std::vector<std::string> row) { rows.push_back(std::move(row)); }

  std::string text() const {
    if (rows.empty()) return {};
    constexpr std::size_t kWidest = 60;
    std::vector<std::size_t> widths;
    for (const auto& row : rows)
      for (std::size_t i = 0; i < row.size(); ++i) {
        if (i >= widths.size()) widths.push_back(0);
        widths[i] = std::max(widths[i], std::min(row[i].size(), kWidest));
      }
    std::string out = fmt::format("\n{}\n", title);
    for (const auto& row : rows) {
      std::string line = " ";
      for (std::size_t i = 0; i < row.size(); ++i) line += fmt::format(" {:<{}} ", row[i], widths[i]);
      line.erase(line.find_last_not_of(' ') + 1);
      out += line + '\n';
    }
    return out;
  }
};

std::string range(const std::string& least, const std::string& most) {
  return least == most ? least : fmt::format("{}..{}", least, most);
}

std::string during(std::string_view word, const std::vector<std::string>& phases) {
  return phases.empty() ? std::string() : fmt::format("{} {}", word, fmt::join(phases, ", "));
}

std::vector<std::string> row(const Role& role) {
  return {role.name, fmt::format("{} warps, aligned to {}", role.warps, role.align_warps),
          fmt::format("registers {}",
                      range(std::to_string(role.registers_min), std::to_string(role.registers_max)))};
}

std::vector<std::string> row(const Callable& callable) {
  std::vector<std::string> types;
  for (const Type& type : callable.parameters) types.push_back(type.name);
  return {std::string(enum_name(callable.direction)), callable.name,
          fmt::format("{}({})", callable.result.name, fmt::join(types, ", ")),
          during("in", callable.phases) + (callable.phases.empty() || callable.calls.empty() ? "" : "; ") +
              during("calls", callable.calls)};
}

std::vector<std::string> row(const Buffer& buffer) {
  return {buffer.name, fmt::format("{} bytes, aligned to {}", to_text(buffer.bytes), buffer.align),
          during("live in", buffer.live)};
}

std::vector<std::string> row(const Ring& ring) {
  std::vector<std::string> said;
  if (to_text(ring.stages_max) != "0" || to_text(ring.stages_min) != "0")
    said.push_back(fmt::format("{} stages", range(to_text(ring.stages_min), to_text(ring.stages_max))));
  const auto add = [&](std::string_view what, const std::optional<Amount>& amount) {
    if (amount) said.push_back(fmt::format("{} {}", what, to_text(*amount)));
  };
  add("bytes", ring.stage_bytes);
  said.push_back(fmt::format("aligned to {}", ring.align));
  add("full arrivals", ring.full_arrivals);
  add("transaction bytes", ring.transaction_bytes);
  add("empty arrivals", ring.empty_arrivals);
  add("parity of the first wait for full", ring.full_parity);
  add("parity of the first wait for empty", ring.empty_parity);
  if (!ring.scope.empty()) said.push_back("scope " + ring.scope);
  return {std::string(enum_name(ring.direction)), ring.name, std::string(enum_name(ring.side)),
          fmt::format("{}", fmt::join(said, ", ")), during("live in", ring.live)};
}

std::vector<std::string> row(const Mbarriers& mbarriers) {
  return {mbarriers.name,
          fmt::format("{} with {} arrivals each{}", to_text(mbarriers.count), to_text(mbarriers.arrivals),
                      mbarriers.first_parity == 0 ? "" : ", first waited for with parity 1"),
          mbarriers.scope.empty() ? std::string() : "scope " + mbarriers.scope};
}

std::vector<std::string> row(const NamedBarrier& barrier) {
  return {barrier.name, fmt::format("{} threads", to_text(barrier.threads)), during("live in", barrier.live)};
}

std::vector<std::string> row(const TensorMemory& memory) {
  return {memory.name, fmt::format("{} columns", to_text(memory.columns)), during("live in", memory.live)};
}

std::vector<std::string> row(const Fact& fact) {
  const std::string value = fact.value ? to_text(*fact.value) : fact.text_value;
  return {std::string(enum_name(fact.direction)), fact.name, fact.cpp_type,
          value.empty() ? std::string() : fmt::format("= {}", value),
          !fact.texts.empty()
              ? fmt::format("{} {}", fact.settable ? "settable to" : "one of", fmt::join(fact.texts, ", "))
          : !fact.least.empty() ? fmt::format("settable from {} to {}", fact.least, fact.most)
          : fact.settable       ? fmt::format("settable to {}", fmt::join(fact.domain, ", "))
                                : std::string()};
}

std::vector<std::string> row(const Requirement& requirement) {
  return {requirement.name, requirement.expression};
}

/// Of a map by name, or one that reads facts, also what it comes to, if no composition changes that.
std::string layout_text(const TensorPort& tensor, const Scope& fixed) {
  const layout::Result<layout::LayoutText> parsed = layout::parse_layout_text(tensor.layout);
  if (!parsed || (!parsed->derived() && parsed->expressions().empty())) return tensor.layout;
  const layout::Result<layout::Layout> map = layout_of(tensor, fixed);
  return map ? fmt::format("{} = {}", tensor.layout, layout::to_text(*map)) : tensor.layout;
}

std::vector<std::string> row(const TensorPort& tensor, const Scope& fixed) {
  std::vector<std::string> extents;
  for (const Amount& extent : tensor.tile) extents.push_back(to_text(extent));
  std::vector<std::string> said{layout_text(tensor, fixed)};
  if (tensor.replicas) said.push_back(fmt::format("each element {} times", to_text(*tensor.replicas)));
  if (tensor.generations)
    said.push_back(fmt::format("{} for {} calls", tensor.direction == Direction::kExport ? "kept" : "read",
                               to_text(*tensor.generations)));
  return {
      std::string(enum_name(tensor.direction)),
      tensor.name,
      fmt::format("{} {}", tensor.element, fmt::join(extents, " x ")),
      fmt::format("in {} of a {}", tensor.space, tensor.scope),
      tensor.via.empty() ? std::string() : fmt::format("by parameter {} of {}", tensor.parameter, tensor.via),
      fmt::format("{}", fmt::join(said, ", "))};
}

std::vector<std::string> row(const Phase& phase) {
  return {phase.name, during("after", phase.after), during("after the previous", phase.after_previous)};
}

std::vector<std::string> row(const Steps& steps) {
  return {steps.name, steps.once.empty() ? std::string() : fmt::format("once: {}", steps.once),
          steps.loop.empty() ? std::string() : fmt::format("loop: {}", steps.loop)};
}

std::vector<std::string> row(const Counter& counter) {
  std::vector<std::string> said{"through " + counter.field};
  if (counter.initial) said.push_back("from " + to_text(*counter.initial));
  if (counter.arrivals) said.push_back(to_text(*counter.arrivals) + " for each wait");
  if (!counter.scope.empty()) said.push_back("scope " + counter.scope);
  return {std::string(enum_name(counter.direction)), counter.name, fmt::format("{}", fmt::join(said, ", "))};
}

std::vector<std::string> row(const Scratch& scratch) {
  return {scratch.name, fmt::format("{} bytes{}, aligned to {}, through {}{}", to_text(scratch.bytes),
                                    scratch.per_block ? " for each block" : "", scratch.align, scratch.field,
                                    scratch.zeroed ? ", zeroed" : "")};
}

std::string title_of(std::string_view key) {
  std::string title(key);
  std::replace(title.begin(), title.end(), '_', ' ');
  return title;
}

void add_fields(Table& table, const std::vector<Field>& fields) {
  for (const Field& field : fields)
    table.add({field.name, fmt::format("offset {}", field.offset), fmt::format("{} bytes", field.size),
               field.kind == FieldKind::kBytes ? "" : std::string(enum_name(field.kind))});
}

std::string parameters_text(const Contract& contract) {
  std::string out;
  if (contract.grid) {
    Table table{"launch", {}};
    if (!contract.grid->cluster.empty())
      table.add({fmt::format("clusters of {}", fmt::join(contract.grid->cluster, " x "))});
    if (contract.grid->resident) table.add({"all blocks on the device at one time"});
    if (table.rows.empty()) table.add({"any"});
    out += table.text();
  }
  if (contract.parameters) {
    const ParameterRegion& region = *contract.parameters;
    Table table{fmt::format("parameters: {} of {}, {} bytes, aligned to {}", region.type, region.header,
                            region.size, region.align),
                {}};
    add_fields(table, region.fields);
    if (table.rows.empty()) table.add({"no field is listed"});
    out += table.text();
  }
  if (contract.host) {
    const HostProvider& host = *contract.host;
    Table table{"host provider", {}};
    table.add({"symbol", host.symbol});
    table.add({"arguments", fmt::format("{} of {}", host.arguments, host.header)});
    table.add({"ABI", std::to_string(host.abi)});
    table.add({"library", host.library});
    table.add({"sha256", host.sha256});
    out += table.text();
    Table arguments{fmt::format("arguments: {} of {}, {} bytes, aligned to {}", host.arguments, host.header,
                                host.size, host.align),
                    {}};
    add_fields(arguments, host.fields);
    if (!arguments.rows.empty()) out += arguments.text();
  }
  return out;
}

}  // namespace

std::string inspect_text(const Package& package) {
  const Contract& contract = package.contract;
  std::string out = fmt::format("{} {} for {}, toolkit {}\n", contract.component, contract.version,
                                contract.arch, contract.toolkit);
  if (!package.file.empty())
    out += fmt::format("{}, package format {}, sha256 {}\n", package.file, package.manifest.format,
                       package.sha256);
  const Scope fixed = fixed_facts(contract);
  entry_lists(contract, [&](std::string_view key, std::string_view, const auto& list) {
    Table table{title_of(key), {}};
    for (const auto& entry : list) {
      std::vector<std::string> cells;
      if constexpr (requires { row(entry, fixed); })
        cells = row(entry, fixed);
      else
        cells = row(entry);
      cells.push_back(position(entry.where));
      table.add(std::move(cells));
    }
    out += table.text();
  });
  out += parameters_text(contract);
  Table data{"static data that can be written: one instance only", {}},
      weak{"functions that other packages may define too", {}};
  for (const std::string& name : contract.mutable_data) data.add({name});
  for (const std::string& item : contract.weak) weak.add({item.substr(0, item.find(' '))});
  out += data.text() + weak.text();
  Table code{"code", {}};
  for (std::size_t i = 0; i < package.ltoir.size(); ++i)
    code.add({fmt::format("code.{}.ltoir", i), fmt::format("{} bytes", package.ltoir[i].size())});
  return out + code.text();
}

std::string inspect_json(const Package& package) {
  using Json = nlohmann::ordered_json;
  Outcome<Json> contract = parse_json(to_json(package.contract), "contract");
  Json code = Json::array();
  for (const std::string& bytes : package.ltoir)
    code.push_back(Json{{"size", bytes.size()}, {"sha256", sha256_hex(bytes)}});
  return json_text(Json{{"file", package.file},
                        {"sha256", package.sha256},
                        {"format", package.manifest.format},
                        {"contract", contract ? std::move(*contract) : Json()},
                        {"code", std::move(code)}});
}

}  // namespace pipelink
