#include "packager/base/render.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "packager/base/strict_json.h"

namespace pipelink {
namespace {

using Json = nlohmann::ordered_json;

std::string_view severity_name(Severity severity) {
  switch (severity) {
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kError:
      return "error";
  }
  return "";
}

struct Palette {
  std::string_view severity, bold, dim, reset;
};

Palette palette(Severity severity, bool colour) {
  if (!colour) return {};
  const std::string_view hue = severity == Severity::kError     ? "\x1b[1;31m"
                               : severity == Severity::kWarning ? "\x1b[1;33m"
                                                                : "\x1b[1;36m";
  return {hue, "\x1b[1m", "\x1b[36m", "\x1b[0m"};
}

std::string position(const SourceSpan& where) {
  if (where.file.empty()) return {};
  return where.line > 0 ? fmt::format("{}:{}", where.file, where.line) : where.file;
}

/// Bytes at the start of `text` that a terminal would not show but obey: a control character, or what begins
/// a line or turns the direction of writing in UTF-8.
std::size_t control_at(std::string_view text) {
  const auto byte = [&](std::size_t n) { return n < text.size() ? static_cast<unsigned char>(text[n]) : 0U; };
  if (byte(0) < 0x20 || byte(0) == 0x7f) return 1;
  if (byte(0) == 0xc2 && byte(1) >= 0x80 && byte(1) < 0xa0) return 2;  // U+0080 to U+009F
  if (byte(0) == 0xe2 && byte(1) == 0x80 &&
      (byte(2) == 0x8e || byte(2) == 0x8f || (byte(2) >= 0xa8 && byte(2) <= 0xae)))
    return 3;  // U+200E, U+200F, U+2028 to U+202E
  if (byte(0) == 0xe2 && byte(1) == 0x81 && byte(2) >= 0xa6 && byte(2) <= 0xa9) return 3;  // U+2066 to U+2069
  return 0;
}

/// Lines after the first begin with `indent`; control characters (an input may hold any) are shown as '?'.
std::string indented(std::string_view text, std::string_view indent) {
  std::string out;
  while (!text.empty()) {
    if (text.front() == '\n') {
      out += '\n';
      out += indent;
      text.remove_prefix(1);
    } else if (const std::size_t bytes = control_at(text); bytes != 0) {
      out += '?';
      text.remove_prefix(bytes);
    } else {
      out += text.front();
      text.remove_prefix(1);
    }
  }
  return out;
}

void add_text(std::string& out, const Diagnostic& diagnostic, bool colour) {
  const Palette p = palette(diagnostic.severity, colour);
  const std::string_view name = severity_name(diagnostic.severity);
  const std::string label =
      diagnostic.clause.empty() ? std::string(name) : fmt::format("{}[{}]", name, diagnostic.clause);
  out += fmt::format("{}{}{}{}: {}{}\n", p.severity, label, p.reset, p.bold, indented(diagnostic.title, "  "),
                     p.reset);
  for (const LabelledFact& fact : diagnostic.facts) {
    const std::string where = position(fact.where);
    out += "  ";
    if (!fact.owner.empty()) out += fmt::format("{}{}{}: ", p.bold, indented(fact.owner, "    "), p.reset);
    out += indented(fact.text, "    ");
    if (!where.empty()) out += fmt::format(" {}({}){}", p.dim, indented(where, "    "), p.reset);
    out += '\n';
  }
  if (!diagnostic.reason.empty())
    out += fmt::format("  {}= reason:{} {}\n", p.dim, p.reset, indented(diagnostic.reason, "            "));
  if (!diagnostic.help.empty())
    out += fmt::format("  {}= help:{} {}\n", p.dim, p.reset, indented(diagnostic.help, "          "));
}

Json location(const SourceSpan& where, const std::string& message) {
  Json physical = {{"artifactLocation", {{"uri", where.file}}}};
  if (where.line > 0) physical["region"] = {{"startLine", where.line}};
  Json out = {{"physicalLocation", std::move(physical)}};
  if (!message.empty()) out["message"] = {{"text", message}};
  return out;
}

std::string fact_text(const LabelledFact& fact) {
  return fact.owner.empty() ? fact.text : fmt::format("{}: {}", fact.owner, fact.text);
}

Json sarif_result(const Diagnostic& diagnostic, const std::vector<std::string>& rules) {
  std::string message = diagnostic.title;
  for (const LabelledFact& fact : diagnostic.facts) message += fmt::format("\n{}", fact_text(fact));
  if (!diagnostic.reason.empty()) message += "\nreason: " + diagnostic.reason;
  if (!diagnostic.help.empty()) message += "\nhelp: " + diagnostic.help;
  Json result = {{"ruleId", diagnostic.clause},
                 {"level", severity_name(diagnostic.severity)},
                 {"message", {{"text", message}}}};
  const auto rule = std::find(rules.begin(), rules.end(), diagnostic.clause);
  if (rule != rules.end()) result["ruleIndex"] = rule - rules.begin();
  Json located = Json::array();
  for (const LabelledFact& fact : diagnostic.facts)
    if (!fact.where.file.empty()) located.push_back(location(fact.where, fact_text(fact)));
  if (located.empty()) return result;
  result["locations"] = Json::array({located[0]});
  if (located.size() > 1) {
    located.erase(located.begin());
    result["relatedLocations"] = std::move(located);
  }
  return result;
}

std::string wrapped(std::string_view text, std::string_view first, std::string_view rest) {
  constexpr std::size_t kWidth = 88;
  std::string out(first);
  std::size_t column = first.size();
  bool at_start = true;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(std::min(space + 1, text.size()));
    if (!at_start && column + 1 + word.size() > kWidth) {
      out += '\n';
      out += rest;
      column = rest.size();
      at_start = true;
    }
    if (!at_start) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    at_start = false;
  }
  return out + '\n';
}

}  // namespace

