// Who is bound to whom: the keys "bindings", "routes", "facts", "dropped" and "protocol_order" of the link
// map.
#include <fmt/format.h>

#include "linker/bind/words.h"
#include "linker/protocol/order.h"
#include "linker/report/map_rows.h"
#include "linker/report/route_text.h"
#include "linker/route/callers.h"
#include "packager/contract/expression.h"
#include "packager/contract/tensor.h"
#include "packager/layout/text.h"

namespace pipelink {
namespace {

using binding::dotted;
using json = nlohmann::ordered_json;

json side(const SourceSpan& where) {
  return {{"file", where.file}, {"line", where.line}};
}

std::string signature(const contract::Callable& callable) {
  std::string list;
  for (const contract::Type& p : callable.parameters) list += (list.empty() ? "" : ", ") + p.name;
  return fmt::format("{}({})", callable.result.name, list);
}

/// What both sides keep to. The number that one side leaves open is the other's.
json ring_protocol(const Checked& in, const Binding& b, const RingStages& stages) {
  const contract::Ring& own = in.composition.contract(b.exporter.instance).rings[b.exporter.index];
  const contract::Ring& other = in.composition.contract(b.importer.instance).rings[b.importer.index];
  const PlacedRing& placed = in.plan.instances[b.exporter.instance].rings[b.exporter.index];
  const bool owner_consumes = own.side == contract::RingSide::kConsumer;
  const PortRef producer = owner_consumes ? b.importer : b.exporter;
  const PortRef consumer = owner_consumes ? b.exporter : b.importer;
  json out = {{"producer", in.composition.instances[producer.instance].name},
              {"consumer", in.composition.instances[consumer.instance].name},
              {"stages", placed.stages},
              {"stage_bytes", placed.stage_bytes},
              {"full_arrivals", placed.full_arrivals},
              {"empty_arrivals", placed.empty_arrivals}};
  const auto transaction = [&](const contract::Ring& ring, std::size_t instance) {
    if (!ring.transaction_bytes || out.contains("transaction_bytes")) return;
    const contract::Evaluation value = contract::evaluate(
        *ring.transaction_bytes, expression_scope(in.composition, in.bindings, instance, stages));
    if (value) out["transaction_bytes"] = *value;
  };
  transaction(own, b.exporter.instance);
  transaction(other, b.importer.instance);
  return out;
}

}  // namespace

json binding_rows(const MapSource& source) {
  const Checked& in = source.in;
  const Composition& composition = in.composition;
  json rows = json::array();
  const auto row = [&](const char* kind, const Binding& b, const auto& import, const auto& exported) {
    return json{{"kind", kind},
                {"import", dotted(composition, b.importer.instance, import.name)},
                {"export", dotted(composition, b.exporter.instance, exported.name)},
                {"import_at", side(import.where)},
                {"export_at", side(exported.where)}};
  };
  for (const Binding& b : in.bindings.callables) {
    const contract::Contract& importer = composition.contract(b.importer.instance);
    const contract::Callable& import = importer.callables[b.importer.index];
    json out =
        row("callable", b, import, composition.contract(b.exporter.instance).callables[b.exporter.index]);
    out["signature"] = signature(import);
    rows.push_back(with_glue(
        std::move(out), source.glue.of(fmt::format("pl__{}__import__{}", importer.component, import.name))));
  }
  for (const Binding& b : in.bindings.handovers) {  // the importer takes, the exporter, an import too, gives
    const contract::Contract& taker = composition.contract(b.importer.instance);
    const contract::Callable& get = taker.callables[b.importer.index];
    const contract::Contract& giver = composition.contract(b.exporter.instance);
    const contract::Callable& put = giver.callables[b.exporter.index];
    json out = row("handover", b, get, put);
    out["signature"] = signature(get);
    std::vector<int> lines = source.glue.of(fmt::format("pl__{}__import__{}", giver.component, put.name));
    const std::vector<int> more =
        source.glue.of(fmt::format("pl__{}__import__{}", taker.component, get.name));
    lines.insert(lines.end(), more.begin(), more.end());
    rows.push_back(with_glue(std::move(out), std::move(lines)));
  }
  const RingStages stages = ring_stages(in.composition, in.plan);
  for (const Binding& b : in.bindings.rings) {
    const contract::Contract& importer = composition.contract(b.importer.instance);
    const contract::Ring& import = importer.rings[b.importer.index];
    json out = row("ring", b, import, composition.contract(b.exporter.instance).rings[b.exporter.index]);
    out["protocol"] = ring_protocol(in, b, stages);
    rows.push_back(with_glue(std::move(out), source.glue.of(fmt::format("pl__{}__ring__{}__data",
                                                                        importer.component, import.name))));
  }
  for (const Binding& b : in.bindings.counters)
    rows.push_back(row("counter", b, composition.contract(b.importer.instance).counters[b.importer.index],
                       composition.contract(b.exporter.instance).counters[b.exporter.index]));
  for (const Binding& b : in.bindings.tensors) {
    const contract::TensorPort& import = composition.contract(b.importer.instance).tensors[b.importer.index];
    const contract::TensorPort& exported =
        composition.contract(b.exporter.instance).tensors[b.exporter.index];
    json out = row("tensor", b, import, exported);
    const auto resolved = [&](PortRef port, const contract::TensorPort& tensor) {
      return contract::resolve(tensor, expression_scope(composition, in.bindings, port.instance, {}));
    };
    const auto to = resolved(b.importer, import), from = resolved(b.exporter, exported);
    const auto shown = [](const contract::TensorResolution& of) {
      return of && of->layout ? layout::to_text(*of->layout) : std::string();
    };
    out["tile"] = {{"element", import.element},    {"extents", to ? to->tile : std::vector<std::int64_t>{}},
                   {"space", import.space},        {"scope", import.scope},
                   {"layout", shown(to)},          {"from_layout", shown(from)},
                   {"from_space", exported.space}, {"via", import.via},
                   {"parameter", import.parameter}};
    if (to && to->replicas != 1) out["tile"]["replicas"] = to->replicas;
    if (to && to->generations != 1) out["tile"]["generations"] = to->generations;
    rows.push_back(std::move(out));
  }
  return rows;
}

json route_rows(const MapSource& source) {
  const Composition& composition = source.in.composition;
  json rows = json::array();
  for (const Route& r : source.in.routes) {
    const auto name = [&](PortRef p) {
      return dotted(composition, p.instance, composition.contract(p.instance).tensors[p.index].name);
    };
    json row = {{"from", name(r.tensor.exporter)},
                {"to", name(r.tensor.importer)},
                {"route", transfer::name_of(r.transfer.kind)}};
    if (r.transfer.kind == transfer::Kind::kRenamed) {
      // The producer's value v is the consumer's value permutation[v].
      std::vector<int> permutation(static_cast<std::size_t>(r.request.from.map.values), -1);
      for (std::size_t v = 0; v < r.transfer.renamed.size(); ++v)
        if (r.transfer.renamed[v] >= 0)
          permutation[static_cast<std::size_t>(r.transfer.renamed[v])] = static_cast<int>(v);
      row["permutation"] = permutation;
    }
    if (r.consumer_role)
      row["roles"] = {{"gives", role_name(composition, *r.role)},
                      {"takes", role_name(composition, *r.consumer_role)}};
    if (!r.transfer.method.empty()) row["method"] = r.transfer.method;
    if (r.transfer.groups > 1) row["groups"] = r.transfer.groups;
    if (const std::vector<std::string> cost = cost_lines(r.transfer.cost); !cost.empty()) row["cost"] = cost;
    for (const transfer::Rejected& tried : r.rejected)
      row["rejected"].push_back({{"route", tried.kind}, {"reason", tried.reason}});
    rows.push_back(std::move(row));
  }
  return rows;
}

json fact_rows(const MapSource& source) {
  const Checked& in = source.in;
  json rows = json::array();
  for (std::size_t f = 0; f < in.bindings.facts.size(); ++f) {
    const FactValue& fact = in.bindings.facts[f];
    const contract::Fact& declared = in.composition.contract(fact.owner).facts[fact.index];
    json readers = json::array();
    std::vector<int> lines = source.glue.of(
        fmt::format("pl__{}__fact__{}", in.composition.instances[fact.owner].component, declared.name));
    for (std::size_t i = 0; i < in.bindings.fact_of.size(); ++i)
      for (std::size_t k = 0; k < in.bindings.fact_of[i].size(); ++k)
        if (in.bindings.fact_of[i][k] == f && i != fact.owner) {
          readers.push_back(in.composition.instances[i].name);
          const std::vector<int> more =
              source.glue.of(fmt::format("pl__{}__fact__{}", in.composition.instances[i].component,
                                         in.composition.contract(i).facts[k].name));
          lines.insert(lines.end(), more.begin(), more.end());
        }
    json row = {{"fact", dotted(in.composition, fact.owner, declared.name)}};
    if (fact.type == contract::FactType::kInteger)
      row["value"] = fact.integer;
    else if (fact.type == contract::FactType::kBoolean)
      row["value"] = fact.integer != 0;
    else
      row["value"] = fact.text;
    row["settable"] = declared.settable;
    row["set"] = fact.set_by_composition;
    if (declared.settable && fact.type == contract::FactType::kText)
      row["domain"] = declared.texts;
    else if (declared.settable)
      row["domain"] = declared.domain;
    if (!declared.least.empty()) {
      row["least"] = declared.least;
      row["most"] = declared.most;
    }
    row["readers"] = std::move(readers);
    rows.push_back(with_glue(with_place(std::move(row), declared.where), std::move(lines)));
  }
  return rows;
}

json dropped_rows(const MapSource& source) {
  json rows = json::array();
  const Composition& composition = source.in.composition;
  for (PortRef p : source.in.bindings.dropped)
    rows.push_back(dotted(composition, p.instance, composition.contract(p.instance).callables[p.index].name));
  return rows;
}

json protocol_order_rows(const MapSource& source) {
  const Checked& in = source.in;
  const ProtocolOrder order =
      protocol_order(in.composition, in.bindings, ring_stages(in.composition, in.plan));
  json unchecked = json::array();
  for (const UncheckedProtocol& p : order.unchecked)
    unchecked.push_back({{"protocol", p.name}, {"why", p.why}});
  return {{"checked", order.checked}, {"not_checked", std::move(unchecked)}};
}

}  // namespace pipelink
