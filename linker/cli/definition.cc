#include "linker/cli/definition.h"

#include <fmt/format.h>

#include <functional>
#include <string>

#include "linker/cli/files.h"
#include "linker/cli/tool_model.h"
#include "linker/version.h"

namespace pipelink::cli {
namespace {

/// In the list of subcommands, the first line of each; wrapped descriptions of options.
class Formatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* command, std::string name) const override {
    return "\n" + CLI::Formatter::make_usage(command, std::move(name));
  }

  std::string make_subcommand(const CLI::App* command) const override {
    const std::string text = command->get_description();
    std::ostringstream out;
    CLI::detail::format_help(out, command->get_name(), text.substr(0, text.find('\n')), column_width_);
    return out.str();
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    constexpr std::size_t kWidth = 80;
    std::istringstream words(option->get_description());
    std::string out, line, word;
    while (words >> word) {
      if (!line.empty() && line.size() + 1 + word.size() > kWidth) {
        out += line + "\n";
        line.clear();
      }
      line += (line.empty() ? "" : " ") + word;
    }
    return out + line;
  }
};

/// Where a minus sign would be taken for a number near 2^64.
std::string is_natural(const std::string& number) {
  const bool digits = !number.empty() && number.find_first_not_of("0123456789") == std::string::npos;
  return digits ? "" : "'" + number + "' is no whole number from 0";
}

/// CLI11's own range would be shown beside the option's name.
std::function<std::string(const std::string&)> whole_number(long least, long most) {
  return [least, most](const std::string& number) -> std::string {
    if (is_natural(number).empty() && number.size() < 10 && std::stol(number) >= least &&
        std::stol(number) <= most)
      return "";
    return fmt::format("'{}' is no whole number from {} to {}", number, least, most);
  };
}

/// An empty name would mean the root of the file system.
std::string has_a_name(const std::string& folder) {
  return folder.empty() ? "the folder's name is empty" : "";
}

CLI::App* add(CLI::App& app, const std::string& name, const std::string& text, const std::string& end) {
  CLI::App* command = app.add_subcommand(name, text);
  command->footer(end + "\n\n`pipelink --help` has the options that all commands take.");
  return command;
}

void add_list_files(CLI::App* command, Arguments& a) {
  command->add_flag(
      "--list-files", a.list_files,
      "Do nothing but print the files that the command would read and write, as JSON: inputs, outputs, "
      "and toolchain (the tool and the libraries that it loads)");
}

void add_pack(CLI::App& app, Arguments& a) {
  CLI::App* command = add(app, "pack", R"(Make a package of a component's objects

Reads link-time code, contract and all that can be measured from the objects of one
component for one architecture, checks them against each other, and writes one
file. The same objects give the same bytes.)",
                          R"(Example:
  pipelink pack --name fill --version 1.0.0 --arch sm_90a -o fill.sm_90a.plk fill.fatbin

Exit status:
  0  the package is written
  1  contract and object do not agree (a P- clause); nothing is written
  2  the command line, a file or the toolchain is at fault; nothing is written)");
  command->add_option("--name", a.pack.name, "The component's name, as in PIPELINK_COMPONENT")
      ->required()
      ->type_name("NAME");
  command->add_option("--version", a.pack.version, "The package's version, as its owner counts")
      ->required()
      ->type_name("VERSION");
  command->add_option("--arch", a.pack.arch, "The real architecture of the objects, e.g. sm_90a")
      ->required()
      ->type_name("ARCH");
  command->add_option("-o,--output", a.pack.output, "The package to write: NAME.ARCH.plk")
      ->required()
      ->type_name("FILE.plk");
  command
      ->add_option("--host-library", a.pack.host_library,
                   "The static library of the component's host provider; its digest is recorded")
      ->type_name("FILE.a");
  command
      ->add_option("--source-root", a.pack.source_root,
                   "A folder that is taken off the file names that annotations recorded")
      ->type_name("FOLDER");
  command->add_option("OBJECT", a.pack.objects, "What nvcc -fatbin (or -c) made, with LTO-IR and PTX")
      ->required()
      ->type_name("");
  add_list_files(command, a);
  command->callback([&a] {
    a.action = [&a](const Common& common) {
      return a.list_files ? list_files(common, files_of_pack(a.pack)) : pack(common, a.pack);
    };
  });
}

