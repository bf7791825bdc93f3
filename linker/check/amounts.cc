#include <set>

#include "linker/bind/words.h"
#include "linker/check/context.h"
#include "packager/contract/steps.h"

namespace pipelink::checking {
namespace {

using binding::quoted;
using contract::Amount;

// The bounds of packager/contract/validate, here for the values of expressions.
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 30;
constexpr std::int64_t kMaxCount = (std::int64_t{1} << 20) - 1;  // of an mbarrier's arrivals and of its bytes
constexpr std::int64_t kMaxMbarriers = 4096;
constexpr std::int64_t kMaxStages = 1024;
constexpr std::int64_t kMaxThreads = 1024;
constexpr std::int64_t kMaxRepeats = 1024;
constexpr std::int64_t kMaxCounter = std::int64_t{1} << 32;
constexpr std::int64_t kMaxScratch = std::int64_t{1} << 40;
constexpr std::int64_t kMinColumns = 32, kMaxColumns = 512;

class Checker {
 public:
  Checker(const Context& context, Findings& findings) : context_(context), findings_(findings) {}

  void instance(std::size_t i) {
    instance_ = i;
    const contract::Contract& c = context_.contract(i);
    for (const contract::Buffer& b : c.buffers)
      check("buffer", b.name, b.where, "bytes", b.bytes, 1, kMaxBytes);
    for (const contract::Ring& r : c.rings) ring(r);
    for (const contract::Mbarriers& m : c.mbarriers) {
      check("mbarriers", m.name, m.where, "count", m.count, 1, kMaxMbarriers);
      check("mbarriers", m.name, m.where, "arrivals", m.arrivals, 1, kMaxCount);
    }
    for (const contract::Counter& k : c.counters) {
      if (k.initial) check("counter", k.name, k.where, "initial", *k.initial, 0, kMaxCounter);
      if (k.arrivals) check("counter", k.name, k.where, "arrivals", *k.arrivals, 1, kMaxCounter);
    }
    for (const contract::Scratch& s : c.scratch)
      check("scratch", s.name, s.where, "bytes", s.bytes, 1, kMaxScratch);
    for (const contract::NamedBarrier& b : c.named_barriers) {
      check("named barrier", b.name, b.where, "threads", b.threads, 32, kMaxThreads, 32);
    }
    for (const contract::Steps& s : c.steps) {
      counts_.clear();
      for (const std::string* text : {&s.once, &s.loop}) {
        const contract::ParsedSteps parsed = contract::parse_steps(*text);
        if (!parsed) continue;  // P-STEPS, when it was packed
        for (const contract::Step& step : *parsed.value) counts(s, step);
      }
    }
    for (const contract::TensorMemory& t : c.tensor_memory) {
      check("tensor memory", t.name, t.where, "columns", t.columns, kMinColumns, kMaxColumns, 1, true);
    }
  }

 private:
  void counts(const contract::Steps& steps, const contract::Step& step) {
    for (const contract::Step& inner : step.inner) counts(steps, inner);
    if (counts_.insert(contract::to_text(step.count)).second)  // one message for all steps that it counts
      check("steps", steps.name, steps.where, "a count", step.count, 0, kMaxRepeats);
  }

  void ring(const contract::Ring& r) {
    if (r.direction == contract::Direction::kExport) {
      const bool low = depth(r, "stages_min", r.stages_min), high = depth(r, "stages_max", r.stages_max);
      if (low && high && !context_.placed) order(r);
    }
    const auto stated = [&](const char* what, const std::optional<Amount>& amount, std::int64_t least,
                            std::int64_t most) {
      if (amount) check("ring", r.name, r.where, what, *amount, least, most);
    };
    stated("stage_bytes", r.stage_bytes, 1, kMaxBytes);
    stated("full_arrivals", r.full_arrivals, 1, kMaxCount);
    stated("transaction_bytes", r.transaction_bytes, 0, kMaxCount);
    stated("empty_arrivals", r.empty_arrivals, 1, kMaxCount);
    stated("full_parity", r.full_parity, 0, 1);
    stated("empty_parity", r.empty_parity, 0, 1);
  }

