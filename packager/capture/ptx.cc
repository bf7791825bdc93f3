#include "packager/capture/ptx.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <unordered_set>

#include "packager/base/sha256.h"
#include "packager/capture/ptx_text.h"

namespace pipelink {
namespace {

constexpr std::string_view kRecordPrefix = "pipelink-record/";
constexpr std::int64_t kMaxVariable = std::int64_t{1} << 40;

bool is_word(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$' ||
         c == '%';
}

/// Splits into words, `.directives` and single characters; comments, blanks and `.loc` lines are left out.
class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::size_t position() const { return at_; }
  void move_to(std::size_t position) { at_ = position; }

  /// The next token, empty at the end.
  std::string_view next() {
    skip();
    if (at_ >= text_.size()) return {};
    const std::size_t begin = at_++;
    if (text_[begin] == '"') {
      while (at_ < text_.size() && text_[at_++] != '"') {
      }
    } else if (is_word(text_[begin]) || text_[begin] == '.') {
      while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    }
    return text_.substr(begin, at_ - begin);
  }

  /// Moves behind the next `stop` outside quotes and braces; false at the end of the text.
  bool skip_past(char stop) {
    int depth = 0;
    while (true) {
      const std::string_view token = next();
      if (token.empty()) return false;
      if (depth == 0 && token[0] == stop) return true;
      if (token[0] == '{') ++depth;
      if (token[0] == '}' && --depth < 0) return false;
    }
  }

