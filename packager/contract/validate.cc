#include "packager/contract/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <set>
#include <span>

#include "packager/base/ids.h"
#include "packager/base/words.h"
#include "packager/contract/circle.h"
#include "packager/contract/expression.h"
#include "packager/contract/fields.h"
#include "packager/contract/steps.h"
#include "packager/contract/tensor.h"
#include "packager/contract/type_text.h"
#include "packager/layout/text.h"

namespace pipelink::contract {
namespace {

constexpr std::int64_t kMaxAlign = 1 << 16;
constexpr int kMaxWarps = 32;
constexpr std::size_t kMaxEntries = 1024;   // of one kind; bounds the time of every later pass
constexpr std::int64_t kMaxRepeats = 1024;  // of one step
constexpr std::int64_t kMaxCluster = 16;
constexpr std::int64_t kMaxScratch = std::int64_t{1} << 40, kMaxScratchAlign = 256;
constexpr std::size_t kSharedScopes = 4;
constexpr std::size_t kMaxRank = 8;                       // of a tile
constexpr std::size_t kMaxText = 256;                     // of a text fact
constexpr std::string_view kTextHandle = "unsigned int";  // what the handle of a text fact returns
constexpr std::int64_t kMinTensorColumns = 32, kMaxTensorColumns = 512;

bool finite_real(const std::string& text) {
  const std::optional<double> value = real_of(text);
  return value && std::isfinite(*value);
}

bool power_of_two(std::int64_t value) {
  return value > 0 && (value & (value - 1)) == 0;
}

bool valid_toolkit(std::string_view text) {
  const std::size_t dot = text.find('.');
  const auto digits = [](std::string_view part) {
    return !part.empty() && part.size() <= 4 &&
           std::all_of(part.begin(), part.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  return dot != std::string_view::npos && digits(text.substr(0, dot)) && digits(text.substr(dot + 1));
}

bool valid_version(std::string_view text) {
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), [](char c) {
    return c > ' ' && c < 0x7f && c != '"' && c != '\\';
  });
}

/// Nobody else's machine has it at the same place.
bool leaves_include_path(std::string_view header) {
  return header.starts_with('/') || header.find("..") != std::string_view::npos ||
         header.find_first_of("\"<>\\\n\r") != std::string_view::npos;
}

bool is_identifier(std::string_view name) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && letter(name.front()) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
}

class Validator {
 public:
  explicit Validator(const Contract& contract) : contract_(contract) {
    for (const Fact& fact : contract_.facts) {
      visible_.insert(fact.name);
      if (fact.type == FactType::kReal || fact.type == FactType::kText) not_integer_.insert(fact.name);
    }
    for (const Ring& ring : contract_.rings) visible_.insert(ring.name + ".stages");
    for (const Phase& phase : contract_.phases) phases_.insert(phase.name);
  }

  Diagnostics run() {
    header();
    const std::size_t before = diagnostics_.size();
    entry_lists(contract_, [&](std::string_view, std::string_view kind, const auto& list) {
      if (list.size() > kMaxEntries)
        value(fmt::format("the number of its entries '{}',", kind),
              fmt::format("{} is more than {}", list.size(), kMaxEntries));
    });
    if (diagnostics_.size() > before) return std::move(diagnostics_);
    fixed_ = fixed_facts(contract_);
    entry_lists(contract_, [&](std::string_view, std::string_view kind, const auto& list) {
      names(kind, list);
      for (const auto& entry : list) {
        kind_ = kind;
        name_ = entry.name;
        where_ = entry.where;
        check(entry);
      }
    });
    grid();
    warp_total();
    fact_cycles();
    phase_cycles();
    parameters();
    host();
    return std::move(diagnostics_);
  }

 private:
  // ---- reporting: about the entry at hand

  std::string entry() const {
    return name_.empty() ? std::string(kind_) : fmt::format("{} {}", kind_, shortened(name_));
  }

  void fail(std::string clause, std::string title, std::string reason = {}, std::string help = {}) {
    diagnostics_.push_back(make_error(std::move(clause), std::move(title),
                                      {{contract_.component, entry(), where_}}, std::move(reason),
                                      std::move(help)));
  }

  void value(std::string_view what, std::string reason, std::string help = {}) {
    fail("P-VALUE", fmt::format("{} of {} is out of range", what, entry()), std::move(reason),
         std::move(help));
  }

  // ---- the contract as a whole