  /// A depth decides the placement and cannot read it.
  bool depth(const contract::Ring& r, const char* what, const Amount& amount) {
    if (!context_.reads_placement(instance_, amount)) {
      return check("ring", r.name, r.where, what, amount, 1, kMaxStages);
    }
    if (context_.placed) return false;
    Finding f = finding("L-FACT-CYCLE", "depends on the placement that it decides", "ring", r.name, r.where,
                        what, amount);
    f.diagnostic.reason =
        "the depth of a ring is chosen between stages_min and stages_max, so neither can read it";
    f.diagnostic.help = "state " + std::string(what) + " by numbers and facts";
    findings_.push_back(std::move(f));
    return false;
  }

  void order(const contract::Ring& r) {
    const Value low = context_.evaluate(instance_, r.stages_min),
                high = context_.evaluate(instance_, r.stages_max);
    if (!low.number || !high.number || *low.number <= *high.number) return;
    Finding f =
        finding("P-VALUE", "is more than stages_max", "ring", r.name, r.where, "stages_min", r.stages_min);
    f.diagnostic.facts.insert(f.diagnostic.facts.begin() + 1,
                              {context_.owner(instance_),
                               "states stages_max as " + context_.shown(instance_, r.stages_max), r.where});
    for (LabelledFact& source : context_.sources(instance_, r.stages_max)) {
      f.diagnostic.facts.push_back(std::move(source));
    }
    for (Proposal& p : context_.settings(instance_, r.stages_max)) f.proposals.push_back(std::move(p));
    f.diagnostic.reason = std::to_string(*low.number) + " is more than " + std::to_string(*high.number);
    f.diagnostic.help = "state a stages_max of " + std::to_string(*low.number) + " or more";
    findings_.push_back(std::move(f));
  }

  bool check(const char* kind, const std::string& name, const SourceSpan& where, const char* what,
             const Amount& amount, std::int64_t least, std::int64_t most, std::int64_t multiple = 1,
             bool power_of_two = false) {
    if (context_.placed && !context_.reads_placement(instance_, amount)) return true;  // judged before
    const Value value = context_.evaluate(instance_, amount);
    if (value.later) return false;
    if (!value.number) {
      Finding f = finding("P-EXPRESSION", "cannot be evaluated", kind, name, where, what, amount);
      f.diagnostic.reason = value.error + values(amount);
      f.diagnostic.help = "correct the expression in " + context_.owner(instance_);
      findings_.push_back(std::move(f));
      return false;
    }
    const std::int64_t n = *value.number;
    if (n >= least && n <= most && n % multiple == 0 && (!power_of_two || (n & (n - 1)) == 0)) return true;
    Finding f = finding("P-VALUE", "is out of range", kind, name, where, what, amount);
    f.diagnostic.reason = std::to_string(n) + values(amount) + ", must be " +
                          (power_of_two    ? "a power of two from "
                           : multiple == 1 ? ""
                                           : "a multiple of " + std::to_string(multiple) + " from ") +
                          std::to_string(least) + " to " + std::to_string(most);
    f.diagnostic.help = "correct the amount in " + context_.owner(instance_);
    findings_.push_back(std::move(f));
    return false;
  }

  std::string values(const Amount& amount) const {
    const std::string list = context_.with_values(instance_, amount);
    return list.empty() ? "" : " with " + list;
  }

  Finding finding(const char* clause, const char* fault, const char* kind, const std::string& name,
                  const SourceSpan& where, const char* what, const Amount& amount) const {
    const std::string& owner = context_.owner(instance_);
    Finding f;
    f.diagnostic = binding::error(
        clause, std::string(what) + " of the " + kind + " " + quoted(owner + "." + name) + " " + fault);
    f.diagnostic.facts.push_back(
        {owner, "states " + std::string(what) + " as " + context_.shown(instance_, amount), where});
    for (LabelledFact& source : context_.sources(instance_, amount))
      f.diagnostic.facts.push_back(std::move(source));
    f.proposals = context_.settings(instance_, amount);
    return f;
  }

  const Context& context_;
  Findings& findings_;
  std::size_t instance_ = 0;
  std::set<std::string> counts_;  ///< of the steps at hand
};

}  // namespace

void check_amounts(const Context& context, Findings& findings) {
  Checker checker(context, findings);
  for (std::size_t i = 0; i < context.composition.instances.size(); ++i) checker.instance(i);
}

}  // namespace pipelink::checking
