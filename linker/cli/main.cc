// Reads the command line (definition.h) and does what it says (commands.h).
#include <cstdio>

#include "linker/cli/definition.h"

int main(int argc, char** argv) {
  CLI::App app("", "pipelink");
  pipelink::cli::Arguments arguments;
  pipelink::cli::define(app, arguments);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& e) {
    return app.exit(e) == 0 ? 0 : 2;
  }
  pipelink::cli::Common common;
  if (!pipelink::parse_format(arguments.format, common.format)) {
    std::fprintf(stderr, "error[U-USAGE]: --format is text, json or sarif, not '%s'\n",
                 arguments.format.c_str());
    return 2;
  }
  return arguments.action(common);
}