  void header() {
    kind_ = "component";
    name_ = contract_.component;
    where_ = contract_.where;
    if (const std::string fault = name_fault(contract_.component); !fault.empty())
      fail("P-NAME", fmt::format("'{}' is not a name for a component", contract_.component), "it " + fault);
    if (!valid_version(contract_.version))
      fail("P-VALUE", fmt::format("'{}' is not a version", contract_.version), {},
           "use a version such as 1.2.0");
    if (!valid_arch(contract_.arch))
      fail("P-ARCH", fmt::format("'{}' is not an architecture", contract_.arch), {},
           "use a name such as sm_90a");
    if (!valid_toolkit(contract_.toolkit))
      fail("P-TOOLKIT", fmt::format("'{}' is not a toolkit version", contract_.toolkit), {},
           "use MAJOR.MINOR, such as 13.0");
  }

  template <class List>
  void names(std::string_view kind, const List& list) {
    std::map<std::string, SourceSpan> seen;
    for (const auto& item : list) {
      kind_ = kind;
      name_ = item.name;
      where_ = item.where;
      if (const std::string fault = name_fault(item.name); !fault.empty())
        fail("P-NAME", fmt::format("'{}' is not a name for a {}", shortened(item.name), kind), "it " + fault);
      const auto [first, inserted] = seen.emplace(item.name, item.where);
      if (!inserted)
        diagnostics_.push_back(make_error("P-DUPLICATE",
                                          fmt::format("{} '{}' is declared twice", kind, item.name),
                                          {{contract_.component, "declared here", first->second},
                                           {contract_.component, "and here", item.where}}));
    }
  }

  void warp_total() {
    int total = 0;
    for (const Role& role : contract_.roles) total += std::clamp(role.warps, 0, kMaxWarps + 1);
    if (total <= kMaxWarps) return;
    Diagnostic error = make_error("P-VALUE", fmt::format("the roles have {} warps together", total), {},
                                  fmt::format("a block has at most {} warps", kMaxWarps));
    for (const Role& role : contract_.roles)
      error.facts.push_back(
          {contract_.component, fmt::format("role {}: {} warps", role.name, role.warps), role.where});
    diagnostics_.push_back(std::move(error));
  }

  // ---- amounts

  /// Reports names that nobody supplies; true if the expression parses and all names are visible.
  bool expression(std::string_view what, const std::string& text) {
    const ParsedExpression parsed = parse_expression(text);
    if (!parsed) {
      fail("P-EXPRESSION", fmt::format("{} of {} is not an expression", what, entry()),
           fmt::format("'{}', {}", shortened(text), parsed.error));
      return false;
    }
    bool good = true;
    for (const std::string& name : parsed->names()) {
      if (not_integer_.contains(name)) {
        fail("P-EXPRESSION",
             fmt::format("{} of {} uses the fact '{}', which is no integer", what, entry(), name),
             fmt::format("'{}' is evaluated in integers", shortened(text)));
        good = false;
      } else if (!visible_.contains(name)) {
        fail("P-EXPRESSION",
             fmt::format("{} of {} uses the unknown name '{}'", what, entry(), shortened(name)),
             visible_.empty() ? std::string("the component declares no fact and no ring")
                              : fmt::format("known are {}", fmt::join(visible_, ", ")));
        good = false;
      }
    }
    return good;
  }

  void amount(std::string_view what, const Amount& amount, std::int64_t least, std::int64_t most) {
    if (!amount.expression.empty()) {
      expression(what, amount.expression);
    } else if (amount.number < least || amount.number > most) {
      value(what, fmt::format("{} is not between {} and {}", amount.number, least, most));
    }
  }

  void align(std::int64_t align_value) {
    if (!power_of_two(align_value) || align_value > kMaxAlign)
      value("align", fmt::format("{} is not a power of two up to {}", align_value, kMaxAlign));
  }

  void live(std::string_view what, const std::vector<std::string>& names) {
    for (const std::string& name : names)
      if (!phases_.contains(name))
        fail("P-VALUE", fmt::format("{} of {} names the unknown phase '{}'", what, entry(), name),
             phases_.empty() ? std::string("the component declares no phase")
                             : fmt::format("its phases are {}", fmt::join(phases_, ", ")));
  }

  // ---- one overload for each kind of entry

