#include "linker/place/instance_format.h"

#include <fmt/format.h>

#include <charconv>
#include <map>
#include <optional>
#include <set>

#include "linker/place/canonical.h"

namespace pipelink::place {
namespace {

using Words = std::vector<std::string>;

Words split(std::string_view text, std::string_view separators) {
  Words words;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find_first_of(separators, i), text.size());
    if (end > i) words.emplace_back(text.substr(i, end - i));
    i = end + 1;
  }
  return words;
}

std::string owner_of(const std::string& name) {
  const std::size_t dot = name.rfind('.');
  return dot == std::string::npos ? name : name.substr(0, dot);
}

class Parser {
 public:
  explicit Parser(std::string file) : file_(std::move(file)) {}

  Outcome<Problem> run(std::string_view text) {
    while (!text.empty()) {
      ++line_;
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      words_ = split(line.substr(0, std::min(line.find('#'), line.size())), " \t\r");
      if (!words_.empty()) statement();
    }
    orders();
    lives();
    if (errors_.empty()) errors_ = validate(p_);
    if (!errors_.empty()) return errors_;
    return p_;
  }

 private:
  void error(std::string title, int line, std::string reason = {}) {
    Diagnostic d;
    d.clause = "I-INSTANCE";
    d.title = std::move(title);
    d.facts.push_back({p_.name, "here", {file_, line}});
    d.reason = std::move(reason);
    errors_.push_back(std::move(d));
  }
  void error(std::string title, std::string reason = {}) {
    error(std::move(title), line_, std::move(reason));
  }

  void statement() {
    const std::string kind = words_[0];
    if (kind == "loop") {
      if (words_.size() > 1) error("'loop' takes nothing more");
      p_.loop = true;
      return;
    }
    const bool target = kind == "target";
    static const std::set<std::string> kinds{"inst", "target", "phase", "order", "ring",
                                             "buf",  "bar",    "tmem",  "role"};
    if (!kinds.count(kind))
      return error(fmt::format("unknown statement '{}'", kind),
                   "known are inst, target, loop, phase, order, ring, buf, bar, tmem, role");
    if (!target && words_.size() < 2) return error(fmt::format("'{}' needs a name", kind));
    if (kind == "inst") {
      p_.name = words_[1];
      if (words_.size() > 2) error("'inst' takes one name");
      return;
    }
    if (kind == "phase") return phase();
    if (kind == "order") return order();
    if (!keys(target ? 1 : 2)) return;
    if (target) read_target();
    if (kind == "ring") read_ring();
    if (kind == "buf") read_buffer();
    if (kind == "bar") claim(p_.barriers.emplace_back());
    if (kind == "tmem") {
      TensorColumns& t = claim(p_.tensor_columns.emplace_back());
      t.columns = static_cast<int>(number("cols", {}));
    }
    if (kind == "role") read_role();
    for (const auto& [key, value] : keys_) error(fmt::format("'{}' has no key '{}'", kind, key));
  }

  void phase() {
    Phase phase;
    phase.name = words_[1];
    phase.after.assign(words_.begin() + 2, words_.end());
    for (const std::string& w : words_)
      if (w.find_first_of("=,") != std::string::npos) error(fmt::format("'{}' is no phase name", w));
    p_.phases.push_back(std::move(phase));
  }

  void order() {
    const bool previous = words_.size() == 4 && words_[3] == "previous";
    if (words_.size() != 3 && !previous) return error("an order is 'order A B' or 'order A B previous'");
    orders_.push_back({words_[1], words_[2], previous, line_});
  }

  bool keys(std::size_t first) {
    keys_.clear();
    bool ok = true;
    for (std::size_t i = first; i < words_.size(); ++i) {
      const std::size_t eq = words_[i].find('=');
      if (eq == std::string::npos) {
        error(fmt::format("'{}' is not of the form key=value", words_[i]));
        ok = false;
      } else if (!keys_.emplace(words_[i].substr(0, eq), words_[i].substr(eq + 1)).second) {
        error(fmt::format("key '{}' is given twice", words_[i].substr(0, eq)));
        ok = false;
      }
    }
    return ok;
  }

