#include "linker/cli/completion.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <initializer_list>

namespace pipelink::cli {
namespace {

/// `text` with a backslash before each of `special`, and without the line ends.
std::string escaped(const std::string& text, const std::string& special) {
  std::string out;
  for (char c : text) {
    if (special.find(c) != std::string::npos) out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

/// In single quotes for a POSIX shell and zsh, where a quote ends the text, stands escaped and begins it
/// anew.
std::string quoted_text(const std::string& text) {
  std::string out = "'";
  for (char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c == '\n' ? ' ' : c);
  return out + "'";
}

std::vector<std::string> names_of(const std::vector<OptionModel>& options) {
  std::vector<std::string> names;
  for (const OptionModel& option : options)
    names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::vector<OptionModel> with_common(const ToolModel& tool, const CommandModel& command) {
  std::vector<OptionModel> options = command.options;
  for (const OptionModel& option : tool.tool.options)
    if (option.names.back() != "--help" && option.names.back() != "--version") options.push_back(option);
  return options;
}

// ---- bash

/// The call that sets COMPREPLY to what can stand for a value.
std::string bash_action(const ValueKind& kind) {
  if (!kind.words.empty()) return fmt::format("_pipelink_words '{}'", fmt::join(kind.words, " "));
  if (kind.folders) return "_pipelink_files -d";
  if (kind.files) return "_pipelink_files -f";
  if (!kind.suffixes.empty()) return fmt::format("_pipelink_suffixes {}", fmt::join(kind.suffixes, " "));
  return ":";
}

std::string bash(const ToolModel& tool) {
  std::vector<std::string> commands;
  std::string values, words, arguments;
  const auto add_values = [&](const std::string& command, const std::vector<OptionModel>& options) {
    for (const OptionModel& option : options)
      if (!option.value.empty())
        for (const std::string& name : option.names)
          values += fmt::format("    '{} {}') {}; return ;;\n", command, name, bash_action(option.kind));
  };
  add_values("", tool.tool.options);
  for (const CommandModel& command : tool.commands) {
    commands.push_back(command.name);
    const std::vector<OptionModel> options = with_common(tool, command);
    add_values(command.name, options);
    words +=
        fmt::format("      {}) _pipelink_words '{}' ;;\n", command.name, fmt::join(names_of(options), " "));
    if (!command.positionals.empty())
      arguments +=
          fmt::format("    {}) {} ;;\n", command.name, bash_action(command.positionals.front().kind));
  }
  return fmt::format(R"(# Completion of pipelink in bash, made by `pipelink completion bash`.
_pipelink_words() {{ mapfile -t COMPREPLY < <(compgen -W "$1" -- "$_pipelink_word"); }}
_pipelink_files() {{
  compopt -o filenames
  mapfile -t COMPREPLY < <(compgen "$1" -- "$_pipelink_word")
}}
_pipelink_suffixes() {{
  local suffix
  compopt -o filenames
  mapfile -t COMPREPLY < <(
    for suffix; do compgen -f -X "!*$suffix" -- "$_pipelink_word"; done
    compgen -d -- "$_pipelink_word"
  )
}}
_pipelink() {{
  local _pipelink_word="${{COMP_WORDS[COMP_CWORD]}}" option="${{COMP_WORDS[COMP_CWORD - 1]}}" command="" word
  COMPREPLY=()
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD - 1}}"; do
    case "$word" in
      {0}) command="$word"; break ;;
    esac
  done
  if [[ $_pipelink_word == = ]]; then
    _pipelink_word=""
  elif [[ $option == = ]]; then
    option="${{COMP_WORDS[COMP_CWORD - 2]}}"
  fi
  case "$command $option" in
{1}  esac
  if [[ $_pipelink_word == -* ]]; then
    case "$command" in
      '') _pipelink_words '{2}' ;;
{3}    esac
    return
  fi
  case "$command" in
    '') _pipelink_words '{4}' ;;
{5}  esac
}}
complete -F _pipelink pipelink
)",
                     fmt::join(commands, "|"), values, fmt::join(names_of(tool.tool.options), " "), words,
                     fmt::join(commands, " "), arguments);
}

// ---- zsh