void add_why(CLI::App* command, Why& why, const std::string& more) {
  CLI::Option* names =
      command
          ->add_option(
              "--why", why.names,
              "Say why this ring is not deeper, why this role has no more registers, or how this tensor is "
              "routed" +
                  more)
          ->type_name("OWNER.NAME");
  command->add_flag("--steps", why.steps, "Let --why list each step of a route")->needs(names);
}

void add_check(CLI::App& app, Arguments& a) {
  CLI::App* command = add(app, "check", R"(Bind, check and place a composition, without linking it

Reads the composition and its packages, pairs ports, checks the contracts against
each other, and places shared memory, barriers, warps and registers. Prints the
placement. Needs no CUDA toolkit.)",
                          R"(Examples:
  pipelink check k.sm_90a.composition.json
  pipelink check k.sm_90a.composition.json --why loader.tiles

Exit status:
  0  the contracts agree, and everything has a place
  1  a contract rejects the composition (an L- or P- clause)
  2  the command line or a file is at fault)");
  command->add_option("COMPOSITION.json", a.file, "The composition: packages, bindings, facts, options")
      ->required()
      ->type_name("");
  add_why(command, a.why, ", in place of the placement");
  add_list_files(command, a);
  command->callback([&a] {
    a.action = [&a](const Common& common) {
      return a.list_files ? list_files(common, files_of_check(a.file)) : check(common, a.file, a.why);
    };
  });
}

void add_link(CLI::App& app, Arguments& a) {
  CLI::App* command = add(app, "link", R"(Link a composition into one kernel

Does all of `check`, then generates the connecting code, links it with the packages'
code, and examines the kernel: it must be what was planned. Writes the kernel
(.cubin), the link map (.map.json), its summary (.summary.txt), the connecting code
(.glue.cu) and the launch description (.launch), all of them or none; files
that would not change are left alone. Prints the summary.)",
                          R"(Examples:
  pipelink link k.sm_90a.composition.json -o out
  pipelink link k.sm_90a.composition.json -o out --list-files

Exit status:
  0  the kernel is linked and as planned
  1  a contract rejects the composition (an L- or P- clause); nothing is written
  2  the command line, a file or the toolchain is at fault; nothing is written

Environment:
  PIPELINK_TOOLKIT_LIBRARY_DIR  the folder of libnvJitLink.so.13 and libnvrtc.so.13,
                                if not the one that the tool was built with)");
  command
      ->add_option("COMPOSITION.json", a.link.composition,
                   "The composition: packages, bindings, facts, options")
      ->required()
      ->type_name("");
  command
      ->add_option("-o,--output", a.link.output,
                   "The folder for NAME.ARCH.cubin, .map.json, .glue.cu, .launch and .summary.txt")
      ->check(has_a_name)
      ->type_name("FOLDER")
      ->capture_default_str();
  command->add_option("--timings", a.link.timings, "Write the milliseconds that each pass took, as JSON")
      ->type_name("FILE");
  command
      ->add_option("--seconds", a.link.seconds,
                   "End the vendor's compiler and linker after this time (T-CHILD)")
      ->type_name("SECONDS")
      ->check(whole_number(1, 86'400))
      ->capture_default_str();
  command->add_option("--memory", a.link.memory_mib, "Address space that each of them may have, in MiB")
      ->type_name("MIB")
      ->check(whole_number(1024, 1'048'576))
      ->capture_default_str();
  command->add_flag("--quiet", a.link.quiet, "Do not print the summary");
  add_why(command, a.link.why, "");
  add_list_files(command, a);
  command->callback([&a] {
    a.action = [&a](const Common& common) {
      return a.list_files ? list_files(common, files_of_link(a.link)) : link(common, a.link);
    };
  });
}

void add_inspect(CLI::App& app, Arguments& a) {
  CLI::App* command = add(app, "inspect", R"(Show a package or a link map

Of a package, the contract; of a link map, the summary, or a page with pictures.)",
                          R"(Examples:
  pipelink inspect fill.sm_90a.plk
  pipelink inspect out/k.sm_90a.map.json --html k.html

Exit status:
  0  it is shown
  2  the command line or a file is at fault)");
  command->add_option("FILE.plk|FILE.map.json", a.file, "A package or a link map")->required()->type_name("");
  CLI::Option* as_json = command->add_flag("--json", a.json, "For programs: as JSON");
  command->add_option("--html", a.other, "Write a link map as a page to this file, and print nothing")
      ->excludes(as_json)
      ->type_name("FILE.html");
  command->callback([&a] {
    a.action = [&a](const Common& common) {
      return a.other.empty() ? inspect(common, a.file, a.json) : page(common, a.file, a.other);
    };
  });
}

