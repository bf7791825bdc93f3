#include "packager/contract/expression.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

namespace pipelink::contract {

enum class Op {
  kNumber,
  kName,
  kNegate,
  kNot,
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kModulo,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  kEqual,
  kNotEqual,
  kAnd,
  kOr,
  kChoose,
  kMin,
  kMax,
  kCeilDiv,
  kRoundUp,
};

struct Expression::Node {
  Op op = Op::kNumber;
  std::int64_t number = 0;
  std::string name;
  std::vector<std::shared_ptr<const Node>> operands;
};

using NodePtr = std::shared_ptr<const Expression::Node>;

namespace {

constexpr int kMaxDepth = 64;
constexpr std::size_t kMaxLength = 4096;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
bool is_space(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

struct Function {
  std::string_view name;
  Op op;
  std::size_t least, most;  // operands
};
constexpr Function kFunctions[] = {{"min", Op::kMin, 2, 16},
                                   {"max", Op::kMax, 2, 16},
                                   {"ceil_div", Op::kCeilDiv, 2, 2},
                                   {"round_up", Op::kRoundUp, 2, 2}};

struct Binary {
  std::string_view token;
  Op op;
  int level;  // binds tighter if higher
};
// A longer token stands before its prefix.
constexpr Binary kBinary[] = {
    {"||", Op::kOr, 1},       {"&&", Op::kAnd, 2},       {"==", Op::kEqual, 3},
    {"!=", Op::kNotEqual, 3}, {"<=", Op::kLessEqual, 4}, {">=", Op::kGreaterEqual, 4},
    {"<", Op::kLess, 4},      {">", Op::kGreater, 4},    {"+", Op::kAdd, 5},
    {"-", Op::kSubtract, 5},  {"*", Op::kMultiply, 6},   {"/", Op::kDivide, 6},
    {"%", Op::kModulo, 6}};
constexpr int kTightest = 6;

Evaluation good(std::int64_t value) {
  return {value, {}};
}
Evaluation bad(std::string error) {
  return {std::nullopt, std::move(error)};
}
Evaluation overflow() {
  return bad("the value does not fit 64 bits");
}

Evaluation divide(std::int64_t a, std::int64_t b, bool remainder) {
  if (b == 0) return bad("division by zero");
  if (b == -1) {  // the one case that overflows
    std::int64_t negated = 0;
    if (remainder) return good(0);
    return __builtin_sub_overflow(std::int64_t{0}, a, &negated) ? overflow() : good(negated);
  }
  return good(remainder ? a % b : a / b);
}

Evaluation ceil_div(std::int64_t a, std::int64_t b) {
  if (b == 0) return bad("division by zero");
  if (a < 0 || b < 0) return bad("ceil_div and round_up take no negative value");
  return good(a / b + (a % b != 0 ? 1 : 0));
}

Evaluation apply(Op op, std::int64_t a, std::int64_t b) {
  std::int64_t result = 0;
  switch (op) {
    case Op::kAdd:
      return __builtin_add_overflow(a, b, &result) ? overflow() : good(result);
    case Op::kSubtract:
      return __builtin_sub_overflow(a, b, &result) ? overflow() : good(result);
    case Op::kMultiply:
      return __builtin_mul_overflow(a, b, &result) ? overflow() : good(result);
    case Op::kDivide:
      return divide(a, b, false);
    case Op::kModulo:
      return divide(a, b, true);
    case Op::kLess:
      return good(a < b);
    case Op::kLessEqual:
      return good(a <= b);
    case Op::kGreater:
      return good(a > b);
    case Op::kGreaterEqual:
      return good(a >= b);
    case Op::kEqual:
      return good(a == b);
    case Op::kNotEqual:
      return good(a != b);
    case Op::kMin:
      return good(std::min(a, b));
    case Op::kMax:
      return good(std::max(a, b));
    case Op::kCeilDiv:
      return ceil_div(a, b);
    case Op::kRoundUp: {
      const Evaluation quotient = ceil_div(a, b);
      return quotient ? apply(Op::kMultiply, *quotient, b) : quotient;
    }
    default:
      return bad("not an operator of two values");
  }
}

Evaluation run(const Expression::Node& node, const Scope& scope) {
  const auto operand = [&](std::size_t i) { return run(*node.operands[i], scope); };
  switch (node.op) {
    case Op::kNumber:
      return good(node.number);
    case Op::kName: {
      const auto found = scope.find(node.name);
      return found == scope.end() ? bad(fmt::format("unknown name '{}'", node.name)) : good(found->second);
    }
    case Op::kNegate: {
      const Evaluation value = operand(0);
      return value ? apply(Op::kSubtract, 0, *value) : value;
    }
    case Op::kNot: {
      const Evaluation value = operand(0);
      return value ? good(*value == 0) : value;
    }
    case Op::kAnd:
    case Op::kOr: {
      const Evaluation left = operand(0);
      if (!left) return left;
      if ((*left != 0) == (node.op == Op::kOr)) return good(node.op == Op::kOr);
      const Evaluation right = operand(1);
      return right ? good(*right != 0) : right;
    }
    case Op::kChoose: {
      const Evaluation condition = operand(0);
      return condition ? operand(*condition != 0 ? 1 : 2) : condition;
    }
    default:
      break;
  }
  Evaluation value = operand(0);
  for (std::size_t i = 1; value && i < node.operands.size(); ++i) {
    const Evaluation next = operand(i);
    if (!next) return next;
    value = apply(node.op, *value, *next);
  }
  return value;
}

}  // namespace

struct ExpressionParser {
  std::string_view text;
  std::size_t at = 0;
  int depth = 0;
  std::size_t fault_at = 0;
  std::string fault;
  std::vector<std::string> names;

