#include "packager/base/catalog.h"

#include <algorithm>
#include <array>

namespace pipelink {
namespace {

constexpr auto kUnsorted = std::to_array<Clause>({
#define PIPELINK_CLAUSE(id, title, rule, reason, help) {id, title, rule, reason, help},
#include "packager/base/catalog.def"
#undef PIPELINK_CLAUSE
});

constexpr auto kClauses = [] {
  auto sorted = kUnsorted;
  std::sort(sorted.begin(), sorted.end(), [](const Clause& a, const Clause& b) { return a.id < b.id; });
  return sorted;
}();

constexpr bool distinct() {
  for (std::size_t i = 1; i < kClauses.size(); ++i)
    if (kClauses[i - 1].id == kClauses[i].id) return false;
  return true;
}
static_assert(distinct(), "catalog.def lists a clause twice");

}  // namespace

std::span<const Clause> clauses() {
  return kClauses;
}

const Clause* find_clause(std::string_view id) {
  const auto* found =
      std::lower_bound(kClauses.begin(), kClauses.end(), id,
                       [](const Clause& clause, std::string_view key) { return clause.id < key; });
  return found != kClauses.end() && found->id == id ? found : nullptr;
}

ClauseKind kind_of(std::string_view id) {
  switch (id.empty() ? '\0' : id[0]) {
    case 'P':
      return ClauseKind::kContract;
    case 'L':
      return ClauseKind::kLinking;
    case 'T':
      return ClauseKind::kToolchain;
    case 'U':
      return ClauseKind::kUsage;
    default:
      return ClauseKind::kInput;
  }
}

std::string_view kind_name(ClauseKind kind) {
  switch (kind) {
    case ClauseKind::kContract:
      return "contract";
    case ClauseKind::kLinking:
      return "linking";
    case ClauseKind::kInput:
      return "input";
    case ClauseKind::kToolchain:
      return "toolchain";
    case ClauseKind::kUsage:
      return "usage";
  }
  return "";
}

int exit_status(const Diagnostics& diagnostics) {
  int status = 0;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (diagnostic.severity != Severity::kError) continue;
    const ClauseKind kind = kind_of(diagnostic.clause);
    const bool rejected = kind == ClauseKind::kContract || kind == ClauseKind::kLinking;
    status = std::max(status, rejected ? 1 : 2);
  }
  return status;
}

}  // namespace pipelink
