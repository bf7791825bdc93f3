#include "linker/report/route_text.h"

#include <fmt/format.h>

#include <tuple>

#include "linker/route/callers.h"

namespace pipelink {
namespace {

std::string counted(int count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

/// A figure beside the least that is possible.
std::string against(int found, int least) {
  return found == least ? "the least possible" : fmt::format("the least possible would be {}", least);
}

const std::string& callable_name(const Checked& checked, PortRef port) {
  return checked.composition.contract(port.instance).callables[port.index].name;
}

std::string indented(const std::string& text, const std::string& by) {
  std::string out = by;
  for (const char c : text) {
    out += c;
    if (c == '\n') out += by;
  }
  while (!out.empty() && (out.back() == ' ' || out.back() == '\n')) out.pop_back();
  return out + "\n";
}

}  // namespace

std::vector<std::string> cost_lines(const transfer::Cost& cost) {
  std::vector<std::string> out;
  if (cost.shuffles != 0 || cost.shuffle_bound != 0)
    out.push_back(fmt::format("{}, {}", counted(cost.shuffles, "shuffle", "shuffles"),
                              against(cost.shuffles, cost.shuffle_bound)));
  if (cost.selects != 0) out.push_back(counted(cost.selects, "select", "selects"));
  if (cost.permutes != 0) out.push_back(counted(cost.permutes, "byte permute", "byte permutes"));
  for (const auto& [count, one, many, wavefronts, bound] :
       {std::tuple{cost.stores, "store", "stores", cost.store_wavefronts, cost.store_bound},
        std::tuple{cost.loads, "load", "loads", cost.load_wavefronts, cost.load_bound}})
    if (count != 0)
      out.push_back(fmt::format("{} in each thread, {} of all warps, {}", counted(count, one, many),
                                counted(wavefronts, "wavefront", "wavefronts"), against(wavefronts, bound)));
  if (cost.tensor_loads != 0)
    out.push_back(counted(cost.tensor_loads, "load of tensor memory", "loads of tensor memory"));
  if (cost.barriers != 0) out.push_back(counted(cost.barriers, "wait at a barrier", "waits at barriers"));
  return out;
}

std::string route_text(const Checked& checked, std::size_t index, bool steps) {
  const Route& route = checked.routes[index];
  const transfer::Transfer& t = route.transfer;
  const PlacedTransfer& placed = checked.plan.transfers[index];
  std::string out = fmt::format("{}: {}", route_name(checked.composition, route), transfer::name_of(t.kind));
  if (!t.method.empty()) out += ", " + t.method;
  out += "\n";
  if (route.consumer_role)
    out += fmt::format("  {} gives by {}, {} takes by {}: as often, or one waits for ever\n",
                       role_name(checked.composition, *route.role),
                       callable_name(checked, route.callable.exporter),
                       role_name(checked.composition, *route.consumer_role),
                       callable_name(checked, route.callable.importer));
  for (const transfer::Rejected& r : route.rejected) out += fmt::format("  not {}: {}\n", r.kind, r.reason);
  if (route.role && t.groups > 1)
    out += fmt::format("  {} tiles side by side, each of {} threads of {}\n", t.groups, t.threads,
                       role_name(checked.composition, *route.role));
  if (t.buffer_bytes > 0)
    out += fmt::format("  shared memory: {} bytes from {}\n", placed.group_bytes * t.groups, placed.buffer);
  for (std::size_t b = 0; b < t.barriers.size(); ++b)
    out += fmt::format("  named barrier{} {}: {} threads ({})\n", placed.barriers[b].size() == 1 ? "" : "s",
                       fmt::join(placed.barriers[b], ", "), t.barriers[b].threads, t.barriers[b].name);
  for (const std::string& line : cost_lines(t.cost)) out += "  " + line + "\n";
  const std::size_t count = t.steps.size() + t.after.size() + t.receive.size() + t.release.size();
  if (count > 0 && steps)
    out += indented(transfer::text_of(t), "    ");
  else if (count > 0)
    out += fmt::format("  {}, which --steps lists\n", counted(static_cast<int>(count), "step", "steps"));
  return out;
}

}  // namespace pipelink
