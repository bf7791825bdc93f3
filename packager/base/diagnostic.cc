#include "packager/base/diagnostic.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace pipelink {

bool has_error(const Diagnostics& diagnostics) {
  return std::any_of(diagnostics.begin(), diagnostics.end(),
                     [](const Diagnostic& diagnostic) { return diagnostic.severity == Severity::kError; });
}

Diagnostic make_error(std::string clause, std::string title, std::vector<LabelledFact> facts,
                      std::string reason, std::string help) {
  return {Severity::kError, std::move(clause), std::move(title),
          std::move(facts), std::move(reason), std::move(help)};
}

void append(Diagnostics& all, Diagnostics more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace pipelink