  void check(const Role& role) {
    if (role.warps < 1 || role.warps > kMaxWarps)
      value("warps", fmt::format("{} is not between 1 and {}", role.warps, kMaxWarps));
    if (!power_of_two(role.align_warps) || role.align_warps > kMaxWarps)
      value("align_warps", fmt::format("{} is not a power of two up to {}", role.align_warps, kMaxWarps));
    for (const int registers : {role.registers_min, role.registers_max})
      if (registers % 8 != 0 || registers < 24 || registers > 256)
        value("registers", fmt::format("{} is not a multiple of 8 from 24 to 256", registers));
    if (role.registers_min > role.registers_max)
      value("registers",
            fmt::format("the least, {}, is above the most, {}", role.registers_min, role.registers_max));
  }

  /// A type's text goes into generated code as it is.
  void type_name(std::string_view what, const std::string& name) {
    if (name.find_first_of(";{}\"'\\#\n\r\t@`$") != std::string::npos)
      value(what, fmt::format("'{}' is not the name of a type", name));
  }

  void type(std::string_view what, const Type& type_value, bool may_be_void) {
    if (type_value.name.empty()) return value(what, "the type has no name");
    type_name(what, type_value.name);
    if (may_be_void && type_value.name == "void" && type_value.size == 0 && type_value.align == 0) return;
    if (type_value.size < 1 || type_value.size > (1 << 20))
      value(what, fmt::format("'{}' has {} bytes", type_value.name, type_value.size));
    else
      size(what, type_value);
    if (!power_of_two(type_value.align))
      value(what, fmt::format("'{}' is aligned to {}, no power of two", type_value.name, type_value.align));
    if (needs_definition(type_value))
      fail("P-SIGNATURE", fmt::format("{} passes a type of its own by value", entry()),
           fmt::format(
               "{} is `{}`; generated code does not see its definition, and a call with a stand-in for it is "
               "not inlined",
               what, type_value.name),
           "pass it by reference or pointer, and an enumeration as its integer");
  }

  /// What the text of a type says of its bytes, and the number beside it.
  void size(std::string_view what, const Type& type_value) {
    const std::optional<TextSize> said = size_by_text(type_value.name);
    if (!said) return;
    if (said->bytes != 0 ? said->bytes != type_value.size : type_value.size % said->count != 0)
      value(what,
            said->bytes != 0 ? fmt::format("'{}' has {} bytes, and {} are stated", type_value.name,
                                           said->bytes, type_value.size)
                             : fmt::format("'{}' has {} elements, and {} bytes are stated", type_value.name,
                                           said->count, type_value.size),
            "pack the component again");
  }

  void check(const Callable& callable) {
    type("result", callable.result, true);
    for (std::size_t i = 0; i < callable.parameters.size(); ++i)
      type(fmt::format("parameter {}", i), callable.parameters[i], false);
    live("phases", callable.phases);
    calls(callable);
  }

  void calls(const Callable& callable) {
    if (std::adjacent_find(callable.calls.begin(), callable.calls.end(), std::greater_equal<>()) !=
        callable.calls.end())
      value("calls", "a name stands twice, or they are not sorted");
    for (const std::string& name : callable.calls) {
      const bool known =
          callable.direction == Direction::kExport &&
          std::any_of(contract_.callables.begin(), contract_.callables.end(), [&](const Callable& other) {
            return other.direction == Direction::kImport && other.name == name;
          });
      if (!known)
        fail("P-VALUE", fmt::format("{} calls '{}', which is no import", entry(), shortened(name)),
             "an export calls the imported callables of its component");
    }
  }

  void check(const Buffer& buffer) {
    amount("bytes", buffer.bytes, 1, std::int64_t{1} << 30);
    align(buffer.align);
    live("live", buffer.live);
  }

  void check(const Ring& ring) {
    const bool owner = ring.direction == Direction::kExport;
    amount("stages_min", ring.stages_min, owner ? 1 : 0, 1024);
    amount("stages_max", ring.stages_max, owner ? 1 : 0, 1024);
    if (ring.stages_min.expression.empty() && ring.stages_max.expression.empty() &&
        ring.stages_max.number != 0 && ring.stages_min.number > ring.stages_max.number)
      value("stages", fmt::format("the least, {}, is above the most, {}", ring.stages_min.number,
                                  ring.stages_max.number));
    if (owner && !ring.stage_bytes)
      fail("P-VALUE", fmt::format("{} does not say how many bytes a stage has", entry()),
           "a ring is placed from the claim of its owner", "state .stage_bytes");
    if (ring.stage_bytes) amount("stage_bytes", *ring.stage_bytes, 1, std::int64_t{1} << 30);
    if (ring.full_arrivals) amount("full_arrivals", *ring.full_arrivals, 1, (1 << 20) - 1);
    if (ring.transaction_bytes) amount("transaction_bytes", *ring.transaction_bytes, 0, (1 << 20) - 1);
    if (ring.empty_arrivals) amount("empty_arrivals", *ring.empty_arrivals, 1, (1 << 20) - 1);
    if (ring.full_parity) amount("full_parity", *ring.full_parity, 0, 1);
    if (ring.empty_parity) amount("empty_parity", *ring.empty_parity, 0, 1);
    scope(ring.scope, kSharedScopes);
    align(ring.align);
    if (ring.tier < 0 || ring.tier > 100)
      value("tier", fmt::format("{} is not between 0 and 100", ring.tier));
    if (ring.weight < 0 || ring.weight > 1000)
      value("weight", fmt::format("{} is not between 0 and 1000", ring.weight));
    live("live", ring.live);
  }

