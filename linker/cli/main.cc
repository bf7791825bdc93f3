// Reads the command line (definition.h) and does what it says (commands.h).
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include <cctype>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "linker/bind/words.h"
#include "linker/cli/definition.h"
#include "packager/base/words.h"

namespace {

using namespace pipelink;

/// `--format` of a command line that was not read to its end.
std::string_view stated_format(int argc, char** argv) {
  constexpr std::string_view kOption = "--format";
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == kOption && i + 1 < argc) return argv[i + 1];
    if (word.starts_with(kOption) && word.substr(kOption.size()).starts_with('='))
      return word.substr(kOption.size() + 1);
  }
  return "text";
}

/// Nothing that stands in the place of a command is one.
Diagnostic no_command(const CLI::App& app, const std::string& word) {
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; }))
    if (!command->get_group().empty()) commands.push_back(command->get_name());
  const std::vector<std::string> near = binding::near_names(word, commands);
  return make_error("U-USAGE", "there is no command '" + word + "'", {}, {},
                    near.empty() ? "the commands are " + joined(commands, ", ")
                                 : "do you mean `pipelink " + near.front() + "`?");
}

Diagnostic not_valid(const CLI::App& app, const CLI::ParseError& error, const char* first) {
  if (app.get_subcommands().empty() && first != nullptr && *first != '-') return no_command(app, first);
  std::string what = error.what();
  while (!what.empty() && (what.back() == '.' || std::isspace(static_cast<unsigned char>(what.back())) != 0))
    what.pop_back();
  if (what.size() > 1 && std::isupper(static_cast<unsigned char>(what[1])) == 0)  // a word, and no name
    what[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(what[0])));
  std::string command = "pipelink";
  for (const CLI::App* given : app.get_subcommands()) command += " " + given->get_name();
  return make_error("U-USAGE", what, {}, {}, "`" + command + " --help` says what it takes");
}

/// A standard stream that the caller has closed stays so for who uses it, but its number is taken: else the
/// next file or pipe that is opened gets it, and what is printed goes there.
void take_closed_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/// --help, --version
int show(const CLI::App& app, const CLI::ParseError& asked) {
  std::ostringstream text;
  const int status = app.exit(asked, text, text);
  pipelink::cli::print(text.str());
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  take_closed_streams();
  // A file that may not grow is an error of its write, which then takes back what it has written.
  signal(SIGXFSZ, SIG_IGN);
  CLI::App app("", "pipelink");
  pipelink::cli::Arguments arguments;
  pipelink::cli::define(app, arguments);
  pipelink::cli::Common common;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    if (e.get_exit_code() == 0) return show(app, e);
    parse_format(stated_format(argc, argv), common.format);
    return pipelink::cli::finish(common, {not_valid(app, e, argc > 1 ? argv[1] : nullptr)});
  }
  if (!parse_format(arguments.format, common.format))
    return pipelink::cli::finish(
        common, {make_error("U-USAGE", "there is no format '" + arguments.format + "'", {}, {},
                            "--format is text, json or sarif")});
  return arguments.action(common);
}