 private:
  void skip() {
    while (at_ < text_.size()) {
      if (is_ptx_space(text_[at_])) {
        ++at_;
      } else if (text_.substr(at_).starts_with("//") || begins_loc(text_.substr(at_))) {
        at_ = std::min(text_.find('\n', at_), text_.size());
      } else if (text_.substr(at_).starts_with("/*")) {
        const std::size_t end = text_.find("*/", at_ + 2);
        at_ = end == std::string_view::npos ? text_.size() : end + 2;
      } else {
        return;
      }
    }
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

std::int64_t width_of(std::string_view type) {
  if (type == ".pred") return 1;
  if (type == ".v2") return 2;
  if (type == ".v4") return 4;
  std::int64_t bits = 0;
  if (type.size() < 3 || std::string_view("busf").find(type[1]) == std::string_view::npos) return 0;
  const auto [end, error] = std::from_chars(type.data() + 2, type.data() + type.size(), bits);
  if (error != std::errc{} || bits < 8 || bits > 128 || bits % 8 != 0) return 0;
  return bits / 8;  // f16x2, b8x16 and the like end behind the digits
}

struct Linkage {
  bool visible = false, weak = false, external = false;
};

/// The declared variable with the text of its initial value.
struct Variable {
  PtxVariable facts;
  std::string_view type, initial;
};

/// `declaration` runs from the state space to the ';', both left out: ".align 4 .b8 table[16] = {…}".
Variable parse_variable(std::string_view space, std::string_view declaration, const Linkage& linkage) {
  Variable variable;
  PtxVariable& facts = variable.facts;
  facts.space = space;
  facts.visible = linkage.visible;
  facts.weak = linkage.weak;
  facts.external = linkage.external;
  if (const std::size_t equals = declaration.find('='); equals != std::string_view::npos) {
    variable.initial = trim_ptx(declaration.substr(equals + 1));
    declaration = trim_ptx(declaration.substr(0, equals));
  }
  variable.type = declaration;
  std::int64_t element = 1, count = 1;
  Lexer lexer(declaration);
  for (std::string_view token = lexer.next(); !token.empty(); token = lexer.next()) {
    std::int64_t number = 0;
    if (token == ".align") {
      const std::string_view value = lexer.next();
      std::from_chars(value.data(), value.data() + value.size(), facts.align);
    } else if (token[0] == '.') {
      if (const std::int64_t width = width_of(token); width > 0)
        element = std::min(element * width, kMaxVariable);
    } else if (token == "[") {
      const std::string_view value = lexer.next();
      if (value == "]")
        count = 0;
      else if (std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc{} &&
               number >= 0)
        count = number > 0 && count > kMaxVariable / number ? kMaxVariable : count * number;
    } else if (is_word(token[0]) && facts.name.empty()) {
      facts.name = token;
    }
  }
  facts.size = count > kMaxVariable / element ? kMaxVariable : count * element;
  return variable;
}

/// The bytes of an initial value "{1, 2, 3}"; what is left out at its end is zero and not given.
std::string bytes_of(std::string_view initial) {
  std::string bytes;
  const char* at = initial.data();
  const char* const end = at + initial.size();
  while (at < end) {
    if (*at < '0' || *at > '9') {
      ++at;
      continue;
    }
    unsigned value = 0;
    const auto parsed = std::from_chars(at, end, value);
    if (parsed.ec != std::errc{} || value > 255) return {};
    bytes += static_cast<char>(value);
    at = parsed.ptr;
  }
  return bytes;
}

bool begins_as_record(std::string_view initial) {
  static const std::string prefix = [] {
    std::string text = "{";
    for (const char c : kRecordPrefix)
      text += fmt::format("{}{}", text.size() > 1 ? ", " : "", static_cast<int>(c));
    return text;
  }();
  return initial.starts_with(prefix);
}

bool compilers_own(std::string_view name) {
  return name.starts_with("$str") || name.starts_with("__unnamed_") || name.starts_with("__cudart_");
}

struct Body {
  std::string name;
  std::string_view header, text;
};

class Parser {
 public:
  Parser(std::string_view text, std::string_view name) : text_(text), name_(name), lexer_(text) {}

  Outcome<PtxFacts> run() {
    if (!module())
      return make_error("I-OBJECT", fmt::format("the PTX twin in '{}' cannot be read", name_), {}, fault_);
    for (const Body& body : bodies_) {
      shared_in(body);
      std::vector<PtxInstruction> code = ptx_code(body.name, body.text, files_);
      std::move(code.begin(), code.end(), std::back_inserter(facts_.code));
    }
    finish_variables();
    finish_functions();
    finish_names();
    return std::move(facts_);
  }

 private:
  bool fail(std::string why) {
    fault_ = std::move(why);
    return false;
  }

  bool module() {
    Linkage linkage;
    while (true) {
      const std::string_view token = lexer_.next();
      if (token.empty()) break;
      if (token == ".version")
        facts_.version = trim_ptx(line());
      else if (token == ".target")
        facts_.target = target(line());
      else if (token == ".file")
        file(line());
      else if (token == ".address_size")
        line();
      else if (token == ".extern")
        linkage.external = true;
      else if (token == ".visible")
        linkage.visible = true;
      else if (token == ".weak" || token == ".common")
        linkage.weak = true;
      else if (token == ".func" || token == ".entry") {
        if (!function(token == ".entry", linkage)) return false;
        linkage = {};
      } else if (token == ".global" || token == ".const" || token == ".shared") {
        if (!variable(token.substr(1), linkage)) return false;
        linkage = {};
      } else if (token == ".section") {
        if (!lexer_.skip_past('{')) return fail("a section has no '{'");
        if (!lexer_.skip_past('}')) return fail("a section has no end");
      } else if (token == ".pragma" || token == ".alias" || token == ".tex") {
        if (!lexer_.skip_past(';')) return fail(fmt::format("'{}' has no end", token));
      } else {
        return fail(fmt::format("'{}' is no module-level statement", token.substr(0, 40)));
      }
    }
    return facts_.version.empty() || facts_.target.empty() ? fail("it states no version or no target") : true;
  }

  std::string_view line() {
    const std::size_t begin = lexer_.position();
    const std::size_t end = std::min(text_.find('\n', begin), text_.size());
    lexer_.move_to(end);
    return text_.substr(begin, end - begin);
  }

  /// `1 "kernel.cu"`, perhaps with a time and a size behind it. No path of a machine goes into messages.
  void file(std::string_view rest) {
    const std::string_view number = trim_ptx(rest);
    int index = 0;
    std::from_chars(number.data(), number.data() + number.size(), index);
    const std::size_t open = rest.find('"'), close = rest.rfind('"');
    if (open == std::string_view::npos || close == open) return;
    std::string_view path = rest.substr(open + 1, close - open - 1);
    if (path.starts_with('/')) path = path.substr(path.rfind('/') + 1);
    files_[index] = path;
  }

  static std::string_view target(std::string_view rest) { return trim_ptx(rest.substr(0, rest.find(','))); }

  /// Bytes of each of ".param .b32 a, .param .align 8 .b8 b[16]".
  static std::vector<std::int64_t> parameter_sizes(std::string_view list) {
    std::vector<std::int64_t> out;
    while (!trim_ptx(list).empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      std::string_view one = trim_ptx(list.substr(0, comma));
      if (one.starts_with(".param")) one.remove_prefix(6);
      out.push_back(parse_variable("param", one, {}).facts.size);
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
    return out;
  }

  bool function(bool entry, const Linkage& linkage) {
    PtxFunction function;
    function.entry = entry;
    function.visible = linkage.visible;
    function.weak = linkage.weak;
    const std::size_t begin = lexer_.position();
    std::size_t group = begin;
    int depth = 0;
    while (true) {
      const std::string_view token = lexer_.next();
      if (token.empty()) return fail("a function has no end");
      if (token == "(") {
        if (depth++ == 0) group = lexer_.position();
      } else if (token == ")") {
        if (--depth != 0) continue;
        const std::vector<std::int64_t> sizes =
            parameter_sizes(text_.substr(group, lexer_.position() - 1 - group));
        if (!function.name.empty())
          function.parameters = sizes;
        else if (!sizes.empty())
          function.result = sizes.front();
      } else if (depth == 0 && token == ";") {
        function.external = true;
        break;
      } else if (depth == 0 && token == "{") {
        const std::size_t body = lexer_.position();
        if (!lexer_.skip_past('}')) return fail(fmt::format("function '{}' has no end", function.name));
        bodies_.push_back({function.name, text_.substr(begin, body - 1 - begin),
                           text_.substr(body, lexer_.position() - 1 - body)});
        break;
      } else if (depth == 0 && function.name.empty() && is_word(token[0])) {
        function.name = token;
      }
    }
    if (function.name.empty()) return fail("a function has no name");
    functions_.push_back(std::move(function));
    return true;
  }

  bool variable(std::string_view space, const Linkage& linkage) {
    const std::size_t begin = lexer_.position();
    const std::size_t end = text_.find(';', begin);  // initial values hold no text
    if (end == std::string_view::npos) return fail("a variable has no end");
    lexer_.move_to(end + 1);
    Variable parsed = parse_variable(space, text_.substr(begin, end - begin), linkage);
    if (parsed.facts.name.empty()) return fail("a variable has no name");
    if (begins_as_record(parsed.initial)) {
      std::string bytes = bytes_of(parsed.initial);
      facts_.records.push_back(bytes.substr(0, bytes.find('\0')));
    } else {
      variables_.push_back(std::move(parsed));
    }
    return true;
  }

  /// Static shared variables of a function stand in its body.
  void shared_in(const Body& body) {
    for (std::size_t at = body.text.find(".shared"); at != std::string_view::npos;
         at = body.text.find(".shared", at + 1)) {
      if (at > 0 && !is_ptx_space(body.text[at - 1]) && body.text[at - 1] != ';') continue;  // ld.shared
      const std::size_t begin = at + std::string_view(".shared").size();
      const std::size_t end = body.text.find(';', begin);
      if (end == std::string_view::npos || begin >= end || !is_ptx_space(body.text[begin])) continue;
      Variable parsed = parse_variable("shared", body.text.substr(begin, end - begin), {});
      if (!parsed.facts.name.empty()) variables_.push_back(std::move(parsed));
    }
  }

  // ---- which variables are written

  /// Follows each internal variable's address through the registers of one body. Reports a store to it, and
  /// every use that is not understood, as written.
  void follow(const Body& body, const std::set<std::string_view>& wanted,
              std::set<std::string_view>& written) {
    std::map<std::string_view, std::set<std::string_view>>
        held;  // register → variables whose address it may hold
    bool changed = true;
    for (int round = 0; changed && round < 8; ++round) {  // loops carry addresses backwards
      changed = false;
      for (std::size_t begin = 0; begin < body.text.size();) {
        const std::size_t end = std::min(body.text.find(';', begin), body.text.size());
        changed |= statement(body.text.substr(begin, end - begin), wanted, held, written);
        begin = end + 1;
      }
    }
  }

  static bool statement(std::string_view text, const std::set<std::string_view>& wanted,
                        std::map<std::string_view, std::set<std::string_view>>& held,
                        std::set<std::string_view>& written) {
    std::set<std::string_view> touched;
    std::string_view operation, first;
    bool vector = false;  // operands in braces
    Lexer lexer(text);
    for (std::string_view token = lexer.next(); !token.empty(); token = lexer.next()) {
      if (token == ":") {
        operation = first = {};
      } else if (token == "@") {
        lexer.next();
      } else if (token == "{") {
        vector = !operation.empty();
      } else if (operation.empty() && is_word(token[0])) {
        operation = token;
      } else if (is_word(token[0])) {
        if (wanted.contains(token)) touched.insert(token);
        if (const auto found = held.find(token);
            found != held.end() && !(first.empty() && computes(operation)))
          touched.insert(found->second.begin(), found->second.end());
        if (first.empty()) first = token;
      }
    }
    if (touched.empty() || operation == "ld" || operation == "prefetch") return false;
    if (!computes(operation) || vector) {
      written.insert(touched.begin(), touched.end());
      return false;
    }
    const std::size_t before = held[first].size();
    held[first].insert(touched.begin(), touched.end());
    return held[first].size() != before;
  }

  /// Operations whose first operand is a register that they set.
  static bool computes(std::string_view operation) {
    static const std::set<std::string_view> known{"mov", "add", "sub", "cvta", "mad", "selp",
                                                  "or",  "and", "cvt", "shl",  "min", "max"};
    return known.contains(operation);
  }

  void finish_variables() {
    std::set<std::string_view> internal, written;
    for (const Variable& variable : variables_)
      if (variable.facts.space == "global" && !compilers_own(variable.facts.name))
        internal.insert(variable.facts.name);
    if (!internal.empty())
      for (const Body& body : bodies_) follow(body, internal, written);
    for (const Variable& variable : variables_)  // an address in another's initial value
      if (const std::size_t generic = variable.initial.find("generic("); generic != std::string_view::npos) {
        Lexer lexer(variable.initial.substr(generic));
        for (std::string_view token = lexer.next(); !token.empty(); token = lexer.next())
          if (internal.contains(token)) written.insert(token);
      }
    for (Variable& variable : variables_) {
      if (compilers_own(variable.facts.name)) continue;
      variable.facts.written = written.contains(variable.facts.name);
      variable.facts.filled = !variable.initial.empty();
      if (variable.facts.weak)
        variable.facts.digest = sha256_hex(fmt::format("{}={}", variable.type, variable.initial));
      facts_.variables.push_back(variable.facts);
    }
  }

  // ---- functions

  /// A symbol without the parts that the compiler makes from the path of the source.
  static std::string without_path(std::string_view symbol) {
    std::string out(symbol);
    for (const std::string_view mark :
         {"_INTERNAL_", "_GLOBAL__N_"})  // <length>_INTERNAL_<hash>_<file>_<hash>
      for (std::size_t at = out.find(mark); at != std::string::npos; at = out.find(mark, at)) {
        std::size_t begin = at, length = 0;
        while (begin > 0 && out[begin - 1] >= '0' && out[begin - 1] <= '9') --begin;
        std::from_chars(out.data() + begin, out.data() + at, length);
        out.erase(begin, at - begin + std::max(length, mark.size()));
        at = begin;
      }
    if (out.starts_with("__nv_static_"))  // __nv_static_<length>__<hash>_<file>_<hash>__ZN…
      if (const std::size_t name = out.find("__Z"); name != std::string::npos) out.erase(0, name + 1);
    return out;
  }

  /// Header and body with the names replaced that depend on the rest of the module. `internal` takes the
  /// names of the functions that only this module knows and that the body uses.
  std::string normal_text(const Body& body, std::set<std::string_view>& internal) const {
    std::string out;
    for (const std::string_view part : {body.header, body.text}) {
      Lexer lexer(part);
      for (std::string_view token = lexer.next(); !token.empty(); token = lexer.next()) {
        if (const auto constant = own_constants_.find(token); constant != own_constants_.end()) {
          out += constant->second;
        } else if (token.starts_with(body.name)) {
          out += token.substr(body.name.size());
        } else if (token.starts_with("$L__BB")) {
          out += token.substr(std::min(token.find('_', 6), token.size()));
        } else if (token.starts_with("__local_depot")) {
          out += "__local_depot";
        } else {
          if (internal_bodies_.contains(token)) internal.insert(token);
          out += without_path(token);
        }
        out += ' ';
      }
    }
    return out;
  }

  /// Of the body, and of every static function that it reaches: those have no name that could be compared.
  std::string digest_of(const Body& body) const {
    std::set<std::string_view> reached;
    std::string text = normal_text(body, reached);
    std::map<std::string, std::string> texts;  // name → text
    std::vector<std::string_view> open(reached.begin(), reached.end());
    while (!open.empty()) {
      const std::string_view name = open.back();
      open.pop_back();
      std::set<std::string_view> next;
      texts[without_path(name)] = normal_text(*internal_bodies_.at(name), next);
      for (const std::string_view other : next)
        if (reached.insert(other).second) open.push_back(other);
    }
    for (const auto& [name, content] : texts) text += fmt::format("\n{} {}", name, content);
    return sha256_hex(text);
  }

  void finish_functions() {
    std::map<std::string, std::size_t> index;
    for (PtxFunction& function : functions_) {
      const auto [found, inserted] = index.emplace(function.name, facts_.functions.size());
      if (inserted)
        facts_.functions.push_back(std::move(function));
      else if (!function.external)
        facts_.functions[found->second] = std::move(function);
    }
    for (const Variable& variable : variables_)
      if (compilers_own(variable.facts.name)) own_constants_.emplace(variable.facts.name, variable.initial);
    for (const Body& body : bodies_)
      if (const PtxFunction& function = facts_.functions[index.at(body.name)];
          !function.weak && !function.visible)
        internal_bodies_.emplace(body.name, &body);
    for (const Body& body : bodies_)
      if (PtxFunction& function = facts_.functions[index.at(body.name)];
          function.weak && function.digest.empty())
        function.digest = digest_of(body);
  }

  void finish_names() {
    std::unordered_set<std::string_view> known;
    for (const PtxFunction& function : facts_.functions) known.insert(function.name);
    for (const Variable& variable : variables_) known.insert(variable.facts.name);
    for (const Body& body : bodies_) add_names(body.name, body.text, known);
    for (const Variable& variable : variables_) add_names(variable.facts.name, variable.initial, known);
  }

  void add_names(const std::string& owner, std::string_view text,
                 const std::unordered_set<std::string_view>& known) {
    const std::set<std::string_view> found = names_in(text, known);
    if (!found.empty()) facts_.names[owner].assign(found.begin(), found.end());
  }

  static std::set<std::string_view> names_in(std::string_view text,
                                             const std::unordered_set<std::string_view>& known) {
    std::set<std::string_view> found;
    Lexer lexer(text);
    for (std::string_view token = lexer.next(); !token.empty(); token = lexer.next())
      if (const auto name = known.find(token); name != known.end()) found.insert(*name);
    return found;
  }

  std::string_view text_, name_;
  Lexer lexer_;
  PtxFacts facts_;
  std::vector<PtxFunction> functions_;
  std::vector<Variable> variables_;
  std::vector<Body> bodies_;
  std::map<int, std::string> files_;
  std::map<std::string_view, std::string_view> own_constants_;  // name → initial value
  std::map<std::string_view, const Body*> internal_bodies_;     // static functions
  std::string fault_;
};

}  // namespace

Outcome<PtxFacts> parse_ptx(std::string_view text, std::string_view name) {
  return Parser(text, name).run();
}

}  // namespace pipelink
