// The graph of instances: who calls whom, which ring and which tile goes where, who reads whose facts.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "linker/codegen/render_template.h"
#include "linker/report/page_parts.h"

namespace pipelink::page {

using nlohmann::json;

namespace {

constexpr double kNodeWidth = 208, kGap = 132, kHead = 34, kRow = 22, kMargin = 12, kBetween = 26;

/// One edge of the drawing, in the direction in which data or control goes.
struct Edge {
  std::string kind, from, to;  // ports, or instances for facts
  std::string title;
};

std::vector<Edge> edges_of(const LinkMap& map) {
  std::vector<Edge> out;
  for (const MapBinding& b : map.bindings) {
    if (b.kind == "callable") {
      out.push_back({"callable", b.import, b.exported, fmt::format("{} calls {}", b.import, b.exported)});
    } else if (b.kind == "ring") {
      const bool importer_produces = !b.protocol || b.protocol->producer == owner_of(b.import);
      const std::string &from = importer_produces ? b.import : b.exported,
                        &to = importer_produces ? b.exported : b.import;
      out.push_back({"ring", from, to, fmt::format("{} fills the ring of {}", from, to)});
    } else if (b.kind == "tensor") {  // a counter is in the table alone
      std::string route;
      for (const MapRoute& r : map.routes)
        if (r.from == b.exported && r.to == b.import) route = ", route: " + r.route;
      out.push_back(
          {"tensor", b.exported, b.import, fmt::format("tile {} goes to {}{}", b.exported, b.import, route)});
    }
  }
  std::map<std::pair<std::string, std::string>, std::vector<std::string>> facts;
  for (const MapFact& f : map.facts)
    for (const std::string& reader : f.readers) facts[{owner_of(f.name), reader}].push_back(f.name);
  for (const auto& [pair, names] : facts)
    out.push_back({"fact", pair.first, pair.second, fmt::format("{} reads {}", pair.second, joined(names))});
  return out;
}

struct Port {
  std::string name, kind;
  double y = 0;
};

struct Node {
  std::string name, component;
  std::size_t layer = 0;
  double x = 0, y = 0, height = 0;
  std::vector<Port> ports;
};

/// Instances in columns, what feeds or calls others to the left of them.
class Graph {
 public:
  Graph(const Context& context, const std::vector<Edge>& edges) : context_(context), edges_(edges) {
    for (const LinkMap::Instance& i : context.map.instances)
      nodes_.push_back({i.name, i.component, 0, 0, 0, 0, {}});
    for (std::size_t n = 0; n < nodes_.size(); ++n) index_.emplace(nodes_[n].name, n);
    for (const Edge& e : edges_) {
      if (e.kind == "fact") continue;
      add_port(e.from, e.kind);
      add_port(e.to, e.kind);
    }
    layers();
    place_nodes();
  }

  double width() const { return width_; }
  double height() const { return height_; }

  json nodes() const {
    json out = json::array();
    for (const Node& n : nodes_) {
      json ports = json::array();
      for (const Port& p : n.ports)
        ports.push_back({{"name", clipped(short_name(p.name), 24)},
                         {"kind", p.kind},
                         {"port_x", number(n.x + 15)},
                         {"text_x", number(n.x + 27)},
                         {"port_y", number(p.y)},
                         {"text_y", number(p.y + 4)},
                         {"callable", p.kind == "callable"},
                         {"ring", p.kind == "ring"},
                         {"tensor", p.kind == "tensor"},
                         {"mark_x", number(n.x + 11)},
                         {"mark_y", number(p.y - 4)}});
      out.push_back({{"colour", context_.colour(n.name)},
                     {"name", clipped(n.name, 24)},
                     {"node_x", number(n.x)},
                     {"node_y", number(n.y)},
                     {"node_height", number(n.height)},
                     {"head_x", number(n.x + 12)},
                     {"head_y", number(n.y + 21)},
                     {"rule_y", number(n.y + kHead - 4)},
                     {"ports", std::move(ports)}});
    }
    return out;
  }

