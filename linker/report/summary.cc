#include "linker/report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "packager/base/words.h"

namespace pipelink {
namespace {

using json = nlohmann::ordered_json;

std::string joined(const json& list, const char* empty) {
  std::string out;
  for (const json& item : list)
    out += (out.empty() ? "" : ", ") + (item.is_string() ? item.get<std::string>() : item.dump());
  return out.empty() ? empty : out;
}

using Row = std::vector<std::string>;

/// Columns as wide as their widest cell; those named in `right` are right-aligned.
std::string table(const std::vector<Row>& rows, const std::string& right = "") {
  std::vector<std::size_t> widths;
  for (const Row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], row[i].size());
  }
  std::string out;
  for (const Row& row : rows) {
    std::string line = " ";
    for (std::size_t i = 0; i < row.size(); ++i)
      line += i < right.size() && right[i] == 'r' ? fmt::format(" {:>{}} ", row[i], widths[i])
                                                  : fmt::format(" {:<{}} ", row[i], widths[i]);
    while (line.back() == ' ') line.pop_back();
    out += line + "\n";
  }
  return out;
}

std::string shared_memory(const json& map) {
  const json& p = map.at("placement");
  std::string out = fmt::format("shared memory: {} of {} bytes, {} free\n", grouped(p.at("shared_bytes")),
                                grouped(p.at("shared_capacity")), grouped(map.at("free")));
  if (p.at("shared").empty()) return out.substr(0, out.size() - 1) + "; no claims\n";
  std::vector<Row> rows = {{"offset", "bytes", "claim", "", "live in"}};
  for (const json& c : p.at("shared")) {
    std::string note;
    for (const json& r : p.at("rings"))
      if (const int stages = r.at("stages").get<int>(); r.at("claim") == c.at("claim"))
        note = fmt::format("{} {} of {} ({} to {})", stages, stages == 1 ? "stage" : "stages",
                           grouped(r.at("stage_bytes")), r.at("stages_min").get<int>(),
                           r.at("stages_max").get<int>());
    rows.push_back({grouped(c.at("offset")), grouped(c.at("bytes")), c.at("claim"), note,
                    joined(c.at("live"), "always")});
  }
  return out + table(rows, "rr");
}

std::string warps(const json& map) {
  const json& p = map.at("placement");
  std::string out = fmt::format("warps: {} threads, {} registers at entry\n", p.at("threads").get<int>(),
                                p.at("entry_registers").get<int>());
  std::vector<Row> rows = {{"warps", "registers", "role", "asked for"}};
  for (const json& r : p.at("roles")) {
    const int first = r.at("first_warp"), count = r.at("warps");
    rows.push_back(
        {count == 1 ? std::to_string(first) : fmt::format("{}-{}", first, first + count - 1),
         std::to_string(r.at("registers").get<int>()), r.at("claim"),
         fmt::format("{} to {}", r.at("registers_min").get<int>(), r.at("registers_max").get<int>())});
  }
  return out + table(rows, "rr");
}

std::string barriers(const json& map) {
  std::vector<Row> rows;
  for (const json& b : map.at("placement").at("named_barriers"))
    rows.push_back({std::to_string(b.at("id").get<int>()), b.at("claim"), joined(b.at("live"), "always")});
  return rows.empty() ? "named barriers: none beside the kernel's own 0\n"
                      : "named barriers: 0 is the kernel's own\n" + table(rows, "r");
}

/// Empty for a kernel that has none.
std::string tensor_memory(const json& map) {
  const json& p = map.at("placement");
  if (!p.contains("tensor_memory") || p.at("tensor_memory").at("claims").empty()) return "";
  const json& t = p.at("tensor_memory");
  std::vector<Row> rows = {{"column", "columns", "claim", "live in"}};
  for (const json& c : t.at("claims"))
    rows.push_back({std::to_string(c.at("column").get<int>()), std::to_string(c.at("columns").get<int>()),
                    c.at("claim"), joined(c.at("live"), "always")});
  return fmt::format("\ntensor memory: {} of {} columns allocated\n", t.at("allocated").get<int>(),
                     t.at("capacity").get<int>()) +
         table(rows, "rr");
}

