// Layouts as text.
//
//   layout      = factor { "o" factor }                 composition, the rightmost first
//   factor      = tuple ":" tuple | "Sw<" bits "," base "," shift ">" | map "(" [ number { "," number } ] ")"
//   tuple       = number | "(" tuple { "," tuple } ")"
//
// A number is decimal (`_8` is read as `8`), or an expression over names, which this library passes to its
// caller: `(tile_m/16,8):(8,1)`. An expression that begins with a bracket stands beside an operator:
// `(a+b)*2`. A map is one of maps.h: `wgmma_accumulator(64,tile_n)`. The last factor is no swizzle.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "packager/layout/layout.h"

namespace pipelink::layout {

/// Gives the value of an expression's text, or says why it has none.
using Evaluator = std::function<Result<std::int64_t>(std::string_view)>;

/// A layout's text, read but not evaluated.
class LayoutText {
 public:
  struct Number {
    std::size_t column = 0;  ///< from 1
    std::string text;        ///< digits, or an expression
    bool digits = false;
  };
  struct Node;

  /// The layout, with the numbers' values. Faults name their column: "column 4: an extent is at least 1".
  Result<Layout> evaluate(const Evaluator& evaluator) const;

  /// The numbers that are no digits, in order.
  const std::vector<Number>& expressions() const { return expressions_; }

  /// Whether `map(…)` or `o` occurs, so that the layout is not seen in the text.
  bool derived() const { return derived_; }

 private:
  friend struct TextParser;
  std::shared_ptr<const Node> root_;
  std::vector<Number> expressions_;
  bool derived_ = false;
};

/// At most 4096 characters. Faults name their column: "column 7: expected ')'".
Result<LayoutText> parse_layout_text(std::string_view text);

/// A text without expressions.
Result<Layout> parse_layout(std::string_view text);

/// "Sw<3,4,3> o (8,64):(64,1)"; parse_layout gives it back.
std::string to_text(const Layout& layout);
std::string to_text(const Swizzle& swizzle);

}  // namespace pipelink::layout