  json lines() const {
    json out = json::array();
    for (const Edge& e : edges_) {
      const Node *a = node(e.from), *b = node(e.to);
      if (a == nullptr || b == nullptr) continue;
      const double y0 = anchor(*a, e, e.from), y1 = anchor(*b, e, e.to);
      const bool forward = b->layer > a->layer, same = a->layer == b->layer;
      const double x0 = forward || same ? a->x + kNodeWidth : a->x;
      const double x1 = forward ? b->x : b->x + kNodeWidth;
      const double bend = same ? 44 : std::max(40.0, std::min(90.0, std::abs(x1 - x0) / 2));
      const double c0 = forward || same ? x0 + bend : x0 - bend, c1 = forward ? x1 - bend : x1 + bend;
      // The head is a small triangle that ends at the port's edge.
      const double tip = forward ? -7 : 7;
      out.push_back({{"kind", e.kind},
                     {"title", e.title},
                     {"path", fmt::format("M{:.1f},{:.1f} C{:.1f},{:.1f} {:.1f},{:.1f} {:.1f},{:.1f}", x0, y0,
                                          c0, y0, c1, y1, x1 + tip, y1)},
                     {"head", fmt::format("M{:.1f},{:.1f} l{:.1f},-4 v8 z", x1, y1, tip)}});
    }
    return out;
  }

 private:
  static std::string number(double v) { return fmt::format("{:.1f}", v); }
  static std::string clipped(const std::string& text, std::size_t most) {
    if (text.size() <= most) return text;
    std::size_t end = most - 1;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
    return text.substr(0, end) + "…";
  }
  const Node* node(const std::string& port) const {
    const auto it = index_.find(owner_of(port));
    return it == index_.end() ? nullptr : &nodes_[it->second];
  }
  static double anchor(const Node& n, const Edge& e, const std::string& port) {
    if (e.kind == "fact") return n.y + 17;
    for (const Port& p : n.ports)
      if (p.name == port && p.kind == e.kind) return p.y;
    return n.y + 17;
  }
  void add_port(const std::string& name, const std::string& kind) {
    const auto it = index_.find(owner_of(name));
    if (it == index_.end()) return;
    std::vector<Port>& ports = nodes_[it->second].ports;
    const bool known = std::any_of(ports.begin(), ports.end(),
                                   [&](const Port& p) { return p.name == name && p.kind == kind; });
    if (!known) ports.push_back({name, kind, 0});
  }

  /// Longest paths; an edge that would close a circle does not count. Rings and tiles say more about the
  /// order than calls do, so they come first.
  void layers() {
    const std::size_t n = nodes_.size();
    std::vector<std::set<std::size_t>> next(n);
    const auto reaches = [&](std::size_t from, std::size_t to) {
      std::vector<std::size_t> open{from};
      std::vector<bool> seen(n, false);
      while (!open.empty()) {
        const std::size_t at = open.back();
        open.pop_back();
        if (at == to) return true;
        if (seen[at]) continue;
        seen[at] = true;
        open.insert(open.end(), next[at].begin(), next[at].end());
      }
      return false;
    };
    for (const char* kind : {"ring", "tensor", "callable"})
      for (const Edge& e : edges_) {
        if (e.kind != kind || node(e.from) == nullptr || node(e.to) == nullptr) continue;
        const std::size_t a = index_.at(owner_of(e.from)), b = index_.at(owner_of(e.to));
        if (a != b && !reaches(b, a)) next[a].insert(b);
      }
    for (std::size_t round = 0; round < n; ++round)
      for (std::size_t a = 0; a < n; ++a)
        for (std::size_t b : next[a]) nodes_[b].layer = std::max(nodes_[b].layer, nodes_[a].layer + 1);
  }

