#include "linker/cli/manual.h"

#include <fmt/format.h>

#include "linker/version.h"

namespace pipelink::cli {
namespace {

/// Text that roff shows as it is.
std::string plain(const std::string& text) {
  std::string out;
  bool line_begins = true;
  for (char c : text) {
    if (line_begins && (c == '.' || c == '\'')) out += "\\&";
    if (c == '\\') {
      out += "\\e";
    } else {
      if (c == '-') out += '\\';
      out += c;
    }
    line_begins = c == '\n';
  }
  return out;
}

/// Paragraphs as they are; a paragraph that is indented keeps its lines.
std::string paragraphs(const std::string& text) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find("\n\n", at), text.size());
    std::string part = text.substr(at, end - at);
    const std::size_t indented = part.find("\n  ");
    if (part.ends_with(':') || indented != std::string::npos) {  // "Examples:" and its lines
      const std::size_t line = std::min(part.find('\n'), part.size());
      out += ".PP\n" + plain(part.substr(0, line)) + "\n.nf\n" +
             plain(part.substr(std::min(line + 1, part.size()))) + "\n.fi\n";
    } else {
      out += ".PP\n" + plain(part) + "\n";
    }
    at = end + 2;
  }
  return out;
}

std::string option_list(const std::vector<OptionModel>& options) {
  std::string out;
  for (const OptionModel& option : options) {
    std::string names;
    for (const std::string& name : option.names) names += (names.empty() ? "" : ", ") + name;
    out += fmt::format(".TP\n\\fB{}\\fR{}\\fI{}\\fR\n{}", plain(names),
                       names.empty() || option.value.empty() ? "" : " ", plain(option.value),
                       plain(option.text));
    if (!option.default_text.empty()) out += plain(fmt::format(" Default: {}.", option.default_text));
    if (option.required && !names.empty()) out += " Required.";
    out += "\n";
  }
  return out;
}

std::string synopsis(const CommandModel& command) {
  std::string out = "\\fBpipelink " + command.name + "\\fR [\\fIoptions\\fR]";
  for (const OptionModel& positional : command.positionals) {
    const std::string name = "\\fI" + plain(positional.value) + "\\fR" + (positional.repeats ? "..." : "");
    out += positional.required ? " " + name : " [" + name + "]";
  }
  return out;
}

}  // namespace

std::string manual_page(const ToolModel& tool) {
  std::string out =
      fmt::format(".\\\" Made by `pipelink manual`.\n.TH PIPELINK 1 \"\" \"pipelink {}\"\n", kVersion);
  out += ".SH NAME\npipelink \\- " + plain(tool.tool.title) + "\n.SH SYNOPSIS\n";
  for (const CommandModel& command : tool.commands) out += synopsis(command) + "\n.br\n";
  out += ".SH DESCRIPTION\n" + paragraphs(tool.tool.text);
  out += ".SH COMMON OPTIONS\n" + option_list(tool.tool.options);
  out += ".SH COMMANDS\n";
  for (const CommandModel& command : tool.commands)
    out += ".SS pipelink " + command.name + "\n" + plain(command.title) + ".\n" + paragraphs(command.text) +
           ".PP\n" + synopsis(command) + "\n" + option_list(command.positionals) +
           option_list(command.options) + paragraphs(command.end);
  return out + ".SH EXIT STATUS AND MORE\n" + paragraphs(tool.tool.end);
}

}  // namespace pipelink::cli