  NodePtr fail(std::size_t where, std::string why) {
    if (fault.empty()) {
      fault_at = where;
      fault = std::move(why);
    }
    return nullptr;
  }

  void skip() {
    while (at < text.size() && is_space(text[at])) ++at;
  }

  bool accept(std::string_view token) {
    skip();
    if (!text.substr(at).starts_with(token)) return false;
    at += token.size();
    return true;
  }

  std::string found() {
    skip();
    if (at >= text.size()) return "the end";
    const auto c = static_cast<unsigned char>(text[at]);
    return c >= 0x20 && c < 0x7f ? fmt::format("'{}'", text[at]) : fmt::format("byte 0x{:02x}", c);
  }

  static NodePtr make(Op op, std::vector<NodePtr> operands) {
    auto node = std::make_shared<Expression::Node>();
    node->op = op;
    node->operands = std::move(operands);
    return node;
  }

  NodePtr choice() {
    NodePtr condition = binary(1);
    if (!condition || !accept("?")) return condition;
    NodePtr yes = nested();
    if (!yes) return nullptr;
    if (!accept(":")) return fail(at, fmt::format("expected ':', found {}", found()));
    NodePtr no = nested();
    return no ? make(Op::kChoose, {condition, yes, no}) : nullptr;
  }

  NodePtr nested() {
    if (++depth > kMaxDepth) return fail(at, "nested too deep");
    NodePtr node = choice();
    --depth;
    return node;
  }

  const Binary* operator_at(int level) {
    skip();
    for (const Binary& candidate : kBinary) {
      if (!text.substr(at).starts_with(candidate.token)) continue;
      return candidate.level == level ? &candidate : nullptr;
    }
    return nullptr;
  }

  NodePtr binary(int level) {
    if (level > kTightest) return unary();
    NodePtr left = binary(level + 1);
    int length = 0;  // of the chain: it becomes the depth of the tree
    while (left) {
      const Binary* op = operator_at(level);
      if (op == nullptr) break;
      if (++length > 512) return fail(at, "too many operators");
      at += op->token.size();
      NodePtr right = binary(level + 1);
      left = right ? make(op->op, {left, right}) : nullptr;
    }
    return left;
  }

  NodePtr unary() {
    skip();
    const bool negate = at < text.size() && text[at] == '-';
    const bool invert = at < text.size() && text[at] == '!' && !text.substr(at).starts_with("!=");
    if (!negate && !invert) return primary();
    ++at;
    if (++depth > kMaxDepth) return fail(at, "nested too deep");
    NodePtr operand = unary();
    --depth;
    return operand ? make(negate ? Op::kNegate : Op::kNot, {operand}) : nullptr;
  }

