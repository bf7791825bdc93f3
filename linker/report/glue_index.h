// Where the glue speaks of what: so that a claim can point at the lines that its placement became.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace pipelink {

/// Line numbers are 1-based.
class GlueIndex {
 public:
  GlueIndex() = default;
  explicit GlueIndex(std::string_view glue);

  const std::vector<std::string>& lines() const { return lines_; }
  bool empty() const { return lines_.empty(); }

  /// Lines in which the identifier `symbol` occurs.
  std::vector<int> of(const std::string& symbol) const;

  /// Lines that end in the comment `// claim`: a barrier's initialisation.
  std::vector<int> commented(const std::string& claim) const;

  /// Those of `of(symbol)` that hold `text` too.
  std::vector<int> of(const std::string& symbol, std::string_view text) const;

 private:
  std::vector<std::string> lines_;
  std::map<std::string, std::vector<int>> symbols_, comments_;
};

}  // namespace pipelink
