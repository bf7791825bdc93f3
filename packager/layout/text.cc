#include "packager/layout/text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <utility>

#include "packager/layout/algebra.h"
#include "packager/layout/maps.h"

namespace pipelink::layout {
namespace {

constexpr std::size_t kMaxText = 4096;
constexpr std::size_t kMaxFactors = 16;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_word(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

struct Value {
  LayoutText::Number source;
  std::int64_t number = 0;  ///< of digits
};

/// A number, or a tuple.
struct Tree {
  std::size_t column = 0;
  bool leaf = false;
  Value value;
  std::vector<Tree> children;
};

struct Factor {
  enum class Kind { kPlain, kSwizzle, kMap } kind = Kind::kPlain;
  std::size_t column = 0;
  Tree shape, stride;
  Swizzle swizzle;
  const NamedMap* map = nullptr;
  std::vector<Value> arguments;
};

std::string at_column(std::size_t column, std::string_view why) {
  return fmt::format("column {}: {}", column, why);
}

}  // namespace

struct LayoutText::Node {
  std::vector<Factor> factors;
};

struct TextParser {
  std::string_view text;
  std::size_t at = 0;
  std::size_t numbers = 0;
  std::string fault;
  LayoutText result;

  bool fail(std::size_t where, std::string_view why) {
    if (fault.empty()) fault = at_column(where + 1, why);
    return false;
  }

  void skip() {
    while (at < text.size() && text[at] == ' ') ++at;
  }

  std::size_t after_blanks(std::size_t from) const {
    while (from < text.size() && text[from] == ' ') ++from;
    return from;
  }

  bool accept(char c) {
    skip();
    if (at >= text.size() || text[at] != c) return false;
    ++at;
    return true;
  }

  bool expect(char c) { return accept(c) || fail(at, fmt::format("expected '{}'", c)); }

  /// The word `o`, alone.
  bool compose_at(std::size_t where) const {
    return where < text.size() && text[where] == 'o' && (where == 0 || !is_word(text[where - 1])) &&
           (where + 1 == text.size() || (!is_word(text[where + 1]) && text[where + 1] != '.'));
  }

  /// Just behind the bracket that closes the one at `open`; npos if none does.
  std::size_t behind(std::size_t open) const {
    int depth = 0;
    for (std::size_t i = open; i < text.size(); ++i) {
      if (text[i] == '(') ++depth;
      if (text[i] == ')' && --depth == 0) return i + 1;
    }
    return std::string_view::npos;
  }

  /// An operator follows, so what ended here was a part of an expression.
  bool goes_on(std::size_t where) const {
    where = after_blanks(where);
    return where < text.size() &&
           std::string_view("+-*/%<>=!&|?").find(text[where]) != std::string_view::npos;
  }

  /// The end of the expression that begins at `at`: a comma, bracket, colon or `o` that is not its own.
  std::size_t expression_end() const {
    int depth = 0, choices = 0;
    bool operand = false;  // what stands before is a whole operand, so an `o` is no name
    std::size_t i = at;
    for (; i < text.size(); ++i) {
      const char c = text[i];
      if (c == ' ') continue;
      if (depth == 0) {
        if (c == ',' || c == ')' || (c == ':' && choices == 0) || (operand && compose_at(i))) break;
        if (c == '?') ++choices;
        if (c == ':') --choices;
      }
      if (c == '(') ++depth;
      if (c == ')') --depth;
      operand = c == ')' || is_word(c);
    }
    return i;
  }

  bool number(Value& out) {
    skip();
    if (at + 1 < text.size() && text[at] == '_' && is_digit(text[at + 1])) ++at;
    out.source.column = at + 1;
    std::string_view found = text.substr(at, expression_end() - at);
    found = found.substr(0, found.find_last_not_of(' ') + 1);
    if (found.empty()) return fail(at, "expected a number");
    if (++numbers > 2 * kMaxLeaves) return fail(at, fmt::format("more than {} extents", kMaxLeaves));
    out.source.text = std::string(found);
    out.source.digits = std::all_of(found.begin(), found.end(), is_digit);
    if (out.source.digits) {
      const auto parsed = std::from_chars(found.data(), found.data() + found.size(), out.number);
      if (parsed.ec != std::errc{} || out.number > kMaxStride) return fail(at, "the number is too large");
    } else {
      result.expressions_.push_back(out.source);
    }
    at += found.size();
    return true;
  }