  std::optional<std::string> take(const std::string& key) {
    auto it = keys_.find(key);
    if (it == keys_.end()) return std::nullopt;
    std::string value = std::move(it->second);
    keys_.erase(it);
    return value;
  }

  std::int64_t parse_number(std::string_view key, std::string_view text) {
    std::int64_t value = 0;
    auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (status != std::errc() || end != text.data() + text.size() || value < 0 || value > INT32_MAX) {
      error(fmt::format("'{}={}' is not a number that is possible here", key, text));
      return 1;
    }
    return value;
  }

  std::int64_t number(const std::string& key, std::optional<std::int64_t> otherwise) {
    if (auto text = take(key)) return parse_number(key, *text);
    if (!otherwise) error(fmt::format("key '{}' is missing", key));
    return otherwise.value_or(1);
  }

  std::pair<int, int> range(const std::string& key) {
    const auto text = take(key);
    const std::size_t colon = text ? text->find(':') : std::string::npos;
    if (colon == std::string::npos) {
      error(text ? fmt::format("'{}={}' is not of the form min:max", key, *text)
                 : fmt::format("key '{}' is missing", key));
      return {1, 1};
    }
    return {static_cast<int>(parse_number(key, text->substr(0, colon))),
            static_cast<int>(parse_number(key, text->substr(colon + 1)))};
  }

  void read_target() {
    Target& t = p_.target;
    t.shared_bytes = number("smem", t.shared_bytes);
    t.registers = static_cast<int>(number("regs", t.registers));
    t.max_warps = static_cast<int>(number("warps", t.max_warps));
    t.sm_warps = static_cast<int>(number("smwarps", t.sm_warps));
    t.named_barriers = static_cast<int>(number("bars", t.named_barriers));
    t.tensor_columns = static_cast<int>(number("tmem", t.tensor_columns));
    t.blocks_per_sm = static_cast<int>(number("blocks", t.blocks_per_sm));
  }

  void read_ring() {
    Ring r;
    r.name = words_[1];
    r.owner = owner_of(r.name);
    r.where = {file_, line_};
    std::tie(r.min_depth, r.max_depth) = range("depth");
    r.tier = static_cast<int>(number("tier", 0));
    r.weight = static_cast<int>(number("weight", 1));
    p_.rings.push_back(std::move(r));
  }

  template <class T>
  T& claim(T& c) {
    c.name = words_[1];
    c.owner = owner_of(c.name);
    c.where = {file_, line_};
    if (auto live = take("live"); live && *live != "always") {
      c.live = {*live};  // expanded once all phases are known
      if (live->empty())
        error("'live=' names no phase",
              "leave the key out, or write live=always, for a claim that is always live");
    }
    return c;
  }

  void read_buffer() {
    Buffer& b = claim(p_.buffers.emplace_back());
    const bool size = keys_.count("size"), stage = keys_.count("stage");
    if (!size && !stage) error(fmt::format("buffer '{}' has neither size nor stage", b.name));
    b.bytes = number("size", 0);
    b.stage_bytes = number("stage", 0);
    b.ring = take("ring").value_or("");
    b.align = number("align", 16);
  }

  void read_role() {
    Role& r = p_.roles.emplace_back();
    r.name = words_[1];
    r.owner = owner_of(r.name);
    r.where = {file_, line_};
    r.warps = static_cast<int>(number("warps", {}));
    const bool group = number("wg", 0) != 0;
    r.align_warps = static_cast<int>(number("align", group ? 4 : 1));
    std::tie(r.min_registers, r.max_registers) = range("regs");
  }

  void orders() {
    for (const Order& o : orders_) {
      Phase* before = nullptr;
      Phase* after = nullptr;
      for (Phase& phase : p_.phases) {
        if (phase.name == o.before) before = &phase;
        if (phase.name == o.after) after = &phase;
      }
      if (!before || !after) {
        error(fmt::format("unknown phase '{}'", before ? o.after : o.before), o.line);
        continue;
      }
      if (o.previous && !p_.loop)
        error("an order after the previous iteration needs the line 'loop'", o.line);
      (o.previous ? after->after_previous : after->after).push_back(o.before);
    }
  }

