#include "packager/capture/ptx_code.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "packager/capture/ptx_text.h"

namespace pipelink {
namespace {

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '%' || c == '.';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::string without_comments(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = std::string_view::npos;
    if (text.substr(at, 2) == "//")
      end = text.find('\n', at);
    else if (text.substr(at, 2) == "/*" && (end = text.find("*/", at + 2)) != std::string_view::npos)
      end += 2;
    else {
      out += text[at++];
      continue;
    }
    out += ' ';
    at = std::min(end, text.size());
  }
  return out;
}

/// One line of code in pieces, as views into the body.
struct Statement {
  std::string_view opcode;
  std::vector<std::string_view> operands;
  std::size_t scope = 0;   ///< index into Code::scopes
  int file = 0, line = 0;  ///< of the `.loc` before it
};

/// Braces within a function: inline assembly and calls declare registers of the same names again and again.
struct Scope {
  std::size_t parent = 0;
  std::set<std::string_view> registers;
};

struct Code {
  std::vector<Statement> statements;
  std::vector<Scope> scopes{1};  ///< the function's own first
};

/// Splits at commas outside brackets.
std::vector<std::string_view> split_operands(std::string_view text) {
  std::vector<std::string_view> out;
  int depth = 0;
  std::size_t begin = 0;
  for (std::size_t at = 0; at <= text.size(); ++at) {
    const char c = at < text.size() ? text[at] : ',';
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
    if (c != ',' || (depth > 0 && at < text.size())) continue;
    if (const std::string_view operand = trim_ptx(text.substr(begin, at - begin)); !operand.empty())
      out.push_back(operand);
    begin = at + 1;
  }
  return out;
}

/// Names of ".reg .b64 %a, %b"; not of the function's own ranges, "%r<98>".
std::set<std::string_view> declared(std::string_view text) {
  std::set<std::string_view> out;
  for (std::string_view name : split_operands(text)) {
    if (const std::size_t space = name.find_last_of(" \t\n"); space != std::string_view::npos)
      name = name.substr(space + 1);
    if (name.find('<') == std::string_view::npos) out.insert(name);
  }
  return out;
}

/// ".loc 1 23 4" and, behind an inlined call, ", function_name …, inlined_at 1 40 3"; it ends with its line.
void read_loc(std::string_view text, int& file, int& line) {
  const auto number = [&](int& value) {
    text = trim_ptx(text);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{}) value = 0;
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  };
  number(file);
  number(line);
}

/// Braces that open or close a scope stand where a statement may begin; those of an operand do not.
Code parse(std::string_view body) {
  constexpr std::size_t kWord = 4;  // ".loc"
  Code out;
  std::size_t scope = 0;
  int file = 0, line = 0;
  for (std::size_t at = 0; at < body.size();) {
    if (is_ptx_space(body[at]) || body[at] == '{' || body[at] == '}' || body[at] == ';') {
      if (body[at] == '{') {
        out.scopes.push_back({scope, {}});
        scope = out.scopes.size() - 1;
      } else if (body[at] == '}') {
        scope = out.scopes[scope].parent;
      }
      ++at;
      continue;
    }
    if (begins_loc(body.substr(at))) {
      const std::size_t stop = std::min(body.find('\n', at), body.size());
      read_loc(body.substr(at + kWord, stop - at - kWord), file, line);
      at = stop;
      continue;
    }
    std::size_t end = at;
    while (end < body.size() && is_word(body[end])) ++end;
    std::size_t next = end;
    while (next < body.size() && is_ptx_space(body[next])) ++next;
    if (end > at && body.substr(next, 1) == ":" && body.substr(next, 2) != "::") {  // a label
      at = next + 1;
      continue;
    }
    const std::size_t stop = std::min(body.find(';', at), body.size());
    std::string_view text = trim_ptx(body.substr(at, stop - at));
    at = stop + 1;
    if (text.starts_with('@')) {  // a guard
      std::size_t guard = 1;
      while (guard < text.size() && (is_word(text[guard]) || text[guard] == '!')) ++guard;
      text = trim_ptx(text.substr(guard));
    }
    if (text.starts_with(".reg")) out.scopes[scope].registers.merge(declared(text.substr(4)));
    std::size_t word = 0;
    while (word < text.size() && (is_word(text[word]) || text[word] == ':')) ++word;  // mbarrier.…::cluster
    if (word == 0 || text.front() == '.') continue;                                   // .reg, .param, .loc
    out.statements.push_back({text.substr(0, word), split_operands(text.substr(word)), scope, file, line});
  }
  return out;
}

