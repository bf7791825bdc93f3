// A diagnostic is data: one record yields terminal text, JSON and SARIF (render.h).
#pragma once

#include <string>
#include <vector>

namespace pipelink {

/// A place in a user's source. `file` is relative to the owner's source root or empty; `line` is 1-based, 0
/// if unknown.
struct SourceSpan {
  std::string file;
  int line = 0;
  bool operator==(const SourceSpan&) const = default;
};

/// One side of a conflict: who says it, what is said, where it stands.
struct LabelledFact {
  std::string owner;
  std::string text;
  SourceSpan where;
};

enum class Severity { kNote, kWarning, kError };

struct Diagnostic {
  Severity severity = Severity::kError;
  std::string clause;               ///< an id of catalog.def, e.g. "L-REGS"
  std::string title;                ///< lower case, no final period, stands alone
  std::vector<LabelledFact> facts;  ///< both sides, each with its owner
  std::string reason;               ///< why it cannot be, in numbers; may be empty
  std::string help;                 ///< the one place that proposes a change; may be empty
};

using Diagnostics = std::vector<Diagnostic>;

bool has_error(const Diagnostics& diagnostics);

/// The usual way to make one: an error with its two sides, the reason and the help.
Diagnostic make_error(std::string clause, std::string title, std::vector<LabelledFact> facts = {},
                      std::string reason = {}, std::string help = {});

/// Moves `more` behind `all`.
void append(Diagnostics& all, Diagnostics more);

}  // namespace pipelink