  /// Nodes so that neighbours lie level: each goes to the mean place of those that it is bound to, a few
  /// times.
  std::vector<std::size_t> order() const {
    const std::size_t n = nodes_.size();
    std::vector<double> place(n);
    std::vector<std::size_t> out(n);
    for (std::size_t i = 0; i < n; ++i) out[i] = i;
    for (int round = 0; round < 6; ++round) {
      std::map<std::size_t, std::size_t> used;
      std::vector<std::size_t> size(n, 0);
      for (std::size_t i : out) ++size[nodes_[i].layer];
      for (std::size_t i : out)
        place[i] =
            (static_cast<double>(used[nodes_[i].layer]++) + 0.5) / static_cast<double>(size[nodes_[i].layer]);
      std::vector<double> sum(n, 0), count(n, 0);
      for (const Edge& e : edges_) {
        const auto a = index_.find(owner_of(e.from)), b = index_.find(owner_of(e.to));
        if (e.kind == "fact" || a == index_.end() || b == index_.end()) continue;
        if (nodes_[a->second].layer == nodes_[b->second].layer) continue;
        sum[a->second] += place[b->second];
        sum[b->second] += place[a->second];
        ++count[a->second];
        ++count[b->second];
      }
      // Odd rounds move the columns to the left, even ones those to the right of them.
      std::vector<double> key = place;
      for (std::size_t i = 0; i < n; ++i)
        if (count[i] > 0 && nodes_[i].layer % 2 == static_cast<std::size_t>(round % 2))
          key[i] = sum[i] / count[i];
      std::stable_sort(out.begin(), out.end(), [&](std::size_t a, std::size_t b) {
        return std::pair(nodes_[a].layer, key[a]) < std::pair(nodes_[b].layer, key[b]);
      });
    }
    return out;
  }

  /// The rank of the first node that a port is bound to.
  std::size_t other_end(const Port& port, const std::vector<std::size_t>& rank) const {
    std::size_t least = rank.size();
    for (const Edge& e : edges_) {
      if (e.kind != port.kind || (e.from != port.name && e.to != port.name)) continue;
      const auto other = index_.find(owner_of(e.from == port.name ? e.to : e.from));
      if (other != index_.end()) least = std::min(least, rank[other->second]);
    }
    return least;
  }

  void place_nodes() {
    std::size_t most = 0;
    for (const Node& n : nodes_) most = std::max(most, n.layer);
    std::vector<double> bottom(most + 1, kMargin);
    const std::vector<std::size_t> sorted = order();
    std::vector<std::size_t> rank(nodes_.size());
    for (std::size_t i = 0; i < sorted.size(); ++i) rank[sorted[i]] = i;
    for (const std::size_t at : sorted) {
      Node& n = nodes_[at];
      std::stable_sort(n.ports.begin(), n.ports.end(),
                       [&](const Port& a, const Port& b) { return other_end(a, rank) < other_end(b, rank); });
      n.x = kMargin + static_cast<double>(n.layer) * (kNodeWidth + kGap);
      n.y = bottom[n.layer];
      n.height = kHead + kRow * static_cast<double>(n.ports.size()) + (n.ports.empty() ? 0 : 6);
      for (std::size_t p = 0; p < n.ports.size(); ++p)
        n.ports[p].y = n.y + kHead + kRow * static_cast<double>(p) + kRow / 2;
      bottom[n.layer] = n.y + n.height + kBetween;
    }
    const double tallest = *std::max_element(bottom.begin(), bottom.end());
    for (Node& n : nodes_) {  // columns are centred
      const double shift = (tallest - bottom[n.layer]) / 2;
      n.y += shift;
      for (Port& p : n.ports) p.y += shift;
    }
    height_ = tallest - kBetween + kMargin;
    width_ = kMargin * 2 + kNodeWidth + static_cast<double>(most) * (kNodeWidth + kGap) + 48;
  }