std::string connections(const json& map) {
  std::vector<Row> rows;
  for (const json& b : map.at("bindings"))
    rows.push_back({b.at("kind"), b.at("import"), "from", b.at("export")});
  for (const json& r : map.at("routes"))
    rows.push_back({"route", r.at("to"), "from",
                    r.at("from").get<std::string>() + ": " + r.at("route").get<std::string>() +
                        (r.contains("method") ? ", " + r.at("method").get<std::string>() : "")});
  return rows.empty() ? "bindings: none\n" : "bindings\n" + table(rows);
}

std::string facts(const json& map) {
  std::vector<Row> rows;
  for (const json& f : map.at("facts")) {
    const bool set = f.at("set").get<bool>(), settable = f.at("settable").get<bool>();
    std::string kind = set ? "set here, " : settable ? "settable, " : "fixed";
    if (f.contains("least"))
      kind += "from " + f.at("least").get<std::string>() + " to " + f.at("most").get<std::string>();
    else if (settable)
      kind += "of " + joined(f.at("domain"), "");
    const json& readers = f.at("readers");
    rows.push_back({f.at("fact"), "=", f.at("value").dump(), kind,
                    readers.empty() ? "" : "read by " + joined(readers, "")});
  }
  return rows.empty() ? "facts: none\n" : "facts\n" + table(rows, "  r");
}

std::string protocol_order(const json& map) {
  if (!map.contains("protocol_order")) return "";
  const json& order = map.at("protocol_order");
  std::string out;
  if (!order.at("checked").empty()) out = "waits checked: " + joined(order.at("checked"), "") + "\n";
  std::map<std::string, std::string> unchecked;  // why → the protocols
  for (const json& p : order.at("not_checked")) {
    std::string& names = unchecked[p.at("why")];
    names += (names.empty() ? "" : ", ") + p.at("protocol").get<std::string>();
  }
  for (const auto& [why, names] : unchecked)
    out += fmt::format("waits not checked, since {}: {}\n", why, names);
  return out;
}

std::string solver(const json& map) {
  const json& s = map.at("solver");
  std::string out =
      s.at("optimal").get<bool>()
          ? "solver: proven optimal"
          : fmt::format("solver: not proven optimal, at most {} bytes from it", grouped(s.at("gap_bytes")));
  return out + fmt::format("; {} of {} work units\n", grouped(s.at("rlimit_used").get<std::int64_t>()),
                           grouped(s.at("rlimit_limit").get<std::int64_t>()));
}

std::string gate(const json& map) {
  if (!map.contains("gate")) return "";
  std::vector<Row> rows = {{"", "planned", "found"}};
  for (const json& g : map.at("gate")) rows.push_back({g.at("what"), g.at("planned"), g.at("found")});
  return "gate: passed\n" + table(rows);
}

/// Empty for a link that is not guarded.
std::string guard(const json& map) {
  if (!map.contains("guard")) return "";
  const json& g = map.at("guard");
  std::vector<Row> rows = {{"before", "after", "band around"}};
  for (const json& c : g.at("claims"))
    rows.push_back({grouped(c.at("before")), grouped(c.at("after")), c.at("claim")});
  std::string out = "\nguard: bytes of the bands\n" + table(rows, "rr") +
                    fmt::format("guard: waits of at most {} ms\n  {}\n", grouped(g.at("milliseconds")),
                                joined(g.at("waits"), "none"));
  out += "guard: does not see\n";
  if (g.at("not_guarded").empty()) return out + "  nothing that is known\n";
  for (const json& n : g.at("not_guarded"))
    out += fmt::format("  {}: {}\n", n.at("what").get<std::string>(), n.at("why").get<std::string>());
  return out;
}

}  // namespace

std::string render_summary(const json& map) {
  std::string names;
  for (const json& i : map.at("instances")) {
    const std::string name = i.at("name"), component = i.at("component");
    names += (names.empty() ? "" : ", ") + (name == component ? name : name + " (" + component + ")");
  }
  return fmt::format("{} for {}: {}\n\n", map.at("name").get<std::string>(),
                     map.at("arch").get<std::string>(), names) +
         shared_memory(map) + "\n" + warps(map) + "\n" + barriers(map) + tensor_memory(map) + "\n" +
         connections(map) + "\n" + facts(map) + "\ndropped exports: " + joined(map.at("dropped"), "none") +
         "\n" + protocol_order(map) + solver(map) + guard(map) + "\n" + gate(map);
}

}  // namespace pipelink
