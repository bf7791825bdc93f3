#include <fmt/format.h>

#include <algorithm>

#include "packager/contract/records.h"

namespace pipelink::contract {
namespace {

constexpr std::size_t kMaxRecord = 1 << 20;

Diagnostic fault(std::string what) {
  return make_error("P-RECORD", "a record in the object cannot be read", {}, std::move(what),
                    "compile with the authoring headers of this PipeLink");
}

bool unescape(std::string_view text, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (++i >= text.size()) return false;
    if (text[i] == 'n')
      out += '\n';
    else if (text[i] == '\\')
      out += '\\';
    else
      return false;
  }
  return true;
}

void escape(std::string_view text, std::string& out) {
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '\\')
      out += "\\\\";
    else
      out += c;
  }
}

bool is_key(std::string_view key) {
  return !key.empty() &&
         std::all_of(key.begin(), key.end(), [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
}

}  // namespace

const std::string* Record::find(std::string_view key) const {
  for (const auto& entry : entries)
    if (entry.first == key) return &entry.second;
  return nullptr;
}

Outcome<Record> parse_record(std::string_view text) {
  if (text.size() > kMaxRecord)
    return fault(fmt::format("it has {} bytes, the bound is {}", text.size(), kMaxRecord));
  if (const std::size_t nul = text.find('\0'); nul != std::string_view::npos) text = text.substr(0, nul);
  if (!text.starts_with(kRecordMagic)) {
    const std::string_view line = text.substr(0, std::min(text.find('\n'), std::size_t{40}));
    if (!line.starts_with("pipelink-record/")) return fault("it does not begin with 'pipelink-record/1'");
    return make_error("I-FORMAT", fmt::format("record format '{}' is not known", line), {},
                      "this PipeLink reads 'pipelink-record/1'",
                      "use the PipeLink whose authoring headers were compiled");
  }
  text.remove_prefix(kRecordMagic.size());
  Record record;
  for (int line = 2; !text.empty(); ++line) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) return fault(fmt::format("line {} has no end", line));
    const std::string_view entry = text.substr(0, end);
    text.remove_prefix(end + 1);
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || !is_key(entry.substr(0, equals)))
      return fault(fmt::format("line {} is not key=value", line));
    std::string value;
    if (!unescape(entry.substr(equals + 1), value))
      return fault(fmt::format("line {} has a '\\' before neither 'n' nor '\\'", line));
    record.entries.emplace_back(std::string(entry.substr(0, equals)), std::move(value));
  }
  return record;
}

std::string record_text(const Record& record) {
  std::string out(kRecordMagic);
  for (const auto& [key, value] : record.entries) {
    out += key;
    out += '=';
    escape(value, out);
    out += '\n';
  }
  out += '\0';
  return out;
}

}  // namespace pipelink::contract
