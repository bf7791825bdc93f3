#include "linker/report/page.h"

#include "linker/codegen/render_template.h"
#include "linker/report/page_parts.h"
#include "packager/base/sha256.h"
#include "templates/template_text.h"

namespace pipelink {
namespace {

int hex_digit(char c) {
  return c <= '9' ? c - '0' : c - 'a' + 10;
}

/// A digest as a content security policy wants it: base64 of its bytes.
std::string base64_of_hex(const std::string& hex) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0, count = 0;
  for (std::size_t i = 0; i + 1 < hex.size(); i += 2) {
    bits = (bits << 8) | static_cast<unsigned>(hex_digit(hex[i]) * 16 + hex_digit(hex[i + 1]));
    for (count += 8; count >= 6; count -= 6) out += kDigits[(bits >> (count - 6)) & 63];
  }
  if (count > 0) out += kDigits[(bits << (6 - count)) & 63];
  while (out.size() % 4 != 0) out += '=';
  return out;
}

}  // namespace

Outcome<std::string> page_of_map(const std::string& text, const std::string& file) {
  const Outcome<LinkMap> map = parse_link_map(text, file);
  if (!map) return map.diagnostics;
  const page::Context context(*map);
  const std::string script(template_text("report.js"));
  nlohmann::json values = {{"name", map->name},       {"arch", map->arch},
                           {"version", map->version}, {"style", std::string(template_text("report.css"))},
                           {"script", script},        {"script_sha256", base64_of_hex(sha256_hex(script))}};
  Diagnostics diagnostics;
  const auto section = [&](const char* key, Outcome<std::string> part) {
    values[key] = part ? *part : "";
    append(diagnostics, std::move(part.diagnostics));
  };
  section("overview", page::overview(context));
  section("memory", page::memory(context));
  section("tensor_memory", page::tensor_memory(context));
  section("reuse", page::reuse(context));
  section("threads", page::threads(context));
  section("barriers", page::barriers(context));
  section("rings", page::rings(context));
  section("connections", page::connections(context));
  section("tiles", page::tiles(context));
  section("facts", page::facts(context));
  section("verdict", page::verdict(context));
  section("guard", page::guard(context));
  section("glue", page::glue(context));
  if (has_error(diagnostics)) return diagnostics;
  return render_html("report_page.html", values);
}

}  // namespace pipelink
