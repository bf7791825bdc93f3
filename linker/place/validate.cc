// What makes a problem meaningless. Stated once here, so that the passes after it need no checks.
#include <set>

#include "linker/place/canonical.h"
#include "linker/place/problem.h"
#include "linker/place/relation.h"

namespace pipelink::place {
namespace {

constexpr std::int64_t kMostBytes = std::int64_t{1} << 32;

constexpr std::size_t kMaxPhases = 1024;  // their order takes the square of it

class Checker {
 public:
  explicit Checker(const Problem& problem) : p_(problem) {
    for (const Phase& phase : p_.phases) phases_.insert(phase.name);
    for (const Ring& ring : p_.rings) rings_.insert(ring.name);
  }

  Diagnostics run() {
    target();
    orders();
    ring_ranges();
    names(p_.buffers, "buffer");
    names(p_.barriers, "named barrier");
    names(p_.tensor_columns, "tensor-memory claim");
    names(p_.roles, "role");
    buffers();
    for (const TensorColumns& t : p_.tensor_columns)
      if (t.columns < 32 || t.columns > 512 || (t.columns & (t.columns - 1)))
        error(t, "columns must be a power of two, 32 to 512", std::to_string(t.columns) + " columns");
    roles();
    return std::move(found_);
  }

 private:
  static bool power_of_two(std::int64_t v) { return v > 0 && (v & (v - 1)) == 0; }

  void add(std::string title, std::vector<LabelledFact> facts, std::string reason = {}) {
    Diagnostic d;
    d.clause = "I-INSTANCE";
    d.title = std::move(title);
    d.facts = std::move(facts);
    d.reason = std::move(reason);
    found_.push_back(std::move(d));
  }
  template <class T>
  void error(const T& claim, std::string title, std::string text) {
    add(std::move(title), {{claim.owner, claim.name + ": " + std::move(text), claim.where}});
  }

  void target() {
    const Target& t = p_.target;
    if (t.shared_bytes < 0 || t.shared_bytes > kMostBytes || t.registers < 0 || t.max_warps < 0 ||
        t.named_barriers < 0 || t.sm_warps < 0 || t.tensor_columns < 0 || t.blocks_per_sm < 1 ||
        t.shared_reserved_bytes < 0)
      add("the target's amounts are out of range", {});
  }

  void orders() {
    if (p_.phases.size() > kMaxPhases) {
      add("there are " + std::to_string(p_.phases.size()) + " phases, and at most " +
              std::to_string(kMaxPhases) + " can be ordered",
          {});
      return;
    }
    std::set<std::string> seen;
    for (const Phase& phase : p_.phases) {
      if (!seen.insert(phase.name).second) add("phase '" + phase.name + "' is stated twice", {});
      for (const auto* list : {&phase.after, &phase.after_previous})
        for (const std::string& name : *list)
          if (!phases_.count(name))
            add("phase '" + phase.name + "' comes after an unknown phase '" + name + "'", {});
      if (!p_.loop && !phase.after_previous.empty())
        add("phase '" + phase.name +
                "' comes after a phase of the previous iteration, but the phases do not repeat",
            {});
    }
    if (found_.empty() && Lifetimes(canonical(p_)).cyclic())
      add("the phases' order has a cycle within one iteration", {});
  }

  void ring_ranges() {
    std::set<std::string> seen;
    for (const Ring& r : p_.rings) {
      if (!seen.insert(r.name).second) error(r, "two rings have one name", "stated twice");
      if (r.min_depth < 1 || r.max_depth < r.min_depth || r.max_depth > 4096)
        error(r, "a ring's depths are out of range",
              std::to_string(r.min_depth) + " to " + std::to_string(r.max_depth));
      if (r.weight < 1) error(r, "a ring's weight must be positive", std::to_string(r.weight));
    }
  }

  template <class T>
  void names(const std::vector<T>& claims, const std::string& kind) {
    std::set<std::string> seen;
    for (const T& claim : claims) {
      if (!seen.insert(claim.name).second)
        error(claim, "two claims of kind " + kind + " have one name", "stated twice");
      for (const std::string& phase : claim.live)
        if (!phases_.count(phase))
          error(claim, "a claim is live in an unknown phase", "live in '" + phase + "'");
    }
  }

  void buffers() {
    for (const Buffer& b : p_.buffers) {
      if (b.bytes < 0 || b.stage_bytes < 0 || b.bytes > kMostBytes || b.stage_bytes > kMostBytes ||
          b.bytes + b.stage_bytes == 0)
        error(b, "a buffer's size is out of range",
              std::to_string(b.bytes) + " bytes, " + std::to_string(b.stage_bytes) + " per stage");
      if (!power_of_two(b.align) || b.align > kMostBytes)
        error(b, "an alignment must be a power of two", std::to_string(b.align));
      if (!b.ring.empty() && !rings_.count(b.ring))
        error(b, "a buffer names an unknown ring", "ring '" + b.ring + "'");
      if (b.ring.empty() && b.stage_bytes) error(b, "a buffer with stages names no ring", "no ring");
    }
  }

  void roles() {
    for (const Role& r : p_.roles) {
      if (r.warps < 1 || r.warps > 1024)
        error(r, "a role's warps are out of range", std::to_string(r.warps) + " warps");
      if (r.align_warps != 1 && r.align_warps != 2 && r.align_warps != 4)
        error(r, "a role's warps are aligned to 1, 2 or 4", std::to_string(r.align_warps));
      if (r.min_registers % 8 || r.max_registers % 8 || r.min_registers < 24 ||
          r.max_registers < r.min_registers || r.max_registers > 256)
        error(r, "a role's register bounds must be multiples of 8 from 24 to 256",
              std::to_string(r.min_registers) + " to " + std::to_string(r.max_registers));
    }
  }

  const Problem& p_;
  std::set<std::string> phases_, rings_;
  Diagnostics found_;
};

}  // namespace

Diagnostics validate(const Problem& problem) {
  return Checker(problem).run();
}

}  // namespace pipelink::place