  void check(const Mbarriers& mbarriers) {
    amount("count", mbarriers.count, 1, 4096);
    amount("arrivals", mbarriers.arrivals, 1, (1 << 20) - 1);
    if (mbarriers.first_parity < 0 || mbarriers.first_parity > 1)
      value("first_parity", fmt::format("{} is neither 0 nor 1", mbarriers.first_parity));
    scope(mbarriers.scope, kSharedScopes);
  }

  void check(const NamedBarrier& barrier) {
    amount("threads", barrier.threads, 32, 1024);
    if (barrier.threads.expression.empty() && barrier.threads.number % 32 != 0)
      value("threads", fmt::format("{} is not a multiple of 32", barrier.threads.number));
    live("live", barrier.live);
  }

  void check(const TensorMemory& memory) {
    amount("columns", memory.columns, kMinTensorColumns, kMaxTensorColumns);
    if (memory.columns.expression.empty() && !power_of_two(memory.columns.number))
      value("columns", fmt::format("{} is not a power of two", memory.columns.number));
    live("live", memory.live);
  }

  void check(const Fact& fact) {
    const bool counted = fact.type == FactType::kInteger || fact.type == FactType::kBoolean;
    const bool owner = fact.direction == Direction::kExport;
    if (fact.cpp_type.empty()) value("cpp_type", "the type has no name");
    if (counted && !integer_range(fact.cpp_type))
      value("cpp_type", fmt::format("'{}' is not an integer type of the language", fact.cpp_type));
    if (fact.type == FactType::kReal && fact.cpp_type != "float" && fact.cpp_type != "double")
      value("cpp_type", fmt::format("'{}' is neither float nor double", shortened(fact.cpp_type)));
    if (fact.type == FactType::kText && fact.cpp_type != kTextHandle)
      value("cpp_type", fmt::format("'{}' is not {}, a number in the list of texts", shortened(fact.cpp_type),
                                    kTextHandle));
    if (fact.type == FactType::kReal && !fact.text_value.empty() && !finite_real(fact.text_value))
      value("text_value", fmt::format("'{}' is no finite number", shortened(fact.text_value)));
    if (fact.type == FactType::kText) texts(fact, owner);
    if (fact.type != FactType::kText && !fact.texts.empty()) value("texts", "only a text fact has them");
    if (counted && !fact.text_value.empty()) value("text_value", "only real and text facts have one");
    if (!counted && fact.value) value("value", "real and text facts have a text value");
    if (owner && counted && !fact.value) value("value", "its owner states none");
    if (owner && !counted && fact.text_value.empty()) value("text_value", "its owner states none");
    if (fact.value && !fact.value->expression.empty()) expression("value", fact.value->expression);
    if (fact.type == FactType::kBoolean && fact.value && fact.value->expression.empty() &&
        fact.value->number != 0 && fact.value->number != 1)
      value("value", fmt::format("{} is neither 0 nor 1", fact.value->number));
    if (fact.settable && fact.type == FactType::kReal) return range(fact, owner);
    if (!fact.least.empty() || !fact.most.empty()) value("least", "only a settable real has a range");
    if (fact.settable && fact.type != FactType::kText) return settable(fact, owner);
    if (!fact.domain.empty()) value("domain", "only a settable fact has one");
  }

