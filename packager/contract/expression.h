// Amounts that depend on facts and the placement: integer expressions, kept as text until the composition is
// known.
//
//   + - * / %   < <= > >= == !=   && || !   c ? a : b   ( )   min(a, b, …) max(a, b, …) ceil_div(a, b)
//   round_up(a, b)
//
// Values are 64-bit signed integers; a comparison gives 1 or 0; / truncates. Names may be dotted
// (`operands.stages`).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "packager/contract/model.h"

namespace pipelink::contract {

using Scope = std::map<std::string, std::int64_t>;

/// A value, or why there is none: "unknown name 'x'", "division by zero", "the value does not fit 64 bits".
struct Evaluation {
  std::optional<std::int64_t> value;
  std::string error;
  explicit operator bool() const { return value.has_value(); }
  std::int64_t operator*() const { return *value; }
};

class Expression {
 public:
  /// Only the operands of the taken branch of ?:, && and || are evaluated.
  Evaluation evaluate(const Scope& scope) const;

  /// Every name that occurs, sorted, once each.
  const std::vector<std::string>& names() const { return names_; }

  const std::string& text() const { return text_; }

  struct Node;

 private:
  friend struct ExpressionParser;
  std::string text_;
  std::vector<std::string> names_;
  std::shared_ptr<const Node> root_;
};

struct ParsedExpression {
  std::optional<Expression> value;
  int column = 0;     ///< 1-based, of the fault
  std::string error;  ///< "column 5: expected a value, found ')'"
  explicit operator bool() const { return value.has_value(); }
  const Expression& operator*() const { return *value; }
  const Expression* operator->() const { return &*value; }
};

/// At most 4096 characters, nested at most 64 deep.
ParsedExpression parse_expression(std::string_view text);

/// An amount's value: the number, or the expression parsed and evaluated.
Evaluation evaluate(const Amount& amount, const Scope& scope);

/// The names that an amount depends on; empty for a number and for an expression that does not parse.
std::vector<std::string> names_of(const Amount& amount);

/// "128", or the expression's text.
std::string to_text(const Amount& amount);

/// A decimal integer gives a number, everything else an expression (unparsed).
Amount amount_from_text(std::string_view text);

}  // namespace pipelink::contract
