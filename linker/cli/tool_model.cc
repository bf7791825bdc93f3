#include "linker/cli/tool_model.h"

#include <CLI/CLI.hpp>

#include "packager/base/catalog.h"

namespace pipelink::cli {
namespace {

bool lower(char c) {
  return c >= 'a' && c <= 'z';
}

ValueKind value_kind(const std::string& value) {
  ValueKind kind;
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t bar = std::min(value.find('|', at), value.size());
    const std::string part = value.substr(at, bar - at);
    at = bar + 1;
    std::size_t suffix = part.find('.');
    while (suffix != std::string::npos && !(suffix + 1 < part.size() && lower(part[suffix + 1])))
      suffix = part.find('.', suffix + 1);
    if (suffix != std::string::npos) {
      kind.suffixes.push_back(part.substr(suffix));
    } else if (part == "FOLDER") {
      kind.folders = true;
    } else if (part == "FILE" || part == "OBJECT") {
      kind.files = true;
    } else if (part == "CLAUSE") {
      for (const Clause& clause : clauses()) kind.words.emplace_back(clause.id);
    } else if (!part.empty() && lower(part.front())) {
      kind.words.push_back(part);
    }
  }
  return kind;
}

OptionModel option_model(const CLI::Option& option) {
  OptionModel out;
  for (const std::string& name : option.get_snames()) out.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) out.names.push_back("--" + name);
  if (option.get_positional())
    out.value = option.get_name(true);
  else if (option.get_type_size() != 0)
    out.value = option.get_type_name();
  out.kind = value_kind(out.value);
  out.text = option.get_description();
  out.default_text = option.get_default_str();
  out.required = option.get_required();
  out.repeats = option.get_expected_max() == CLI::detail::expected_max_vector_size;
  return out;
}

CommandModel command_model(const CLI::App& app) {
  CommandModel out;
  out.name = app.get_name();
  const std::string text = app.get_description();
  const std::size_t line = std::min(text.find('\n'), text.size());
  out.title = text.substr(0, line);
  out.text = text.substr(std::min(text.find_first_not_of('\n', line), text.size()));
  out.end = app.get_footer();
  for (const CLI::Option* option : app.get_options({}))
    (option->get_positional() ? out.positionals : out.options).push_back(option_model(*option));
  return out;
}

}  // namespace

ToolModel tool_model(const CLI::App& app) {
  ToolModel out{command_model(app), {}};
  for (const CLI::App* command : app.get_subcommands({})) out.commands.push_back(command_model(*command));
  return out;
}

}  // namespace pipelink::cli