  bool tuple(Tree& out, int depth) {
    if (depth > kMaxDepth) return fail(at, "nested too deep");
    skip();
    out.column = at + 1;
    const bool open = at < text.size() && text[at] == '(';
    const std::size_t end = open ? behind(at) : 0;
    if (!open || (end != std::string_view::npos && goes_on(end))) {
      out.leaf = true;
      return number(out.value);
    }
    ++at;
    do {
      if (!tuple(out.children.emplace_back(), depth + 1)) return false;
    } while (accept(','));
    return expect(')');
  }

  bool small(int& out) {
    skip();
    const std::size_t begin = at;
    if (at < text.size() && text[at] == '-') ++at;
    while (at < text.size() && is_digit(text[at])) ++at;
    const auto parsed = std::from_chars(text.data() + begin, text.data() + at, out);
    if (parsed.ec == std::errc::invalid_argument) return fail(begin, "expected a number");
    return parsed.ec == std::errc{} || fail(begin, "the number is too large");
  }

  bool swizzle(Factor& out) {
    out.kind = Factor::Kind::kSwizzle;
    const std::size_t begin = at;
    at += 3;
    Swizzle& s = out.swizzle;
    if (!small(s.bits) || !expect(',') || !small(s.base) || !expect(',') || !small(s.shift) || !expect('>'))
      return false;
    const std::string why = swizzle_fault(s);
    return why.empty() || fail(begin, why);
  }

  /// A map's call begins here: a known name, or an unknown one that stands for a whole layout.
  bool call_at(std::size_t& name_end) const {
    name_end = at;
    while (name_end < text.size() && is_word(text[name_end])) ++name_end;
    const std::size_t open = after_blanks(name_end);
    if (name_end == at || is_digit(text[at]) || open >= text.size() || text[open] != '(') return false;
    if (find_map(text.substr(at, name_end - at)) != nullptr) return true;
    const std::size_t next = after_blanks(std::min(behind(open), text.size()));
    return next >= text.size() || compose_at(next);
  }

  bool call(Factor& out, std::size_t name_end) {
    out.kind = Factor::Kind::kMap;
    const std::string_view name = text.substr(at, name_end - at);
    out.map = find_map(name);
    if (out.map == nullptr) return fail(at, fmt::format("there is no map '{}'", name));
    const std::size_t begin = at;
    at = name_end;
    if (!expect('(')) return false;
    if (!accept(')')) {
      do {
        if (!number(out.arguments.emplace_back())) return false;
      } while (accept(','));
      if (!expect(')')) return false;
    }
    if (out.arguments.size() >= out.map->least && out.arguments.size() <= out.map->most) return true;
    return fail(begin, fmt::format("{} takes ({})", name, out.map->arguments));
  }

  bool congruent(const Tree& shape, const Tree& stride) {
    if (shape.leaf != stride.leaf || shape.children.size() != stride.children.size())
      return fail(stride.column - 1, "the strides are not nested as the shape is");
    for (std::size_t i = 0; i < shape.children.size(); ++i)
      if (!congruent(shape.children[i], stride.children[i])) return false;
    return true;
  }

  bool factor(Factor& out) {
    skip();
    out.column = at + 1;
    if (text.substr(at).starts_with("Sw<")) return swizzle(out);
    if (std::size_t name_end = 0; call_at(name_end)) return call(out, name_end);
    return tuple(out.shape, 0) && expect(':') && tuple(out.stride, 0) && congruent(out.shape, out.stride);
  }

  Result<LayoutText> read() {
    auto root = std::make_shared<LayoutText::Node>();
    if (!parse(*root)) return Result<LayoutText>::fault(std::move(fault));
    std::size_t layouts = 0;
    for (const Factor& factor : root->factors) {
      if (factor.kind != Factor::Kind::kSwizzle) ++layouts;
      result.derived_ |= factor.kind == Factor::Kind::kMap || layouts > 1;
    }
    result.root_ = std::move(root);
    return std::move(result);
  }

