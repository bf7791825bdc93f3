// The command line as data, for what is generated from it: completions and the manual page.
#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace pipelink::cli {

/// What stands for a value in the help says what can stand there: FILE.plk is a file of this suffix, FOLDER a
/// folder, FILE any file, CLAUSE a clause's id, words of lower case themselves; `|` is between alternatives.
/// Anything else is free text.
struct ValueKind {
  std::vector<std::string> words, suffixes;  ///< ".plk"
  bool files = false, folders = false;
};

struct OptionModel {
  std::vector<std::string> names;  ///< "-o", "--output"; of a positional: none
  std::string value;               ///< as the help shows it; empty for a flag
  ValueKind kind;
  std::string text, default_text;
  bool required = false, repeats = false;
};

struct CommandModel {
  std::string name;
  std::string title;  ///< a line
  std::string text;   ///< the paragraphs below it
  std::string end;    ///< examples, exit status
  std::vector<OptionModel> positionals, options;
};

struct ToolModel {
  CommandModel tool;
  std::vector<CommandModel> commands;
};

ToolModel tool_model(const CLI::App& app);

}  // namespace pipelink::cli
