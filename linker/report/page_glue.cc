// The generated code, with its words told apart and each line pointing back at what it speaks of.
#include <fmt/format.h>

#include <cctype>
#include <set>

#include "linker/codegen/render_template.h"
#include "linker/report/page_parts.h"

namespace pipelink::page {

using nlohmann::json;

namespace {

struct Span {
  std::string kind,
      text;  // kind: "", "k" keyword, "t" type, "n" number, "s" text, "m" comment, "p" directive, "h" handle
};

const std::set<std::string, std::less<>> kKeywords = {"asm",
                                                      "auto",
                                                      "case",
                                                      "const",
                                                      "constexpr",
                                                      "default",
                                                      "else",
                                                      "extern",
                                                      "for",
                                                      "if",
                                                      "inline",
                                                      "return",
                                                      "static",
                                                      "struct",
                                                      "switch",
                                                      "typedef",
                                                      "using",
                                                      "volatile",
                                                      "namespace",
                                                      "static_cast",
                                                      "operator",
                                                      "while",
                                                      "template",
                                                      "__device__",
                                                      "__global__",
                                                      "__shared__",
                                                      "__align__",
                                                      "__forceinline__",
                                                      "__launch_bounds__",
                                                      "__cluster_dims__",
                                                      "__grid_constant__",
                                                      "__inline_hint__",
                                                      "__restrict__",
                                                      "reinterpret_cast",
                                                      "alignas",
                                                      "enum",
                                                      "class"};
const std::set<std::string, std::less<>> kTypes = {"void",     "bool",   "char",     "short",
                                                   "int",      "long",   "float",    "double",
                                                   "unsigned", "signed", "pipelink", "Self"};

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

class Scanner {
 public:
  /// Spans of one line; `in_comment` says whether it begins within a block comment, and then whether it ends
  /// so.
  std::vector<Span> scan(const std::string& line, bool& in_comment) {
    out_.clear();
    std::size_t at = 0;
    while (at < line.size()) {
      if (in_comment) {
        const std::size_t end = line.find("*/", at);
        in_comment = end == std::string::npos;
        at = add("m", line, at, in_comment ? line.size() : end + 2);
      } else if (line.compare(at, 2, "//") == 0 || (line[at] == '#' && line.find_first_not_of(" \t") == at)) {
        at = add(line[at] == '#' ? "p" : "m", line, at, line.size());
      } else if (line.compare(at, 2, "/*") == 0) {
        in_comment = true;
      } else if (line[at] == '"' || line[at] == '\'') {
        at = add("s", line, at, string_end(line, at));
      } else if (std::isdigit(static_cast<unsigned char>(line[at])) != 0) {
        std::size_t end = at;
        while (end < line.size() && (is_word(line[end]) || line[end] == '.' || line[end] == '\'')) ++end;
        at = add("n", line, at, end);
      } else if (is_word(line[at])) {
        std::size_t end = at;
        while (end < line.size() && is_word(line[end])) ++end;
        const std::string word = line.substr(at, end - at);
        at = add(kKeywords.contains(word)   ? "k"
                 : kTypes.contains(word)    ? "t"
                 : word.starts_with("pl__") ? "h"
                                            : "",
                 line, at, end);
      } else {
        at = add("", line, at, at + 1);
      }
    }
    return out_;
  }

 private:
  static std::size_t string_end(const std::string& line, std::size_t at) {
    const char quote = line[at];
    for (std::size_t end = at + 1; end < line.size(); ++end) {
      if (line[end] == '\\')
        ++end;
      else if (line[end] == quote)
        return end + 1;
    }
    return line.size();
  }
  std::size_t add(const char* kind, const std::string& line, std::size_t from, std::size_t to) {
    if (!out_.empty() && out_.back().kind == kind)
      out_.back().text += line.substr(from, to - from);
    else
      out_.push_back({kind, line.substr(from, to - from)});
    return to;
  }

  std::vector<Span> out_;
};

/// Line → what points at it: (id, name, colour).
std::map<int, json> notes(const Context& context) {
  std::map<int, json> out;
  const auto add = [&](const auto& list, const std::map<std::string, std::string>& ids, const auto& owner) {
    for (const auto& item : list)
      for (int line : item.glue)
        out[line].push_back(
            {{"id", ids.at(item.name)}, {"name", item.name}, {"colour", context.colour(owner(item))}});
  };
  const auto claim_owner = [](const MapClaim& c) { return c.owner; };
  add(context.map.shared, context.shared, claim_owner);
  add(context.map.tensor_memory, context.tensor_memory, claim_owner);
  add(context.map.barriers, context.barriers, claim_owner);
  add(context.map.roles, context.roles, claim_owner);
  add(context.map.facts, context.facts, [](const MapFact& f) { return f.name.substr(0, f.name.find('.')); });
  return out;
}

}  // namespace

Outcome<std::string> glue(const Context& context) {
  json lines = json::array();
  Scanner scanner;
  bool in_comment = false;
  std::map<int, json> claims = notes(context);
  for (std::size_t n = 0; n < context.map.glue.size(); ++n) {
    json spans = json::array();
    for (const Span& s : scanner.scan(context.map.glue[n], in_comment))
      spans.push_back({{"plain", s.kind.empty()}, {"kind", s.kind}, {"text", s.text}});
    const auto it = claims.find(static_cast<int>(n) + 1);
    lines.push_back({{"n", n + 1},
                     {"spans", std::move(spans)},
                     {"claims", it == claims.end() ? json::array() : it->second}});
  }
  const bool some = !lines.empty();
  return render_html("report_glue.html", {{"some", some},
                                          {"count", plural(static_cast<std::int64_t>(lines.size()), "line")},
                                          {"sha256", context.map.glue_sha256},
                                          {"name", context.map.name},
                                          {"arch", context.map.arch},
                                          {"lines", std::move(lines)}});
}

}  // namespace pipelink::page