  bool parse(LayoutText::Node& root) {
    if (text.size() > kMaxText) return fail(0, fmt::format("longer than {} characters", kMaxText));
    while (true) {
      if (root.factors.size() == kMaxFactors)
        return fail(at, fmt::format("more than {} factors", kMaxFactors));
      Factor& last = root.factors.emplace_back();
      if (!factor(last)) return false;
      skip();
      if (compose_at(at)) {
        ++at;
        continue;
      }
      if (last.kind == Factor::Kind::kSwizzle) return fail(at, "expected 'o'");
      return at >= text.size() || fail(at, "expected the end");
    }
  }
};

namespace {

/// Evaluates the parts of one factor; the first fault stays.
struct Maker {
  const Evaluator& evaluator;
  std::string fault;

  std::int64_t number(const Value& value) {
    if (value.source.digits || !fault.empty()) return value.number;
    const Result<std::int64_t> found = evaluator(value.source.text);
    if (found) return *found;
    fault = at_column(value.source.column, found.error);
    return 0;
  }

  Mode mode(const Tree& shape, const Tree& stride) {
    if (!shape.leaf) {
      std::vector<Mode> inner;
      for (std::size_t i = 0; i < shape.children.size(); ++i)
        inner.push_back(mode(shape.children[i], stride.children[i]));
      return Mode(std::move(inner));
    }
    const Mode out{number(shape.value), number(stride.value)};
    const auto refuse = [&](const Value& value, std::string_view what, std::int64_t found) {
      const std::string shown =
          value.source.digits ? "" : fmt::format(", '{}' is {}", value.source.text, found);
      fault = at_column(value.source.column, fmt::format("{}{}", what, shown));
    };
    if (fault.empty() && out.shape < 1) refuse(shape.value, "an extent is at least 1", out.shape);
    if (fault.empty() && out.stride < 0) refuse(stride.value, "a stride is at least 0", out.stride);
    return out;
  }

  Result<Layout> make(const Factor& factor) {
    if (factor.kind == Factor::Kind::kPlain) {
      Mode map = mode(factor.shape, factor.stride);
      return fault.empty() ? checked(std::move(map)) : Result<Layout>::fault({});
    }
    std::vector<std::int64_t> arguments;
    for (const Value& value : factor.arguments) arguments.push_back(number(value));
    if (!fault.empty()) return Result<Layout>::fault({});
    Result<Layout> made = factor.map->make(arguments);
    if (!made)
      made.error = fmt::format("{}({}): {}", factor.map->name, fmt::join(arguments, ","), made.error);
    return made;
  }
};

void write(const Mode& mode, std::int64_t Mode::*number, std::string& out) {
  if (mode.leaf()) {
    out += std::to_string(mode.*number);
    return;
  }
  out += '(';
  for (const Mode& inner : mode.modes) {
    if (&inner != &mode.modes.front()) out += ',';
    write(inner, number, out);
  }
  out += ')';
}

}  // namespace

Result<Layout> LayoutText::evaluate(const Evaluator& evaluator) const {
  Maker maker{evaluator, {}};
  Result<Layout> made;
  const std::vector<Factor>& factors = root_->factors;
  for (std::size_t i = factors.size(); i-- > 0;) {
    const Factor& factor = factors[i];
    if (factor.kind == Factor::Kind::kSwizzle) {
      made = swizzled(factor.swizzle, *made);
    } else {
      Result<Layout> next = maker.make(factor);
      if (!maker.fault.empty()) return Result<Layout>::fault(std::move(maker.fault));
      made = next && i + 1 < factors.size() ? composition(*next, *made) : next;
    }
    if (!made) return Result<Layout>::fault(at_column(factor.column, made.error));
  }
  return made;
}

Result<LayoutText> parse_layout_text(std::string_view text) {
  TextParser parser;
  parser.text = text;
  return parser.read();
}

Result<Layout> parse_layout(std::string_view text) {
  const Result<LayoutText> parsed = parse_layout_text(text);
  if (!parsed) return Result<Layout>::fault(parsed.error);
  return parsed->evaluate([](std::string_view expression) {
    return Result<std::int64_t>::fault(fmt::format("'{}' is not a number", expression));
  });
}

std::string to_text(const Swizzle& swizzle) {
  return fmt::format("Sw<{},{},{}>", swizzle.bits, swizzle.base, swizzle.shift);
}

std::string to_text(const Layout& layout) {
  std::string out = layout.swizzle().trivial() ? "" : to_text(layout.swizzle()) + " o ";
  write(layout.map(), &Mode::shape, out);
  out += ':';
  write(layout.map(), &Mode::stride, out);
  return out;
}

}  // namespace pipelink::layout