  void lives() {
    const Before reach = predecessors();
    auto expand = [&](auto& claims) {
      for (auto& c : claims)
        if (!c.live.empty()) c.live = phases_of(c.live[0], c.where.line, reach);
    };
    expand(p_.buffers);
    expand(p_.barriers);
    expand(p_.tensor_columns);
  }

  using Before = std::map<std::string, std::set<std::string>>;

  // Each phase with all that come before it in one iteration.
  Before predecessors() const {
    Before before;
    for (const Phase& phase : p_.phases) before[phase.name].insert(phase.after.begin(), phase.after.end());
    for (bool more = true; more;) {
      more = false;
      for (auto& [name, set] : before) {
        const std::size_t size = set.size();
        const std::set<std::string> copy = set;
        for (const std::string& p : copy)
          if (auto it = before.find(p); it != before.end()) set.insert(it->second.begin(), it->second.end());
        more = more || set.size() != size;
      }
    }
    return before;
  }

  std::vector<std::string> phases_of(const std::string& text, int line, const Before& before) {
    std::set<std::string> phases;
    for (const std::string& part : split(text, ",")) {
      const std::size_t dots = part.find("..");
      const std::string first = part.substr(0, dots),
                        last = dots == std::string::npos ? first : part.substr(dots + 2);
      bool known = true;
      for (const std::string& name : std::set<std::string>{first, last})
        if (!before.count(name)) {
          error(fmt::format("unknown phase '{}'", name), line);
          known = false;
        }
      if (!known) continue;
      if (first != last && !before.at(last).count(first))
        error(fmt::format("phase '{}' does not come after '{}'", last, first), line);
      phases.insert({first, last});
      for (const auto& [name, set] : before)
        if (set.count(first) && before.at(last).count(name)) phases.insert(name);
    }
    return {phases.begin(), phases.end()};
  }

  struct Order {
    std::string before, after;
    bool previous;
    int line;
  };

  std::string file_;
  int line_ = 0;
  Words words_;
  std::map<std::string, std::string> keys_;
  std::vector<Order> orders_;
  Problem p_;
  Diagnostics errors_;
};

std::string live_text(const Claim& c) {
  std::string text;
  for (const std::string& phase : c.live) text += (text.empty() ? " live=" : ",") + phase;
  return text;
}

}  // namespace

Outcome<Problem> parse_instance(std::string_view text, const std::string& file) {
  return Parser(file).run(text);
}

std::string write_instance(const Problem& problem) {
  const Problem p = canonical(problem);
  const Target& t = p.target;
  std::string out = fmt::format("inst {}\n", p.name.empty() ? "unnamed" : p.name);
  out +=
      fmt::format("target smem={} regs={} warps={} smwarps={} bars={} tmem={} blocks={}\n", t.shared_bytes,
                  t.registers, t.max_warps, t.sm_warps, t.named_barriers, t.tensor_columns, t.blocks_per_sm);
  if (p.loop) out += "loop\n";
  for (const Phase& phase : p.phases) {
    out += "phase " + phase.name;
    for (const std::string& before : phase.after) out += " " + before;
    out += "\n";
  }
  for (const Phase& phase : p.phases)
    for (const std::string& before : phase.after_previous)
      out += fmt::format("order {} {} previous\n", before, phase.name);
  for (const Ring& r : p.rings)
    out += fmt::format("ring {} depth={}:{} tier={} weight={}\n", r.name, r.min_depth, r.max_depth, r.tier,
                       r.weight);
  for (const Buffer& b : p.buffers) {
    out += "buf " + b.name;
    if (b.bytes || !b.stage_bytes) out += fmt::format(" size={}", b.bytes);
    if (b.stage_bytes) out += fmt::format(" stage={} ring={}", b.stage_bytes, b.ring);
    out += fmt::format(" align={}{}\n", b.align, live_text(b));
  }
  for (const NamedBarrier& b : p.barriers) out += fmt::format("bar {}{}\n", b.name, live_text(b));
  for (const TensorColumns& c : p.tensor_columns)
    out += fmt::format("tmem {} cols={}{}\n", c.name, c.columns, live_text(c));
  for (const Role& r : p.roles)
    out += fmt::format("role {} warps={} align={} regs={}:{}\n", r.name, r.warps, r.align_warps,
                       r.min_registers, r.max_registers);
  return out;
}

}  // namespace pipelink::place
