// What a guarded link watches, and what it does not.
#include "linker/codegen/render_template.h"
#include "linker/report/page_parts.h"

namespace pipelink::page {

using nlohmann::json;

Outcome<std::string> guard(const Context& context) {
  if (!context.map.guard) return std::string();
  const MapGuard& guard = *context.map.guard;
  json claims = json::array(), rows = json::array(), missing = json::array();
  for (const MapGuard::Claim& c : guard.claims)
    claims.push_back({{"name", c.name}, {"before", grouped(c.before)}, {"after", grouped(c.after)}});
  for (const MapGuard::Missing& m : guard.not_guarded) rows.push_back({{"what", m.what}, {"why", m.why}});
  if (!rows.empty()) missing.push_back({{"rows", std::move(rows)}});
  return render_html("report_guard.html", {{"milliseconds", grouped(guard.milliseconds)},
                                           {"waits", guard.waits.empty() ? "none" : joined(guard.waits)},
                                           {"claims", std::move(claims)},
                                           {"missing", std::move(missing)}});
}

}  // namespace pipelink::page