bool parse_format(std::string_view word, Format& format) {
  if (word == "text")
    format = Format::kText;
  else if (word == "json")
    format = Format::kJson;
  else if (word == "sarif")
    format = Format::kSarif;
  else
    return false;
  return true;
}

bool wants_colour(int file_descriptor) {
  const char* no_colour = std::getenv("NO_COLOR");
  return (no_colour == nullptr || *no_colour == '\0') && ::isatty(file_descriptor) == 1;
}

std::string render_text(const Diagnostics& diagnostics, bool colour) {
  constexpr int kShown = 20;  // of one severity and clause
  std::string out;
  std::map<std::pair<Severity, std::string>, int> counts;
  for (const Diagnostic& diagnostic : diagnostics) {
    if (++counts[{diagnostic.severity, diagnostic.clause}] > kShown) continue;
    if (!out.empty()) out += '\n';
    add_text(out, diagnostic, colour);
  }
  std::string more;
  for (const auto& [kind, count] : counts)
    if (count > kShown)
      more += fmt::format("and {} more of {}[{}]; --format json shows all\n", count - kShown,
                          severity_name(kind.first), kind.second);
  return more.empty() ? out : out + '\n' + more;
}

std::string render_json(const Diagnostics& diagnostics) {
  Json list = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) {
    Json facts = Json::array();
    for (const LabelledFact& fact : diagnostic.facts)
      facts.push_back(
          {{"owner", fact.owner}, {"text", fact.text}, {"file", fact.where.file}, {"line", fact.where.line}});
    list.push_back({{"severity", severity_name(diagnostic.severity)},
                    {"clause", diagnostic.clause},
                    {"title", diagnostic.title},
                    {"facts", std::move(facts)},
                    {"reason", diagnostic.reason},
                    {"help", diagnostic.help}});
  }
  return json_text({{"diagnostics", std::move(list)}});
}

std::string render_sarif(const Diagnostics& diagnostics) {
  std::set<std::string> named;
  for (const Diagnostic& diagnostic : diagnostics)
    if (find_clause(diagnostic.clause) != nullptr) named.insert(diagnostic.clause);
  const std::vector<std::string> ids(named.begin(), named.end());
  Json rules = Json::array();
  for (const std::string& id : ids) {
    const Clause& clause = *find_clause(id);
    rules.push_back({{"id", id},
                     {"shortDescription", {{"text", clause.title}}},
                     {"fullDescription", {{"text", fmt::format("{} {}", clause.rule, clause.reason)}}},
                     {"help", {{"text", clause.help}}}});
  }
  Json results = Json::array();
  for (const Diagnostic& diagnostic : diagnostics) results.push_back(sarif_result(diagnostic, ids));
  Json driver = {{"name", "pipelink"}, {"rules", std::move(rules)}};
  Json run;
  run["tool"]["driver"] = std::move(driver);
  run["results"] = std::move(results);
  return json_text({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                    {"version", "2.1.0"},
                    {"runs", Json::array({std::move(run)})}});
}

std::string render(const Diagnostics& diagnostics, Format format, bool colour) {
  switch (format) {
    case Format::kText:
      return render_text(diagnostics, colour);
    case Format::kJson:
      return render_json(diagnostics);
    case Format::kSarif:
      return render_sarif(diagnostics);
  }
  return {};
}

std::string explain_text(const Clause& clause) {
  std::string out = fmt::format("{}: {}\n\n", clause.id, clause.title);
  out += wrapped(clause.rule, "  rule    ", "          ");
  out += wrapped(clause.reason, "  reason  ", "          ");
  out += wrapped(clause.help, "  help    ", "          ");
  return out;
}

std::string explain_json(std::span<const Clause> list) {
  Json out = Json::array();
  for (const Clause& clause : list)
    out.push_back({{"id", clause.id},
                   {"kind", kind_name(kind_of(clause.id))},
                   {"title", clause.title},
                   {"rule", clause.rule},
                   {"reason", clause.reason},
                   {"help", clause.help}});
  return json_text({{"clauses", std::move(out)}});
}

std::string clause_list_text() {
  std::size_t width = 0;
  for (const Clause& clause : clauses()) width = std::max(width, clause.id.size());
  std::string out;
  for (const Clause& clause : clauses()) out += fmt::format("{:<{}}  {}\n", clause.id, width, clause.title);
  return out;
}

}  // namespace pipelink