std::string zsh_action(const ValueKind& kind) {
  if (!kind.words.empty()) return fmt::format("({})", fmt::join(kind.words, " "));
  if (kind.folders) return "_files -/";
  if (kind.files) return "_files";
  if (!kind.suffixes.empty())  // with `|`, brackets at the end are no qualifier
    return fmt::format("_files -g \"(*{}|)\"", fmt::join(kind.suffixes, "|*"));
  return " ";
}

std::string zsh_options(const std::vector<OptionModel>& options, const std::string& margin) {
  std::string out;
  for (const OptionModel& option : options)
    for (const std::string& name : option.names) {
      std::string spec = name + "[" + escaped(option.text, "[]\\:") + "]";
      if (option.repeats) spec = "*" + spec;
      if (!option.value.empty()) spec += ":" + escaped(option.value, ":\\") + ":" + zsh_action(option.kind);
      out += " \\\n" + margin + quoted_text(spec);
    }
  return out;
}

std::string zsh(const ToolModel& tool) {
  std::string commands, cases;
  for (const CommandModel& command : tool.commands) {
    commands += "    " + quoted_text(command.name + ":" + escaped(command.title, ":\\")) + "\n";
    std::string specs = zsh_options(with_common(tool, command), "        ");
    for (const OptionModel& positional : command.positionals)
      specs +=
          " \\\n        " + quoted_text((positional.repeats ? "*:" : ":") + escaped(positional.value, ":\\") +
                                        ":" + zsh_action(positional.kind));
    cases += fmt::format("    {}) _arguments{} ;;\n", command.name, specs);
  }
  return fmt::format(R"(#compdef pipelink
# Completion of pipelink in zsh, made by `pipelink completion zsh`.
_pipelink() {{
  local state
  local -a commands
  commands=(
{0}  )
  _arguments -C{1} \
    '1:command:->command' '*::argument:->argument'
  case $state in
  command) _describe command commands ;;
  argument)
    case $words[1] in
{2}    esac
    ;;
  esac
}}
if [[ $funcstack[1] == _pipelink ]]; then  # as a file of fpath
  _pipelink "$@"
else
  compdef _pipelink pipelink
fi
)",
                     commands, zsh_options(tool.tool.options, "    "), cases);
}

// ---- fish

std::string fish_action(const ValueKind& kind) {
  if (!kind.words.empty()) return fmt::format(" -a '{}'", fmt::join(kind.words, " "));
  if (kind.folders) return " -a '(__fish_complete_directories)'";
  if (kind.files) return " -F";
  std::string calls;
  for (const std::string& suffix : kind.suffixes)
    calls += (calls.empty() ? "" : "; ") + fmt::format("__fish_complete_suffix {}", suffix);
  return calls.empty() ? "" : " -a '(" + calls + ")'";
}

std::string fish_options(const std::vector<OptionModel>& options, const std::string& condition) {
  std::string out;
  for (const OptionModel& option : options) {
    std::string line = "complete -c pipelink" + condition;
    for (const std::string& name : option.names)
      line += (name.starts_with("--") ? " -l " : " -s ") + name.substr(name.find_first_not_of('-'));
    if (!option.value.empty()) line += (option.kind.files ? " -r" : " -x") + fish_action(option.kind);
    out += line + " -d '" + escaped(option.text, "'\\") + "'\n";
  }
  return out;
}

std::string fish(const ToolModel& tool) {
  std::string out =
      "# Completion of pipelink in fish, made by `pipelink completion fish`.\ncomplete -c pipelink -f\n" +
      fish_options(tool.tool.options, "");
  std::vector<std::string> commands;
  for (const CommandModel& command : tool.commands) commands.push_back(command.name);
  for (const CommandModel& command : tool.commands) {
    out += fmt::format("complete -c pipelink -n 'not __fish_seen_subcommand_from {}' -a {} -d '{}'\n",
                       fmt::join(commands, " "), command.name, escaped(command.title, "'\\"));
    const std::string condition = fmt::format(" -n '__fish_seen_subcommand_from {}'", command.name);
    out += fish_options(command.options, condition);
    if (!command.positionals.empty())
      if (const std::string action = fish_action(command.positionals.front().kind); !action.empty())
        out += "complete -c pipelink" + condition + action + "\n";
  }
  return out;
}

}  // namespace

std::string completion_script(const ToolModel& tool, const std::string& shell) {
  if (shell == "bash") return bash(tool);
  if (shell == "zsh") return zsh(tool);
  if (shell == "fish") return fish(tool);
  return {};
}

}  // namespace pipelink::cli
