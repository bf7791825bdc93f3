#include "linker/report/link_map.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "linker/report/map_rows.h"

namespace pipelink {
namespace {

using json = nlohmann::ordered_json;

constexpr std::int64_t kMostBytes = std::int64_t{1} << 40;
constexpr std::size_t kMostRows = 1 << 12;   // of one list
constexpr std::size_t kMostLines = 1 << 17;  // of the glue, and of pairs that share bytes

struct Fault {
  std::string text;
};

/// A JSON object whose values are read with their types and bounds, and named in faults.
class Row {
 public:
  Row(const json& value, std::string path) : value_(value), path_(std::move(path)) {
    if (!value_.is_object()) throw Fault{path_ + " is not an object"};
  }

  bool has(const char* key) const { return value_.contains(key); }
  std::string text(const char* key) const {
    const json& v = at(key);
    if (!v.is_string()) throw Fault{name(key) + " is not a text"};
    return v.get<std::string>();
  }
  std::string text_or(const char* key) const { return has(key) ? text(key) : ""; }
  bool truth(const char* key) const {
    const json& v = at(key);
    if (!v.is_boolean()) throw Fault{name(key) + " is neither true nor false"};
    return v.get<bool>();
  }
  std::int64_t number(const char* key, std::int64_t least = 0, std::int64_t most = kMostBytes) const {
    return bounded(at(key), name(key), least, most);
  }
  int small(const char* key, int least, int most) const { return static_cast<int>(number(key, least, most)); }
  std::int64_t number_or(const char* key, std::int64_t otherwise) const {
    return has(key) ? number(key, -kMostBytes) : otherwise;
  }
  std::vector<std::string> texts(const char* key, std::size_t most = kMostRows) const {
    std::vector<std::string> out;
    if (!has(key)) return out;
    for (const json& v : list(key, most)) {
      if (!v.is_string()) throw Fault{name(key) + " holds something that is not a text"};
      out.push_back(v.get<std::string>());
    }
    return out;
  }
  std::vector<int> numbers(const char* key, int least, int most) const {
    std::vector<int> out;
    if (!has(key)) return out;
    for (const json& v : list(key)) out.push_back(static_cast<int>(bounded(v, name(key), least, most)));
    return out;
  }
  std::vector<Row> rows(const char* key, std::size_t most = kMostRows) const {
    std::vector<Row> out;
    if (!has(key)) return out;
    for (const json& v : list(key, most)) out.emplace_back(v, fmt::format("{}[{}]", name(key), out.size()));
    return out;
  }
  Row row(const char* key) const { return {at(key), name(key)}; }
  SourceSpan where() const { return {text_or("file"), has("line") ? small("line", 0, 1 << 30) : 0}; }
  /// A scalar as people read it.
  std::string shown(const char* key) const { return shown(at(key)); }
  std::vector<std::string> all_shown(const char* key) const {
    std::vector<std::string> out;
    if (!has(key)) return out;
    for (const json& v : list(key)) out.push_back(shown(v));
    return out;
  }

 private:
  static std::string shown(const json& v) { return v.is_string() ? v.get<std::string>() : v.dump(); }
  static std::int64_t bounded(const json& v, const std::string& what, std::int64_t least, std::int64_t most) {
    const bool whole =
        v.is_number_integer() &&
        (!v.is_number_unsigned() || v.get<std::uint64_t>() <= static_cast<std::uint64_t>(INT64_MAX));
    if (!whole || v.get<std::int64_t>() < least || v.get<std::int64_t>() > most)
      throw Fault{fmt::format("{} is not a number from {} to {}", what, least, most)};
    return v.get<std::int64_t>();
  }
  std::string name(const char* key) const { return path_.empty() ? key : path_ + "." + key; }
  const json& at(const char* key) const {
    const auto it = value_.find(key);
    if (it == value_.end()) throw Fault{name(key) + " is missing"};
    return *it;
  }
  const json& list(const char* key, std::size_t most = kMostRows) const {
    const json& v = at(key);
    if (!v.is_array() || v.size() > most)
      throw Fault{fmt::format("{} is not a list of at most {}", name(key), most)};
    return v;
  }