bool begins_with_any(std::string_view text, const auto& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view prefix) { return text.starts_with(prefix); });
}

/// Whether the first operand is no register that the instruction sets.
bool sets_nothing(const Statement& s) {
  static constexpr std::array<std::string_view, 6> kReads{"bar.",       "barrier.",  "red.",
                                                          "setmaxnreg", "nanosleep", "bra"};
  return s.operands.size() < 2 || s.operands[0].front() == '[' || begins_with_any(s.opcode, kReads);
}

bool is_of_contracts(std::string_view opcode) {
  static constexpr std::array<std::string_view, 14> kKinds{
      "bar.",   "barrier.", "mbarrier.", "setmaxnreg", "mapa",      "cp.async", "cp.reduce",
      "wgmma.", "tcgen05.", "griddep",   "nanosleep",  "multimem.", "ldmatrix", "stmatrix"};
  if (begins_with_any(opcode, kKinds)) return true;
  const bool memory = opcode.starts_with("ld.") || opcode.starts_with("st.") || opcode.starts_with("atom.") ||
                      opcode.starts_with("red.");
  return memory &&
         (opcode.find(".shared") != std::string_view::npos ||
          opcode.find(".acquire") != std::string_view::npos ||
          opcode.find(".volatile") != std::string_view::npos ||
          opcode.find(".gpu") != std::string_view::npos || opcode.find(".sys") != std::string_view::npos);
}

std::optional<std::int64_t> number(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  if (text.ends_with('U')) text.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  const auto whole = static_cast<std::int64_t>(value);
  return negative ? -whole : whole;
}

/// Whether the result still tells one thread of the block from another as the operand does. Low bits alone do
/// not: they are the same in every warpgroup.
bool keeps_thread(std::string_view opcode, const std::optional<std::int64_t>& with) {
  static constexpr std::array<std::string_view, 7> kKeep{"mov.", "cvt.", "shfl.", "shr.",
                                                         "div.", "add.", "sub."};
  constexpr std::int64_t kHighestBit = 512;  // of a thread's number
  return begins_with_any(opcode, kKeep) || (opcode.starts_with("and.") && with && (*with & kHighestBit) != 0);
}

class Flow {
 public:
  explicit Flow(std::string_view body) : code_(parse(body)) {
    bool changed = true;
    for (int round = 0; changed && round < kRounds; ++round) {  // loops carry values backwards
      changed = false;
      callee_ = {};
      for (const Statement& s : code_.statements) changed |= pass(s);
    }
    settled_ = !changed;
  }

  std::vector<PtxInstruction> notable(std::string_view function,
                                      const std::map<int, std::string>& files) const {
    std::vector<PtxInstruction> out;
    for (const Statement& s : code_.statements) {
      if (!is_of_contracts(s.opcode) && !(settled_ && is_of_threads(s))) continue;
      PtxInstruction instruction{std::string(function), std::string(s.opcode), {}, {}};
      if (const auto file = files.find(s.file); file != files.end())
        instruction.where = {file->second, s.line};
      for (const std::string_view operand : s.operands) {
        PtxOperand use{std::string(operand), origin_of(operand, s.scope)};
        if (!settled_) use.origin.unknown = true;
        instruction.operands.push_back(std::move(use));
      }
      out.push_back(std::move(instruction));
    }
    return out;
  }

 private:
  static constexpr int kRounds = 64;