  NodePtr primary() {
    skip();
    if (accept("(")) {
      NodePtr inner = nested();
      if (!inner) return nullptr;
      return accept(")") ? inner : fail(at, fmt::format("expected ')', found {}", found()));
    }
    if (at < text.size() && is_digit(text[at])) return number();
    if (at < text.size() && is_letter(text[at])) return name();
    const std::string what = found();
    return fail(at, fmt::format("expected a value, found {}", what));
  }

  NodePtr number() {
    const std::size_t begin = at;
    while (at < text.size() && is_digit(text[at])) ++at;
    auto node = std::make_shared<Expression::Node>();
    const auto parsed = std::from_chars(text.data() + begin, text.data() + at, node->number);
    if (parsed.ec != std::errc{}) return fail(begin, "the number does not fit 64 bits");
    if (at < text.size() && (is_letter(text[at]) || text[at] == '.'))
      return fail(at, fmt::format("expected an operator, found {}", found()));
    return node;
  }

  NodePtr name() {
    const std::size_t begin = at;
    while (at < text.size()) {
      if (is_letter(text[at]) || is_digit(text[at])) {
        ++at;
      } else if (text[at] == '.') {
        ++at;
        if (at >= text.size() || !is_letter(text[at]))
          return fail(at, fmt::format("expected a name, found {}", found()));
      } else {
        break;
      }
    }
    std::string word(text.substr(begin, at - begin));
    if (accept("(")) return call(begin, word);
    names.push_back(word);
    auto node = std::make_shared<Expression::Node>();
    node->op = Op::kName;
    node->name = std::move(word);
    return node;
  }

  NodePtr call(std::size_t begin, const std::string& word) {
    const auto* function = std::find_if(std::begin(kFunctions), std::end(kFunctions),
                                        [&](const Function& f) { return f.name == word; });
    if (function == std::end(kFunctions)) return fail(begin, fmt::format("unknown function '{}'", word));
    std::vector<NodePtr> operands;
    do {
      operands.push_back(nested());
      if (!operands.back()) return nullptr;
    } while (accept(","));
    if (!accept(")")) return fail(at, fmt::format("expected ')', found {}", found()));
    if (operands.size() < function->least || operands.size() > function->most)
      return fail(begin, fmt::format("'{}' does not take {} values", word, operands.size()));
    return make(function->op, std::move(operands));
  }

  ParsedExpression parse() {
    NodePtr root;
    if (text.size() > kMaxLength) {
      fail(0, fmt::format("longer than {} characters", kMaxLength));
    } else {
      root = nested();
      skip();
      if (root && at < text.size()) {
        root = nullptr;
        fail(at, fmt::format("expected an operator, found {}", found()));
      }
    }
    ParsedExpression result;
    if (!root) {
      result.column = static_cast<int>(fault_at) + 1;
      result.error = fmt::format("column {}: {}", result.column, fault);
      return result;
    }
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    Expression expression;
    expression.text_ = std::string(text);
    expression.names_ = std::move(names);
    expression.root_ = std::move(root);
    result.value = std::move(expression);
    return result;
  }
};

Evaluation Expression::evaluate(const Scope& scope) const {
  return run(*root_, scope);
}

ParsedExpression parse_expression(std::string_view text) {
  ExpressionParser parser;
  parser.text = text;
  return parser.parse();
}

Evaluation evaluate(const Amount& amount, const Scope& scope) {
  if (amount.expression.empty()) return good(amount.number);
  const ParsedExpression parsed = parse_expression(amount.expression);
  return parsed ? parsed->evaluate(scope) : bad(parsed.error);
}

std::vector<std::string> names_of(const Amount& amount) {
  if (amount.expression.empty()) return {};
  const ParsedExpression parsed = parse_expression(amount.expression);
  return parsed ? parsed->names() : std::vector<std::string>{};
}

std::string to_text(const Amount& amount) {
  return amount.expression.empty() ? std::to_string(amount.number) : amount.expression;
}

Amount amount_from_text(std::string_view text) {
  Amount amount;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), amount.number);
  if (error == std::errc{} && end == text.data() + text.size()) return amount;
  amount.number = 0;
  amount.expression = std::string(text);
  return amount;
}

}  // namespace pipelink::contract