  /// Those of a settable fact and of a reader are what its code has a case for.
  void texts(const Fact& fact, bool owner) {
    if (owner && fact.settable && fact.texts.empty())
      value("texts", "a settable text lists those that it may be");
    if (!owner && fact.settable) value("settable", "only the owner can declare a fact settable");
    if (!owner && fact.texts.empty()) value("texts", "a reader lists those that it has code for");
    if (owner && !fact.settable && !fact.texts.empty()) value("texts", "a fixed text is one");
    std::set<std::string> seen;
    std::vector<std::string> all = fact.texts;
    if (!fact.text_value.empty()) all.push_back(fact.text_value);
    for (const std::string& text : all)
      if (text.empty() || text.size() > kMaxText ||
          !std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c < 0x7f; }))
        value("texts",
              fmt::format("'{}' has not from 1 to {} printable characters", shortened(text), kMaxText));
    for (const std::string& text : fact.texts)
      if (!seen.insert(text).second) value("texts", fmt::format("'{}' is there twice", shortened(text)));
    if (fact.settable && !seen.contains(fact.text_value))
      value("text_value", fmt::format("'{}' is not among {}", shortened(fact.text_value),
                                      shortened(fmt::format("{}", fmt::join(fact.texts, ", ")))));
  }

  /// Of a settable real: any value may be set that lies in it.
  void range(const Fact& fact, bool owner) {
    if (!owner) return value("settable", "only the owner can declare a fact settable");
    if (!fact.domain.empty()) value("domain", "a real has a range, .least and .most");
    for (const auto& [what, text] : {std::pair{"least", &fact.least}, {"most", &fact.most}})
      if (!finite_real(*text)) return value(what, fmt::format("'{}' is no finite number", shortened(*text)));
    if (*real_of(fact.least) > *real_of(fact.most))
      return value("least", fmt::format("{} is more than {}, the most", fact.least, fact.most));
    const std::optional<double> now = real_of(fact.text_value);
    if (now && std::isfinite(*now) && (*now < *real_of(fact.least) || *now > *real_of(fact.most)))
      value("text_value", fmt::format("{} is not from {} to {}", fact.text_value, fact.least, fact.most));
  }

  void settable(const Fact& fact, bool owner) {
    if (!owner) return value("settable", "only the owner can declare a fact settable");
    if (fact.domain.empty())
      return value("domain", "a settable fact lists the values that it may take", "state .domain");
    if (std::adjacent_find(fact.domain.begin(), fact.domain.end(), std::greater_equal<>{}) !=
        fact.domain.end())
      value("domain", fmt::format("{} is not ascending", fmt::join(fact.domain, ", ")));
    if (!fact.value) return;
    if (!fact.value->expression.empty())
      return value("value", "the default of a settable fact is a number, not an expression");
    if (std::find(fact.domain.begin(), fact.domain.end(), fact.value->number) == fact.domain.end())
      value("value", fmt::format("{} is not among {}", fact.value->number, fmt::join(fact.domain, ", ")));
  }

  void check(const Requirement& requirement) { expression("expression", requirement.expression); }

  void check(const TensorPort& tensor) {
    const bool registers = tensor.space == "registers";
    if (tensor.element.empty()) value("element", "it is not stated");
    if (!registers && tensor.space != "shared" && tensor.space != "tensor_memory")
      value("space", fmt::format("'{}' is none of registers, shared, tensor_memory", tensor.space));
    if (tensor.scope != "warp" && tensor.scope != "warpgroup" && tensor.scope != "block")
      value("scope", fmt::format("'{}' is none of warp, warpgroup, block", tensor.scope));
    if (tensor.layout.empty() && registers)
      fail("P-LAYOUT", fmt::format("{} has no layout", entry()),
           "registers are addressed by thread and value");
    if (tensor.tile.size() > kMaxRank)
      value("tile", fmt::format("it has {} extents, {} are allowed", tensor.tile.size(), kMaxRank));
    else if (tensor_amounts(tensor))
      tensor_values(tensor);
    carrier(tensor, registers);
    if (!tensor.proxy.empty() && tensor.proxy != "async")
      value("proxy",
            fmt::format("'{}' is not async; left out, the tile is read by ordinary loads", tensor.proxy));
    if (tensor.align < 0 || tensor.align > kMaxAlign || (tensor.align & (tensor.align - 1)) != 0)
      value("align", fmt::format("{} is no power of two up to {}", tensor.align, kMaxAlign));
    if (tensor.space != "shared" && (!tensor.proxy.empty() || tensor.align != 0))
      value(tensor.align != 0 ? "align" : "proxy", "it is for a tile in shared memory");
  }

  /// True if every number of the port is one, or an expression whose names the component knows.
  bool tensor_amounts(const TensorPort& tensor) {
    bool good = true;
    const auto expressions = [&](std::string_view what, const std::string& text) {
      good = expression(what, text) && good;
      for (const std::string& name : names_of(Amount{0, text}))
        if (name.ends_with(".stages")) {
          fail("P-EXPRESSION", fmt::format("{} of {} reads the placement", what, entry()),
               fmt::format("'{}' is known after placement, and tiles are routed before it", name),
               "state it by numbers and facts");
          good = false;
        }
    };
    for (const Amount& extent : tensor.tile)
      if (!extent.expression.empty()) expressions("tile", extent.expression);
    for (const auto& [what, amount] :
         {std::pair{"replicas", &tensor.replicas}, {"generations", &tensor.generations}})
      if (*amount && !(*amount)->expression.empty()) expressions(what, (*amount)->expression);
    if (tensor.layout.empty()) return good;
    const layout::Result<layout::LayoutText> parsed = layout::parse_layout_text(tensor.layout);
    if (!parsed) {
      fail("P-LAYOUT", fmt::format("layout of {} cannot be read", entry()),
           fmt::format("'{}', {}", shortened(tensor.layout), parsed.error));
      return false;
    }
    for (const layout::LayoutText::Number& number : parsed->expressions())
      expressions(fmt::format("column {} of the layout", number.column), number.text);
    return good;
  }

  /// What facts of others or of the composition change is judged when they are known.
  void tensor_values(const TensorPort& tensor) {
    for (const std::string& name : names_of(tensor))
      if (!fixed_.contains(name)) return;
    const TensorResolution resolved = resolve(tensor, fixed_);
    if (resolved) return;
    const TensorFault& fault = resolved.fault;
    fail(fault.clause, fmt::format("{} of {} {}", fault.about, entry(), fault.what), fault.reason);
  }

  void carrier(const TensorPort& tensor, bool registers) {
    if (tensor.via.empty()) {
      if (registers) value("via", "a tensor in registers is carried by a callable");
      return;
    }
    const auto found = std::find_if(contract_.callables.begin(), contract_.callables.end(),
                                    [&](const Callable& callable) { return callable.name == tensor.via; });
    if (found == contract_.callables.end())
      return fail("P-VALUE", fmt::format("{} is carried by the unknown callable '{}'", entry(), tensor.via));
    const auto count = static_cast<int>(found->parameters.size());
    if (tensor.parameter < 0 || tensor.parameter >= count)
      value("parameter", fmt::format("callable '{}' has {} parameters, numbered from 0; {} is none of them",
                                     tensor.via, count, tensor.parameter));
  }

  void check(const Phase& phase) {
    live("after", phase.after);
    live("after_previous", phase.after_previous);
  }

  /// The first `count` of kScopes: an mbarrier in shared memory is in reach of a cluster at most.
  void scope(const std::string& stated, std::size_t count) {
    const auto known = std::span(kScopes).first(count);
    if (!stated.empty() && std::find(known.begin(), known.end(), stated) == known.end())
      value("scope", fmt::format("'{}' is none of {}", stated, fmt::join(known, ", ")));
  }

  void check(const Counter& counter) {
    if (counter.initial) amount("initial", *counter.initial, 0, std::int64_t{1} << 32);
    if (counter.arrivals) amount("arrivals", *counter.arrivals, 1, std::int64_t{1} << 32);
    scope(counter.scope, std::size(kScopes));
    if (!is_pointer(counter.field))
      value("field", fmt::format("'{}' is no pointer among the component's parameters", counter.field),
            "let the caller lend the word through a pointer of PIPELINK_PARAMETERS");
    if (counter.direction != Direction::kExport) return;
    if (counter.scope.empty())
      value("scope", "its owner states none", "state .scope = \"device\" or another");
    if (!counter.initial || !counter.arrivals) value("initial or arrivals", "its owner states none");
  }

  void check(const Scratch& scratch) {
    amount("bytes", scratch.bytes, 1, kMaxScratch);
    if (!power_of_two(scratch.align) || scratch.align > kMaxScratchAlign)
      value("align", fmt::format("{} is not a power of two up to {}", scratch.align, kMaxScratchAlign));
    if (!is_pointer(scratch.field))
      value("field", fmt::format("'{}' is no pointer among the component's parameters", scratch.field),
            "have a pointer in the struct of PIPELINK_PARAMETERS, where the address is put");
    for (const Scratch& other : contract_.scratch)
      if (&other < &scratch && other.field == scratch.field)
        value("field", fmt::format("'{}' is that of scratch {} too", scratch.field, other.name));
  }

  bool is_pointer(const std::string& field) const {
    return contract_.parameters &&
           std::any_of(contract_.parameters->fields.begin(), contract_.parameters->fields.end(),
                       [&](const Field& f) { return f.name == field && f.kind == FieldKind::kPointer; });
  }

  void grid() {
    if (!contract_.grid) return;
    kind_ = "grid";
    name_.clear();
    where_ = contract_.grid->where;
    const std::vector<std::int64_t>& c = contract_.grid->cluster;
    if (c.empty()) return;
    if (c.size() != 3 || c[0] < 1 || c[0] > kMaxCluster || c[1] != 1 || c[2] != 1)
      value("cluster", fmt::format("({}) is not (n, 1, 1) with n from 1 to {}: the grid has one dimension",
                                   fmt::join(c, ", "), kMaxCluster));
  }

  void check(const Steps& steps) {
    const auto named = [&](const auto& list) {
      return std::count_if(list.begin(), list.end(), [&](const auto& entry) {
        if constexpr (requires { entry.direction; })
          if (entry.direction != Direction::kExport) return false;
        return entry.name == steps.name;
      });
    };
    const auto roles = named(contract_.roles), exports = named(contract_.callables);
    if (roles + exports != 1)
      return fail("P-STEPS",
                  fmt::format("'{}' is {} this component", steps.name,
                              roles + exports == 0 ? "no role and no export of" : "a role and an export of"),
                  {}, "name the role or the export whose steps these are");
    if (exports == 1 && !steps.loop.empty())
      fail("P-STEPS", fmt::format("{} has a loop, and is of an export", entry()),
           "an export returns to its caller; the loop is a role's", "state what one call does in .once");
    step_list("once", steps.once);
    step_list("loop", steps.loop);
  }

  void step_list(std::string_view key, const std::string& text) {
    const ParsedSteps parsed = parse_steps(text);
    if (!parsed)
      return fail("P-STEPS", fmt::format("{} of {} cannot be read", key, entry()),
                  fmt::format("'{}', {}", shortened(text), parsed.error),
                  "write steps such as `wait full; (arrive empty)? * x 2`");
    for (const Step& step : *parsed.value) step_check(key, step);
  }

  void step_check(std::string_view key, const Step& step) {
    amount(fmt::format("the count of a step in {}", key), step.count, 1, kMaxRepeats);
    for (const Step& inner : step.inner) step_check(key, inner);
    std::string error;
    if (step.inner.empty() && !step_target(contract_, step, error))
      fail("P-STEPS",
           fmt::format("{} of {} has the step `{}`", key, entry(), shortened(step.word + " " + step.name)),
           error, "the words are those of the handle");
  }

  // ---- circles

  void fact_cycles() {
    std::map<std::string, const Fact*> by_name;
    std::vector<std::string> names;
    for (const Fact& fact : contract_.facts) {
      by_name[fact.name] = &fact;
      names.push_back(fact.name);
    }
    const std::vector<std::string> circle = first_circle(names, [&](const std::string& name) {
      std::vector<std::string> used;
      if (by_name[name]->value) used = names_of(*by_name[name]->value);
      std::erase_if(used, [&](const std::string& other) { return !by_name.contains(other); });
      return used;
    });
    if (circle.empty()) return;
    kind_ = "fact";
    name_ = circle.front();
    where_ = by_name[circle.front()]->where;
    fail("P-EXPRESSION", fmt::format("the value of {} depends on itself", entry()),
         fmt::format("{}", fmt::join(circle, " -> ")));
  }

  void phase_cycles() {
    std::map<std::string, const Phase*> by_name;
    std::vector<std::string> names;
    for (const Phase& phase : contract_.phases) {
      by_name[phase.name] = &phase;
      names.push_back(phase.name);
    }
    const std::vector<std::string> circle = first_circle(names, [&](const std::string& name) {
      std::vector<std::string> before = by_name[name]->after;
      std::erase_if(before, [&](const std::string& other) { return !by_name.contains(other); });
      return before;
    });
    if (circle.empty()) return;
    kind_ = "phase";
    name_ = circle.front();
    where_ = by_name[circle.front()]->where;
    fail("P-VALUE", fmt::format("{} begins after itself", entry()),
         fmt::format("{}", fmt::join(circle, " after ")));
  }

  // ---- parameters and host

  void parameters() {
    if (!contract_.parameters) return;
    const ParameterRegion& region = *contract_.parameters;
    kind_ = "parameters";
    name_.clear();
    where_ = region.where;
    if (region.type.empty()) value("type", "it is not stated");
    if (leaves_include_path(region.header))
      value("header", fmt::format("'{}' is not a path below an include directory", region.header));
    type_name("type", region.type);
    struct_layout("parameters", region);
  }

  /// A struct of the public header and its fields, as the device pass laid it out.
  template <class Struct>
  void struct_layout(std::string_view what, const Struct& region) {
    for (const Field& field : region.fields)
      if (!is_identifier(field.name))
        value("field list", fmt::format("'{}' is not a name of C++", field.name));
    if (region.size < 1 || region.size > 4096)
      value("size", fmt::format("{} is not between 1 and 4096", region.size));
    if (!power_of_two(region.align) || region.align > 128)
      value("align", fmt::format("{} is not a power of two up to 128", region.align));
    std::set<std::string> seen;
    for (const Field& field : region.fields) {
      if (field.name.empty() || !seen.insert(field.name).second)
        fail("P-DUPLICATE", fmt::format("field '{}' of the {} is listed twice", field.name, what));
      if (!inside(field, region.size))
        value(fmt::format("field '{}'", field.name), fmt::format("offset {} and size {} do not fit {} bytes",
                                                                 field.offset, field.size, region.size));
      else if (!kind_fits(field))
        value(fmt::format("field '{}'", field.name),
              fmt::format("there is no {} of {} bytes", enum_name(field.kind), field.size));
    }
    if (region.size <= 4096) unlisted_fields(region);
  }

  static bool inside(const Field& field, std::int64_t size) {
    return field.offset >= 0 && field.size >= 1 && field.offset <= size && field.size <= size - field.offset;
  }

  static bool kind_fits(const Field& field) {
    switch (field.kind) {
      case FieldKind::kPointer:
        return field.size == 8;
      case FieldKind::kBoolean:
        return field.size == 1;
      case FieldKind::kReal:
        return field.size == 4 || field.size == 8;
      case FieldKind::kSigned:
      case FieldKind::kUnsigned:
        return field.size == 1 || field.size == 2 || field.size == 4 || field.size == 8;
      case FieldKind::kBytes:
        break;
    }
    return true;
  }

  /// A gap between the listed fields that no alignment explains is a field that is not listed.
  template <class Struct>
  void unlisted_fields(const Struct& region) {
    std::vector<Field> fields = region.fields;
    for (const Field& field : fields)
      if (!inside(field, region.size)) return;  // told
    std::sort(fields.begin(), fields.end(),
              [](const Field& a, const Field& b) { return a.offset < b.offset; });
    std::int64_t end = 0;
    std::string before = "the beginning";
    const auto gap = [&](std::int64_t to, const std::string& after) {
      if (to - end >= region.align && region.align > 0)
        value("field list",
              fmt::format("{} bytes between {} and {} belong to no field, and padding is less than the "
                          "struct's alignment, {}",
                          to - end, before, after, region.align),
              "list every field of the struct: the host header is made from the list");
    };
    for (const Field& field : fields) {
      gap(field.offset, fmt::format("field '{}'", field.name));
      end = std::max(end, field.offset + field.size);
      before = fmt::format("field '{}'", field.name);
    }
    gap(region.size, "the end");
  }

  void host() {
    if (!contract_.host) return;
    const HostProvider& provider = *contract_.host;
    kind_ = "host";
    name_.clear();
    where_ = provider.where;
    if (!valid_cpp_name(provider.symbol) || provider.symbol.find(':') != std::string::npos)
      fail("P-HOST", fmt::format("'{}' is not a symbol for the host provider", provider.symbol));
    if (provider.arguments.empty())
      fail("P-HOST", "the host provider does not name the type of its arguments");
    if (provider.header.empty() || leaves_include_path(provider.header))
      fail("P-HOST", "the host provider does not name its header",
           fmt::format("'{}' is not a path below an include directory", provider.header));
    if (provider.abi < 1)
      fail("P-HOST", "the host provider has no ABI version", fmt::format("its value is {}", provider.abi));
    if (!contract_.parameters)
      fail("P-HOST", "the host provider has no parameters to fill", {}, "declare PIPELINK_PARAMETERS");
    if (provider.size != 0 || provider.align != 0 || !provider.fields.empty())
      struct_layout("arguments", provider);
  }

  const Contract& contract_;
  Scope fixed_;  ///< facts whose values no composition changes
  Diagnostics diagnostics_;
  std::set<std::string> visible_, not_integer_, phases_;
  std::string_view kind_;
  std::string name_;
  SourceSpan where_;
};

}  // namespace

Diagnostics validate(const Contract& contract) {
  return Validator(contract).run();
}

}  // namespace pipelink::contract