  /// "setp.eq.u32 %p1, %tid.x, 0", "add.s32 %r2, %r1, %ntid.x", "mad.lo.s32 %r2, %ctaid.x, %ntid.x, %tid.x"
  bool is_of_threads(const Statement& s) const {
    const bool compares = s.opcode.starts_with("setp."), multiplies = s.opcode.starts_with("mad."),
               steps = s.opcode.starts_with("add.") || multiplies;
    if ((!compares && !steps) || s.operands.size() != (multiplies ? 4U : 3U)) return false;
    PtxOrigin a = origin_of(s.operands[1], s.scope), b = origin_of(s.operands[2], s.scope);
    if (multiplies) {  // a product that is added
      if (b.thread == "%ntid.x") std::swap(a, b);
      if (a.thread == "%ntid.x") return !origin_of(s.operands[3], s.scope).only_constants();
      return false;
    }
    if (compares && a.whole_thread && b.whole_thread) return false;  // every thread is one of the block
    for (const auto& [one, other] : {std::pair(&a, &b), std::pair(&b, &a)}) {
      if (one->thread == "%ntid.x" && !other->only_constants()) return true;
      if (compares && one->thread == "%tid.x" && other->value)
        return !one->whole_thread || tells_threads(s.opcode, *other->value);
    }
    return false;
  }

  /// Not so of "threadIdx.x < 1024", which is so of every thread of any block.
  static bool tells_threads(std::string_view opcode, std::int64_t with) {
    constexpr std::int64_t kMostThreads = 1024;
    const bool equal = opcode.starts_with("setp.eq.") || opcode.starts_with("setp.ne.");
    return equal || with < kMostThreads - 1 || with > kMostThreads;
  }

  /// Words of an operand: "[%r1+8]" has %r1 and 8.
  static void words(std::string_view operand, const auto& use) {
    for (std::size_t at = 0; at < operand.size();) {
      if (!is_word(operand[at])) {
        ++at;
        continue;
      }
      const std::size_t begin = at;
      while (at < operand.size() && is_word(operand[at])) ++at;
      const bool offset = begin > 0 && (operand[begin - 1] == '+' || operand[begin - 1] == '-') &&
                          begin > 1 && is_word(operand[begin - 2]);
      if (!offset) use(operand.substr(begin, at - begin));
    }
  }

  PtxOrigin origin_of(std::string_view operand, std::size_t scope) const {
    PtxOrigin out;
    bool first = true;
    words(operand, [&](std::string_view word) {
      PtxOrigin one;
      if (is_digit(word.front()) || operand == "-" + std::string(word)) {
        one.constants = true;
        one.value = number(operand == word ? word : operand);
      } else if (const auto found = registers_.find(key(word, scope)); found != registers_.end()) {
        one = found->second;
      } else if (word.front() == '%' && !is_digit(word.back())) {  // %tid.x
        one.unknown = true;
        if (word == "%tid.x" || word == "%ntid.x") one.thread = word;
        one.whole_thread = !one.thread.empty();
      } else if (word.front() != '%') {
        one.from.emplace(word);
      }
      if (first) {
        out = std::move(one);
        first = false;
      } else {
        merge(out, one);
      }
    });
    return out;
  }

  /// Adds what `more` has; whether that was anything new. Two values are no value.
  static bool merge(PtxOrigin& into, const PtxOrigin& more) {
    const PtxOrigin before = into;
    into.constants |= more.constants;
    into.unknown |= more.unknown;
    into.from.insert(more.from.begin(), more.from.end());
    if (into.value != more.value) into.value.reset();
    if (into.thread != more.thread) into.thread.clear();
    into.whole_thread &= more.whole_thread && !into.thread.empty();
    return before.constants != into.constants || before.unknown != into.unknown ||
           before.from.size() != into.from.size() || before.value != into.value ||
           before.thread != into.thread || before.whole_thread != into.whole_thread;
  }

