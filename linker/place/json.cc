#include "linker/place/json.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>

#include "linker/place/canonical.h"
#include "linker/place/depths.h"
#include "linker/place/greedy.h"
#include "linker/place/relation.h"

namespace pipelink::place {
namespace {

std::string quoted(std::string_view text) {
  std::string out = "\"";
  for (char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

// `"key": [a, b]` with one entry per line.
template <class T, class F>
std::string list(std::string_view key, const std::vector<T>& entries, F&& entry, const char* open = "[",
                 const char* close = "]", std::string_view indent = "  ") {
  std::string out = fmt::format("{}\"{}\": {}", indent, key, open);
  for (std::size_t i = 0; i < entries.size(); ++i)
    out += fmt::format("{}\n{}  {}", i ? "," : "", indent, entry(entries[i]));
  if (!entries.empty()) out += fmt::format("\n{}", indent);
  return out + close;
}

}  // namespace

FirstFit first_fit(const Problem& given, const Solution& solution) {
  FirstFit result;
  const Problem p = canonical(given);
  std::vector<int> depths;
  for (const Ring& ring : p.rings)
    depths.push_back(solution.ring(ring.name) ? solution.ring(ring.name)->depth : ring.min_depth);
  const Items items = shared_items(p, conflicts(Lifetimes(p), p.buffers), depths);
  Meter meter(0);
  Order by_name(items.count());
  std::iota(by_name.begin(), by_name.end(), 0);
  auto place = [&](const Order& order) {
    return footprint_of(items, lowest_fit(items, order, meter)) * items.unit;
  };
  Order order;
  for (const Buffer& b : given.buffers) order.push_back(find_sorted(p.buffers, b.name));
  result.contract_order = place(order);
  result.by_name = place(by_name);
  order = by_name;
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return items.size[a] > items.size[b]; });
  result.by_size = place(order);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return items.align[a] > items.align[b]; });
  result.by_align = place(order);
  return result;
}

std::string to_json(const Problem& problem, const Solution& s) {
  const std::size_t claims =
      problem.buffers.size() + problem.barriers.size() + problem.tensor_columns.size() + problem.roles.size();
  const FirstFit fit = first_fit(problem, s);
  std::string out = "{\n";
  out += fmt::format("  \"instance\": {},\n  \"claims\": {},\n  \"optimal\": {},\n  \"gap_bytes\": {},\n",
                     quoted(problem.name), claims, s.optimal, s.gap_bytes);
  out +=
      fmt::format("  \"rlimit_used\": {},\n  \"rlimit_limit\": {},\n  \"footprint\": {},\n  \"free\": {},\n",
                  s.rlimit_used, s.rlimit_limit, s.footprint, s.free_bytes());
  out += list(
      "depths", s.rings, [](const RingDepth& r) { return fmt::format("{}: {}", quoted(r.name), r.depth); },
      "{", "}");
  out += ",\n  \"placement\": {\n";
  out += list(
      "buffers", s.buffers,
      [](const BufferPlacement& b) {
        return fmt::format("{{\"name\": {}, \"offset\": {}, \"bytes\": {}}}", quoted(b.name), b.offset,
                           b.bytes);
      },
      "[", "]", "    ");
  out += ",\n" + list(
                     "named_barriers", s.barriers,
                     [](const BarrierPlacement& b) {
                       return fmt::format("{{\"name\": {}, \"id\": {}}}", quoted(b.name), b.id);
                     },
                     "[", "]", "    ");
  out += ",\n" + list(
                     "tensor_columns", s.tensor_columns,
                     [](const ColumnPlacement& c) {
                       return fmt::format("{{\"name\": {}, \"column\": {}, \"columns\": {}}}", quoted(c.name),
                                          c.column, c.columns);
                     },
                     "[", "]", "    ");
  out += ",\n" +
         list(
             "roles", s.roles,
             [](const RolePlacement& r) {
               return fmt::format("{{\"name\": {}, \"first_warp\": {}, \"warps\": {}, \"registers\": {}}}",
                                  quoted(r.name), r.first_warp, r.warps, r.registers);
             },
             "[", "]", "    ");
  out += fmt::format(",\n    \"warps\": {},\n    \"entry_registers\": {},\n    \"warpgroup_registers\": [",
                     s.warps, s.entry_registers);
  for (std::size_t g = 0; g < s.warpgroup_registers.size(); ++g)
    out += fmt::format("{}{}", g ? ", " : "", s.warpgroup_registers[g]);
  out += "]\n  },\n";
  out += list("objectives", s.objectives, [](const Objective& o) {
    return fmt::format("{{\"name\": {}, \"proven\": {}, \"value\": {}, \"bound\": {}}}", quoted(o.name),
                       o.proven, o.value, o.bound);
  });
  out += fmt::format(
      ",\n  \"first_fit\": {{\"contract_order\": {}, \"by_name\": {}, \"by_size\": {}, \"by_align\": "
      "{}}}\n}}\n",
      fit.contract_order, fit.by_name, fit.by_size, fit.by_align);
  return out;
}

}  // namespace pipelink::place