void add_audit(CLI::App& app, Arguments& a) {
  CLI::App* command = add(app, "audit", R"(Hold contracts against what the code does

Optimizes a package's code by itself, with every handle left open, and follows where
the operands of each instruction come from. What contradicts the contract is an
error; a claim that no instruction uses is a warning; what cannot be seen is listed.)",
                          R"(Example:
  pipelink audit fill.sm_90a.plk

Exit status:
  0  nothing in the code contradicts a contract
  1  something does (a P- clause)
  2  the command line, a file or the toolchain is at fault)");
  command->add_option("FILE.plk|COMPOSITION.json", a.file, "A package, or a composition for all its packages")
      ->required()
      ->type_name("");
  command->add_flag("--json", a.json, "For programs: as JSON");
  command->callback(
      [&a] { a.action = [&a](const Common& common) { return audit(common, a.file, a.json); }; });
}

void add_explain(CLI::App& app, Arguments& a) {
  CLI::App* command = add(app, "explain", R"(Explain a clause

Says a clause's rule, its reason and what usually mends it. Every diagnostic names
its clause in brackets: error[L-REGS].)",
                          R"(Examples:
  pipelink explain L-REGS
  pipelink --format json explain --list

Exit status:
  0  it is explained
  2  there is no such clause)");
  CLI::Option* clause = command->add_option("CLAUSE", a.file, "A clause's id, e.g. L-REGS")->type_name("");
  command->add_flag("--list", a.list, "All clauses, a line each")->excludes(clause);
  command->callback(
      [&a] { a.action = [&a](const Common& common) { return explain(common, a.file, a.list); }; });
}

void add_diff(CLI::App& app, Arguments& a) {
  CLI::App* command = add(app, "diff", R"(Say what differs between the contracts of two packages

A line for each difference: what a new version of a component asks of its users.)",
                          R"(Example:
  pipelink diff old/fill.sm_90a.plk new/fill.sm_90a.plk

Exit status:
  0  both were read, whether they differ or not
  2  the command line or a file is at fault)");
  command->add_option("A.plk", a.file, "The older package")->required()->type_name("");
  command->add_option("B.plk", a.other, "The newer package")->required()->type_name("");
  command->callback(
      [&a] { a.action = [&a](const Common& common) { return diff(common, a.file, a.other); }; });
}

void add_place(CLI::App& app, Arguments& a) {
  CLI::App* command = add(app, "place", R"(Solve a placement problem alone

For those who work on the solver: the problem is text, without packages.)",
                          R"(Example:
  pipelink place k.pl --json

Exit status:
  0  everything has a place
  1  there is no room; the claims that cannot be together are named
  2  the command line or the file is at fault)");
  command->add_option("FILE.pl", a.file, "The problem")->required()->type_name("");
  command->add_flag("--json", a.json, "For programs: the whole solution as JSON");
  command
      ->add_option("--limit", a.limit,
                   "The most work, in the solver's own units, which do not depend on time")
      ->check(is_natural)
      ->type_name("N")
      ->capture_default_str();
  command->callback(
      [&a] { a.action = [&a](const Common& common) { return place(common, a.file, a.json, a.limit); }; });
}