  const json& value_;
  std::string path_;
};

void read_claim(const Row& row, MapClaim& out) {
  out.name = row.text("claim");
  out.owner = row.has("owner") ? row.text("owner") : out.name.substr(0, out.name.find('.'));
  out.where = row.where();
  out.live = row.texts("live");
  out.glue = row.numbers("glue", 1, 1 << 30);
}

MapWhy read_why(const Row& row) {
  MapWhy out{row.text("text"), row.truth("proven"), {}};
  for (const Row& fact : row.rows("facts"))
    out.facts.push_back({fact.text("owner"), fact.text("text"), fact.where()});
  return out;
}

std::vector<MapOrder> read_orders(const std::vector<Row>& rows) {
  std::vector<MapOrder> out;
  for (const Row& row : rows)
    out.push_back({row.texts("path"), static_cast<std::size_t>(row.number_or("next_iteration_at", 0))});
  return out;
}

void read_claims(const Row& p, LinkMap& out) {
  for (const Row& row : p.rows("shared")) {
    MapShared& c = out.shared.emplace_back();
    read_claim(row, c);
    c.kind = row.text_or("kind");
    c.offset = row.number("offset");
    c.bytes = row.number("bytes");
    c.align = row.number("align", 1);
    c.arrivals = row.number_or("arrivals", 0);
    if (c.end() > out.shared_capacity) throw Fault{"claim " + c.name + " ends above the capacity"};
  }
  for (const Row& row : p.rows("rings")) {
    MapRing& r = out.rings.emplace_back();
    read_claim(row, r);
    r.stages = row.number("stages", 1, 1 << 20);
    r.least = row.number("stages_min", 0, 1 << 20);
    r.most = row.number("stages_max", 0, 1 << 20);
    r.stage_bytes = row.number("stage_bytes");
    r.data = row.number("data");
    r.full = row.number("full");
    r.empty = row.number("empty");
    r.full_arrivals = row.number("full_arrivals");
    r.empty_arrivals = row.number("empty_arrivals");
    r.tier = row.number_or("tier", 0);
    r.weight = row.number_or("weight", 1);
    if (row.has("why_not_deeper")) r.why = read_why(row.row("why_not_deeper"));
  }
  for (const Row& row : p.rows("named_barriers")) {
    MapBarrier& b = out.barriers.emplace_back();
    read_claim(row, b);
    b.id = row.small("id", 0, out.max_barriers - 1);
  }
  if (p.has("tensor_memory")) {
    const Row t = p.row("tensor_memory");
    out.columns = t.small("allocated", 0, 1 << 16);
    out.column_capacity = t.small("capacity", out.columns, 1 << 16);
    for (const Row& row : t.rows("claims")) {
      MapColumns& c = out.tensor_memory.emplace_back();
      read_claim(row, c);
      c.column = row.small("column", 0, out.columns);
      c.columns = row.small("columns", 0, out.columns - c.column);
    }
  }
  for (const Row& row : p.rows("roles")) {
    MapRole& r = out.roles.emplace_back();
    read_claim(row, r);
    r.first_warp = row.small("first_warp", 0, out.threads / 32);
    r.warps = row.small("warps", 1, out.threads / 32 - r.first_warp);
    r.registers = row.small("registers", 0, 512);
    r.least = row.small("registers_min", 0, 512);
    r.most = row.small("registers_max", 0, 512);
    if (row.has("why_not_larger")) r.why = read_why(row.row("why_not_larger"));
  }
}

void read_placement(const Row& p, LinkMap& out) {
  out.shared_bytes = p.number("shared_bytes");
  out.shared_capacity = p.number("shared_capacity");
  out.threads = p.small("threads", 0, 4096);
  out.entry_registers = p.small("entry_registers", 0, 512);
  out.warpgroup_registers = p.numbers("warpgroup_registers", 0, 512);
  if (out.warpgroup_registers.size() != static_cast<std::size_t>((out.threads + 127) / 128))
    throw Fault{"placement.warpgroup_registers does not have one number for each warpgroup"};
  if (p.has("target")) {
    out.register_pool = p.row("target").small("registers", 1, 1 << 24);
    out.max_barriers = p.row("target").small("named_barriers", 1, 64);
  }
  read_claims(p, out);
  const Row parameters = p.row("parameters");
  out.parameter_bytes = parameters.number("bytes");
  for (const Row& row : parameters.rows("regions"))
    out.regions.push_back(
        {row.text("instance"), row.text("type"), row.number("offset"), row.number("bytes")});
  for (const Row& row : p.rows("phases"))
    out.phases.push_back({row.text("phase"), row.text("owner"), row.where(), row.texts("after"),
                          row.texts("after_previous"), row.texts("called_in")});
  for (const Row& row : p.rows("reuse", kMostLines)) {
    const std::string of = row.text("of");
    MapReuse& r = out.reuse.emplace_back();
    r.first = row.text("first");
    r.second = row.text("second");
    r.within = read_orders(row.rows("first_then_second"));
    r.across = read_orders(row.rows("second_then_first"));
    if (of == "shared") {
      r.offset = row.number("offset");
      r.size = row.number("bytes");
    } else if (of == "tensor_memory") {
      r.of = MapReuse::Of::kColumns;
      r.offset = row.number("column");
      r.size = row.number("columns");
    } else if (of == "named_barrier") {
      r.of = MapReuse::Of::kBarrier;
      r.offset = row.number("id");
    } else {
      throw Fault{"placement.reuse names '" + of + "', which nothing is"};
    }
  }
}

void read_connections(const Row& top, LinkMap& out) {
  for (const Row& row : top.rows("bindings")) {
    MapBinding& b = out.bindings.emplace_back();
    b.kind = row.text("kind");
    b.import = row.text("import");
    b.exported = row.text("export");
    if (row.has("import_at")) b.import_at = row.row("import_at").where();
    if (row.has("export_at")) b.export_at = row.row("export_at").where();
    b.signature = row.text_or("signature");
    b.glue = row.numbers("glue", 1, 1 << 30);
    if (row.has("protocol")) {
      const Row p = row.row("protocol");
      b.protocol = MapProtocol{
          p.text("producer"),        p.text("consumer"),         p.number("stages"), p.number("stage_bytes"),
          p.number("full_arrivals"), p.number("empty_arrivals"), std::nullopt};
      if (p.has("transaction_bytes")) b.protocol->transaction_bytes = p.number("transaction_bytes");
    }
    if (row.has("tile")) {
      const Row t = row.row("tile");
      std::string extents;
      for (const std::string& e : t.all_shown("extents")) extents += (extents.empty() ? "" : " × ") + e;
      b.tile = MapTile{t.text("element"),
                       extents,
                       t.text("space"),
                       t.text("scope"),
                       t.text("layout"),
                       t.text("from_layout"),
                       t.text("via"),
                       t.text_or("from_space"),
                       t.numbers("extents", 1, 1 << 22)};
    }
  }
  for (const Row& row : top.rows("routes")) {
    MapRoute route{row.text("from"),
                   row.text("to"),
                   row.text("route"),
                   row.all_shown("permutation").size(),
                   row.text_or("method"),
                   row.texts("cost"),
                   {}};
    for (const Row& tried : row.rows("rejected"))
      route.rejected.push_back({tried.text("route"), tried.text("reason")});
    out.routes.push_back(std::move(route));
  }
  for (const Row& row : top.rows("facts")) {
    std::vector<std::string> domain = row.all_shown("domain");
    if (const std::string least = row.text_or("least"); !least.empty())
      domain.push_back(least + " … " + row.text("most"));
    out.facts.push_back({row.text("fact"), row.shown("value"), row.truth("settable"), row.truth("set"),
                         std::move(domain), row.texts("readers"), row.where(),
                         row.numbers("glue", 1, 1 << 30)});
  }
  out.dropped = top.texts("dropped");
}

LinkMap read(const Row& top) {
  LinkMap out;
  out.name = top.text("name");
  out.arch = top.text("arch");
  out.version = top.text("pipelink");
  for (const Row& row : top.rows("instances"))
    out.instances.push_back({row.text("name"), row.text("component")});
  const Row launch = top.row("launch");
  const std::vector<int> cluster = launch.numbers("cluster", 1, 1 << 16);
  if (cluster.size() != 3) throw Fault{"launch.cluster is not three numbers"};
  std::copy(cluster.begin(), cluster.end(), out.cluster);
  out.blocks_per_sm = launch.number("blocks_per_sm", 1, 1 << 10);
  read_placement(top.row("placement"), out);
  out.free = top.number("free");
  const Row solver = top.row("solver");
  out.optimal = solver.truth("optimal");
  out.gap_bytes = solver.number("gap_bytes");
  out.work_used = solver.number("rlimit_used", 0, INT64_MAX);
  out.work_limit = solver.number("rlimit_limit", 0, INT64_MAX);
  for (const Row& row : solver.rows("objectives"))
    out.objectives.push_back({row.text("name"), row.truth("proven"), row.number("value", -kMostBytes),
                              row.number("bound", -kMostBytes)});
  read_connections(top, out);
  for (const Row& row : top.rows("inputs"))
    out.inputs.push_back(
        {row.text("package"), row.text("component"), row.text("version"), row.text("sha256")});
  for (const Row& row : top.rows("gate"))
    out.gate.push_back({row.text("what"), row.text("planned"), row.text("found")});
  if (top.has("cubin")) {
    const Row c = top.row("cubin");
    out.cubin = LinkMap::Cubin{c.text("toolkit"), c.text("sha256"), c.text("text_sha256"),
                               c.number("text_bytes"), c.number("stack_bytes")};
  }
  if (top.has("guard")) {
    const Row g = top.row("guard");
    MapGuard& guard = out.guard.emplace();
    guard.milliseconds = g.number("milliseconds");
    guard.waits = g.texts("waits");
    for (const Row& row : g.rows("claims"))
      guard.claims.push_back({row.text("claim"), row.number("before"), row.number("after")});
    for (const Row& row : g.rows("not_guarded"))
      guard.not_guarded.push_back({row.text("what"), row.text("why")});
  }
  if (top.has("glue")) {
    out.glue_sha256 = top.row("glue").text("sha256");
    out.glue = top.row("glue").texts("lines", kMostLines);
  }
  return out;
}

}  // namespace

Outcome<LinkMap> parse_link_map(const std::string& text, const std::string& file) {
  const Outcome<json> map = read_map(text, file);
  if (!map) return map.diagnostics;
  try {
    return read(Row(*map, ""));
  } catch (const Fault& fault) {
    return make_error("I-JSON", file + " is no link map", {}, fault.text);
  }
}

}  // namespace pipelink