  bool set(std::string_view target, std::size_t scope, const PtxOrigin& origin) {
    bool changed = false;
    words(target, [&](std::string_view name) {
      if (is_digit(name.front()) || name == "_") return;
      const auto [found, inserted] = registers_.emplace(key(name, scope), origin);
      changed |= inserted || merge(found->second, origin);
    });
    return changed;
  }

  bool pass(const Statement& s) {
    if (s.opcode.starts_with("call")) {
      callee_ = {};
      for (const std::string_view operand : s.operands)
        if (callee_.empty() && is_word(operand.front()) && operand.front() != '%') callee_ = operand;
      return false;
    }
    if (sets_nothing(s)) return false;
    PtxOrigin origin;
    if (s.opcode.starts_with("ld.param") && s.operands[1].starts_with("[retval")) {
      if (callee_.empty())
        origin.unknown = true;
      else
        origin.from.emplace(callee_);
    } else if (s.opcode.starts_with("ld") || s.opcode.starts_with("atom") ||
               s.opcode.starts_with("mbarrier.") || s.opcode.starts_with("tcgen05.") ||
               s.opcode.starts_with("elect")) {
      origin.unknown = true;
    } else {
      bool first = true;
      for (std::size_t k = 1; k < s.operands.size(); ++k) {
        PtxOrigin one = origin_of(s.operands[k], s.scope);
        if (one.constants || one.unknown || !one.from.empty()) {
          if (first)
            origin = std::move(one);
          else
            merge(origin, one);
          first = false;
        }
      }
      if (!s.opcode.starts_with("mov") && !s.opcode.starts_with("cvt")) origin.value.reset();
      if (first) return false;  // of registers that nothing has set yet
      const bool same = s.opcode.starts_with("mov.") || s.opcode.starts_with("cvt.");
      const bool whole = same && origin_of(s.operands[1], s.scope).whole_thread;
      origin.thread = thread_of(s);
      origin.whole_thread = whole && !origin.thread.empty();
    }
    return set(s.operands[0], s.scope, origin);
  }

  std::string thread_of(const Statement& s) const {
    PtxOrigin from = origin_of(s.operands[1], s.scope), with;
    if (s.operands.size() > 2) with = origin_of(s.operands[2], s.scope);
    if (s.opcode.starts_with("mul.") || s.opcode.starts_with("shl.")) {  // blockDim.x * gridDim.x
      const bool either = s.opcode.starts_with("mul.") && with.thread == "%ntid.x";
      return from.thread == "%ntid.x" || either ? "%ntid.x" : "";
    }
    const bool alone = s.operands.size() == 2 || with.only_constants();
    return alone && keeps_thread(s.opcode, with.value) ? std::move(from.thread) : std::string();
  }

  using Key = std::pair<std::size_t, std::string_view>;  ///< the scope that declares a register, and its name

  Key key(std::string_view name, std::size_t scope) const {
    while (scope != 0 && !code_.scopes[scope].registers.contains(name)) scope = code_.scopes[scope].parent;
    return {scope, name};
  }

  Code code_;
  std::map<Key, PtxOrigin> registers_;
  std::string_view callee_;
  bool settled_ = false;
};

}  // namespace

std::string PtxInstruction::text() const {
  std::string out = opcode;
  for (std::size_t k = 0; k < operands.size(); ++k) {
    std::string operand = operands[k].text;
    const bool address = operand.starts_with('[');
    const std::size_t name = address ? 1 : 0;
    if (const auto& value = operands[k].origin.value;
        value && !is_digit(operand[name]) && operand.find_first_of("+-,{") == std::string::npos)
      operand = address ? "[" + std::to_string(*value) + "]" : std::to_string(*value);
    out += (k == 0 ? " " : ", ") + operand;
  }
  return out;
}

std::vector<PtxInstruction> ptx_code(std::string_view function, std::string_view body,
                                     const std::map<int, std::string>& files) {
  const std::string text = without_comments(body);
  return Flow(text).notable(function, files);
}

}  // namespace pipelink