void add_host(CLI::App& app, Arguments& a) {
  CLI::App* command = add(app, "host", R"(Make the host header and source of a linked composition

Programs load, open and launch the kernel through the header; it is the same for all
architectures, whose parameters must be laid out alike.)",
                          R"(Example:
  pipelink host out/k.sm_90a.launch out/k.sm_120a.launch -o host

Exit status:
  0  both files are written
  1  the architectures do not agree (L-HOST); nothing is written
  2  the command line or a file is at fault; nothing is written)");
  command
      ->add_option("NAME.ARCH.launch", a.files,
                   "The launch description of each architecture, as `link` wrote it")
      ->required()
      ->type_name("");
  command->add_option("-o,--output", a.other, "The folder for pipelink/NAME.h and NAME.host.cc")
      ->required()
      ->check(has_a_name)
      ->type_name("FOLDER");
  add_list_files(command, a);
  command->callback([&a] {
    a.action = [&a](const Common& common) {
      return a.list_files ? list_files(common, files_of_host(a.files, a.other))
                          : host(common, a.files, a.other);
    };
  });
}

void add_repro(CLI::App& app, Arguments& a) {
  CLI::App* command = add(app, "repro", R"(Put all that a link needs into one archive

The archive holds the composition, its packages as they are, damaged ones too, and a
README with the versions and the command. A link of the copy says and makes the
same, anywhere. The archive holds code of the packages, but no path and no time; the
same link gives the same bytes. Prints the archive's name.)",
                          R"(Example:
  pipelink repro k.sm_90a.composition.json -o k.tar

Exit status:
  0  the archive is written
  2  the command line or a file is at fault, a package is missing; nothing is written)");
  command->add_option("COMPOSITION.json", a.file, "The composition")->required()->type_name("");
  command->add_option("-o,--output", a.other, "The archive to write; else NAME.ARCH.repro.tar in this folder")
      ->type_name("FILE.tar");
  command->callback(
      [&a] { a.action = [&a](const Common& common) { return repro(common, a.file, a.other); }; });
}

void add_doctor(CLI::App& app, Arguments& a) {
  CLI::App* command = add(app, "doctor", R"(Check the toolchain

Loads the vendor's libraries and compiles a line with them, as a link would, and says
their versions.)",
                          R"(Exit status:
  0  links can be done
  2  a library is missing or cannot be used; the message says which

Environment:
  PIPELINK_TOOLKIT_LIBRARY_DIR  the folder of libnvJitLink.so.13 and libnvrtc.so.13,
                                if not the one that the tool was built with)");
  command->callback([&a] { a.action = [](const Common& common) { return doctor(common); }; });
}

void add_generated(CLI::App& app, Arguments& a) {
  CLI::App* command = add(app, "completion", R"(Print the completion script of a shell

Subcommands, options, clauses and files by their endings are completed.)",
                          R"(Examples:
  source <(pipelink completion bash)
  source <(pipelink completion zsh)
  pipelink completion fish | source

Exit status:
  0  it is printed
  2  there is none for this shell)");
  command->add_option("bash|zsh|fish", a.file, "The shell")->required()->type_name("");
  command->callback(
      [&] { a.action = [&](const Common& common) { return completion(common, tool_model(app), a.file); }; });

  command = add(app, "manual", R"(Print the manual page

What the help of all commands says, for man(1).)",
                R"(Example:
  pipelink manual | man -l -

Exit status:
  0  it is printed)");
  command->callback([&] { a.action = [&](const Common&) { return manual(tool_model(app)); }; });
}

}  // namespace

void define(CLI::App& app, Arguments& a) {
  app.description(R"(Link separately compiled GPU kernel components into one fused kernel

Each owner ships a package: link-time code and a contract. A composition names
packages. The contracts are checked against each other, and everything is placed
and linked jointly. Results are on standard output, diagnostics on standard error.)");
  app.formatter(std::make_shared<Formatter>());
  app.set_version_flag("--version", kVersion, "Print the version");
  app.require_subcommand(1);
  app.fallthrough();
  app.footer(R"(Examples:
  pipelink link k.sm_90a.composition.json -o out
  pipelink explain L-REGS

Exit status:
  0  done
  1  rejected by a contract
  2  usage, input or toolchain failure

`pipelink COMMAND --help` says more about a command.)");
  app.add_option("--format", a.format, "Diagnostics, and what `explain` says, for people or for programs")
      ->type_name("text|json|sarif")
      ->capture_default_str();
  for (const auto add_command : {add_pack, add_check, add_link, add_inspect, add_audit, add_explain, add_diff,
                                 add_repro, add_host, add_place, add_doctor, add_generated})
    add_command(app, a);
}

}  // namespace pipelink::cli