  const Context& context_;
  const std::vector<Edge>& edges_;
  std::vector<Node> nodes_;
  std::map<std::string, std::size_t> index_;
  double width_ = 0, height_ = 0;
};

json binding_table(const Context& context) {
  json rows = json::array();
  for (const MapBinding& b : context.map.bindings) {
    std::vector<std::string> protocol;
    if (!b.signature.empty()) protocol.push_back(b.signature);
    if (b.protocol) {
      protocol.push_back(
          fmt::format("{} of {}", plural(b.protocol->stages, "stage"), bytes(b.protocol->stage_bytes)));
      protocol.push_back(fmt::format("full after {}", plural(b.protocol->full_arrivals, "arrival")) +
                         (b.protocol->transaction_bytes
                              ? fmt::format(" and {}", bytes(*b.protocol->transaction_bytes))
                              : ""));
      protocol.push_back(fmt::format("empty after {}", plural(b.protocol->empty_arrivals, "arrival")));
    }
    if (b.tile) {
      protocol.push_back(fmt::format("{} tile of {}, in {} of a {}", b.tile->element, b.tile->extents,
                                     b.tile->space, b.tile->scope));
      protocol.push_back("layout " + b.tile->layout +
                         (b.tile->from_layout == b.tile->layout ? "" : ", from " + b.tile->from_layout));
      for (const MapRoute& r : context.map.routes)
        if (r.from == b.exported && r.to == b.import) {
          protocol.push_back(
              fmt::format("route: {}{}, via {}", r.route, r.method.empty() ? "" : ", " + r.method,
                          b.tile->via) +
              (r.permuted > 0
                   ? fmt::format(", {} renamed", plural(static_cast<std::int64_t>(r.permuted), "value"))
                   : ""));
          for (const std::string& line : r.cost) protocol.push_back(line);
          for (const MapRoute::Rejected& tried : r.rejected)
            protocol.push_back(fmt::format("not {}: {}", tried.route, tried.reason));
        }
    }
    json lines = json::array();
    for (const std::string& p : protocol) lines.push_back({{"text", p}});
    rows.push_back({{"kind", b.kind},
                    {"import", b.import},
                    {"export", b.exported},
                    {"import_colour", context.colour(owner_of(b.import))},
                    {"export_colour", context.colour(owner_of(b.exported))},
                    {"import_source", source(b.import_at)},
                    {"export_source", source(b.export_at)},
                    {"protocol", std::move(lines)},
                    {"glue", glue_links(context, b.glue)}});
  }
  return rows;
}

}  // namespace

Outcome<std::string> connections(const Context& context) {
  const std::vector<Edge> edges = edges_of(context.map);
  const Graph graph(context, edges);
  json rows = binding_table(context), instances = json::array(), dropped = json::array();
  for (const LinkMap::Instance& i : context.map.instances)
    instances.push_back({{"name", i.name}, {"component", i.component}, {"colour", context.colour(i.name)}});
  for (const std::string& name : context.map.dropped)
    dropped.push_back({{"name", name}, {"colour", context.colour(owner_of(name))}});
  const bool some = !rows.empty(), drops = !dropped.empty();
  return render_html("report_connections.html",
                     {{"width", fmt::format("{:.0f}", graph.width())},
                      {"height", fmt::format("{:.0f}", graph.height())},
                      {"node_width", kNodeWidth},
                      {"nodes", graph.nodes()},
                      {"edges", graph.lines()},
                      {"count", plural(static_cast<std::int64_t>(rows.size()), "binding")},
                      {"instances", plural(static_cast<std::int64_t>(instances.size()), "instance")},
                      {"some", some},
                      {"rows", std::move(rows)},
                      {"drops", drops},
                      {"dropped", std::move(dropped)}});
}

Outcome<std::string> facts(const Context& context) {
  json rows = json::array();
  for (const MapFact& f : context.map.facts) {
    json domain = json::array(), readers = json::array();
    for (const std::string& v : f.domain) domain.push_back({{"option", v}, {"chosen", v == f.value}});
    for (const std::string& r : f.readers)
      readers.push_back({{"reader", r}, {"reader_colour", context.colour(r)}});
    const bool unread = readers.empty();
    rows.push_back({{"id", context.facts.at(f.name)},
                    {"colour", context.colour(owner_of(f.name))},
                    {"name", f.name},
                    {"value", f.value},
                    {"how", f.set        ? "set by the composition"
                            : f.settable ? "settable, default"
                                         : "fixed"},
                    {"domain", std::move(domain)},
                    {"readers", std::move(readers)},
                    {"unread", unread},
                    {"source", source(f.where)},
                    {"glue", glue_links(context, f.glue)}});
  }
  const bool some = !rows.empty();
  return render_html("report_facts.html", {{"some", some}, {"rows", std::move(rows)}});
}

}  // namespace pipelink::page
