#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "linker/audit/audit.h"
#include "packager/base/strict_json.h"

namespace pipelink {
namespace {

/// Instructions that break a rule are in the findings; what is said here is how far the others were judged.
std::string verdict(const CodeSubject& subject) {
  if (subject.seen == 0) return "none";
  if (!subject.unchecked.empty()) return fmt::format("{}, not checked: {}", subject.seen, subject.unchecked);
  if (subject.untraced == 0) return fmt::format("{}, checked", subject.seen);
  return fmt::format("{}, of which {} not checked: their operand comes from memory or a parameter",
                     subject.seen, subject.untraced);
}

/// Faults that no instruction shows.
constexpr const char* kUnseen[] = {
    "bounds: whether an access stays within its claim",
    "order: whether a claim is used in its phases only, and whether data is ready when it is read",
    "arrivals: whether as many threads arrive as the contract says, where no number of the code tells",
    "numbers of facts that the code holds by itself instead of reading them",
};

}  // namespace

std::string audit_text(const Audit& audit) {
  std::string out = fmt::format("{} {} for {}\n\ninstructions\n", audit.component, audit.version, audit.arch);
  std::size_t width = 0;
  for (const CodeSubject& subject : audit.subjects) width = std::max(width, subject.name.size());
  for (const CodeSubject& subject : audit.subjects)
    out += fmt::format("  {:<{}}  {}\n", subject.name, width, verdict(subject));
  const auto used =
      std::count_if(audit.claims.begin(), audit.claims.end(), [](const ClaimUse& c) { return c.used; });
  out += fmt::format("\nclaims\n  {} of {} are used\n", used, audit.claims.size());
  for (const ClaimUse& claim : audit.claims)
    if (!claim.used) out += fmt::format("  {} is not\n", claim.claim);
  if (!audit.calls.empty()) {
    out += "\nfunctions that stay calls, which a link refuses if a role reaches them\n";
    for (const std::string& call : audit.calls) out += "  " + call + "\n";
  }
  out += "\nnot checked, since code does not tell\n";
  for (const char* line : kUnseen) out += fmt::format("  {}\n", line);
  return out;
}

std::string audit_json(const std::vector<Audit>& audits) {
  using Json = nlohmann::ordered_json;
  Json all = Json::array();
  for (const Audit& audit : audits) {
    Json subjects = Json::array(), claims = Json::array();
    for (const CodeSubject& s : audit.subjects)
      subjects.push_back({{"name", s.name},
                          {"seen", s.seen},
                          {"not_checked", s.unchecked.empty() ? s.untraced : s.seen},
                          {"why", s.unchecked}});
    for (const ClaimUse& claim : audit.claims)
      claims.push_back({{"claim", claim.claim}, {"used", claim.used}});
    all.push_back({{"component", audit.component},
                   {"version", audit.version},
                   {"arch", audit.arch},
                   {"package", audit.file},
                   {"instructions", std::move(subjects)},
                   {"claims", std::move(claims)},
                   {"calls", audit.calls},
                   {"findings", audit.findings.size()},
                   {"not_checked", kUnseen}});
  }
  return json_text(Json{{"schema", 1}, {"audits", std::move(all)}});
}

}  // namespace pipelink
