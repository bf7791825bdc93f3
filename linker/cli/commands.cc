#include "linker/cli/commands.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <cctype>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "linker/audit/audit.h"
#include "linker/bind/words.h"
#include "linker/cli/completion.h"
#include "linker/cli/files.h"
#include "linker/cli/manual.h"
#include "linker/cli/repro.h"
#include "linker/cli/why.h"
#include "linker/codegen/host_header.h"
#include "linker/link.h"
#include "linker/place/instance_format.h"
#include "linker/place/json.h"
#include "linker/place/solve.h"
#include "linker/place/verify.h"
#include "linker/report/map.h"
#include "linker/report/page.h"
#include "linker/version.h"
#include "packager/base/file.h"

namespace pipelink::cli {
namespace {

Diagnostic usage(std::string title, std::string help) {
  Diagnostic d;
  d.clause = "U-USAGE";
  d.title = std::move(title);
  d.help = std::move(help);
  return d;
}

/// While it lives, the signals that people and build tools send wait: a set of files is renamed whole.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t signals;
    sigemptyset(&signals);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&signals, signal);
    sigprocmask(SIG_BLOCK, &signals, &before_);
  }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;
  ~SignalsWait() { sigprocmask(SIG_SETMASK, &before_, nullptr); }

 private:
  sigset_t before_;
};

/// `names` below `directory`, with the texts in the same order. All of them or, with an error, none: each is
/// written under a name of its own first, and then renamed. Files that are equal already keep their time; of
/// a link, what it points to is replaced.
Diagnostics write_outputs(const std::string& directory, const std::vector<std::string>& names,
                          const std::vector<const std::string*>& texts) {
  struct Staged {
    std::string temporary, path;
  };
  const SignalsWait signals_wait;
  std::vector<Staged> staged;
  Diagnostics wrong;
  const auto unwritable = [&](const std::string& path, std::string reason) {
    wrong.push_back(make_error("I-WRITE", fmt::format("cannot write '{}'", path), {}, std::move(reason)));
  };
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string path = directory + "/" + names[i];
    std::error_code none;
    if (std::error_code lost; std::filesystem::is_symlink(path, none)) {
      const std::string target = std::filesystem::weakly_canonical(path, lost).string();
      if (lost) {
        unwritable(path, lost.message());
        break;
      }
      path = target;
    }
    if (const std::filesystem::file_status status = std::filesystem::status(path, none);
        std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
      unwritable(path, std::filesystem::is_directory(status) ? "it is a directory" : "it is no regular file");
      break;
    }
    if (const Outcome<std::string> old = read_file(path, texts[i]->size()); old && *old == *texts[i])
      continue;
    staged.push_back({fmt::format("{}.{}.new", path, ::getpid()), path});
    if (Outcome<bool> written = write_file(staged.back().temporary, *texts[i]); !written) {
      unwritable(path, written.diagnostics.front().reason);
      break;
    }
  }
  for (const Staged& file : staged) {
    std::error_code error;
    if (wrong.empty()) std::filesystem::rename(file.temporary, file.path, error);
    if (error) unwritable(file.path, error.message());
    if (!wrong.empty()) std::filesystem::remove(file.temporary, error);
  }
  return wrong;
}

}  // namespace

void print(std::string text) {
  for (char& c : text)
    if ((static_cast<unsigned char>(c) < 0x20 && c != '\n' && c != '\t') || c == 0x7f) c = '?';
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) return;
  const std::string why = std::strerror(errno);
  std::fputs(("error[I-WRITE]: cannot write the standard output\n  = reason: " + why + "\n").c_str(), stderr);
  std::exit(2);
}

int finish(const Common& common, const Diagnostics& diagnostics) {
  if (!diagnostics.empty() || common.format != Format::kText) {
    const std::string text = render(diagnostics, common.format, wants_colour(STDERR_FILENO));
    std::fwrite(text.data(), 1, text.size(), stderr);
  }
  return exit_status(diagnostics);
}

int pack(const Common& common, const PackOptions& options) {
  if (const Diagnostics wrong = overwritten(files_of_pack(options)); !wrong.empty())
    return finish(common, wrong);
  return finish(common, pipelink::pack(options).diagnostics);
}

/// Prints why each of the names is as it is; ends the command.
int answer(const Common& common, const Checked& checked, const Why& asked, Diagnostics diagnostics) {
  for (const std::string& name : asked.names) {
    Outcome<std::string> text = why(checked, name, asked.steps);
    append(diagnostics, text.diagnostics);
    if (text) print(*text);
  }
  return finish(common, diagnostics);
}

int link(const Common& common, const LinkArguments& arguments) {
  // A composition file that cannot be read is for the link to say.
  if (const Outcome<CommandFiles> files = files_of_link(arguments))
    if (const Diagnostics wrong = overwritten(*files); !wrong.empty()) return finish(common, wrong);
  Timings timings;
  Outcome<Linked> linked = link_composition(
      arguments.composition, {arguments.seconds, std::uint64_t{arguments.memory_mib} << 20}, timings);
  if (!linked) return finish(common, linked.diagnostics);
  const Composition& composition = linked->checked.composition;
  const MapTexts map = map_texts(*linked);
  Diagnostics diagnostics = std::move(linked.diagnostics);
  const Diagnostics written =
      write_outputs(arguments.output, link_outputs(composition.name, composition.arch),
                    {&linked->glue, &linked->launch, &map.json, &map.summary, &linked->cubin});
  diagnostics.insert(diagnostics.end(), written.begin(), written.end());
  if (!has_error(diagnostics) && !arguments.timings.empty()) {
    const nlohmann::ordered_json times = {
        {"composition", composition.name},       {"read_ms", timings.read_ms},
        {"check_ms", timings.check_ms},          {"route_ms", timings.route_ms},
        {"place_ms", timings.place_ms},          {"glue_ms", timings.glue_ms},
        {"nvjitlink_ms", timings.nvjitlink_ms},  {"total_ms", timings.total_ms},
        {"nvjitlink_peak_mib", timings.peak_mib}};
    const Outcome<bool> done = write_file(arguments.timings, times.dump() + "\n");
    diagnostics.insert(diagnostics.end(), done.diagnostics.begin(), done.diagnostics.end());
  }
  if (!has_error(diagnostics) && !arguments.quiet) print(map.summary);
  if (has_error(diagnostics)) return finish(common, diagnostics);
  return answer(common, linked->checked, arguments.why, std::move(diagnostics));
}

int check(const Common& common, const std::string& file, const Why& why) {
  Timings timings;
  Outcome<Checked> checked = check_composition(file, timings);
  if (!checked) return finish(common, checked.diagnostics);
  if (why.names.empty()) print(placement_text(*checked));
  return answer(common, *checked, why, std::move(checked.diagnostics));
}

int page(const Common& common, const std::string& file, const std::string& output) {
  Outcome<std::string> text = read_file(file);
  if (!text) return finish(common, text.diagnostics);
  Outcome<std::string> html = page_of_map(*text, file_name(file));
  if (!html && file.ends_with(".plk"))
    return finish(common,
                  {usage("--html is for a link map, and " + file_name(file) + " is none",
                         "of a package, inspect shows the contract: leave --html out, or use --json")});
  if (!html) return finish(common, html.diagnostics);
  if (const Diagnostics wrong = overwritten({{file}, {output}}); !wrong.empty()) return finish(common, wrong);
  const Outcome<bool> written = write_file_if_changed(output, *html);
  return finish(common, written.diagnostics);
}

int inspect(const Common& common, const std::string& file, bool json) {
  if (file.ends_with(".json")) {
    Outcome<std::string> text = read_file(file);
    if (!text) return finish(common, text.diagnostics);
    Outcome<std::string> summary = summary_of_map(*text, file_name(file));
    if (summary) print(json ? *text : *summary);
    return finish(common, summary.diagnostics);
  }
  Outcome<Package> package = read_package(file);
  if (package) print(json ? inspect_json(*package) : inspect_text(*package));
  return finish(common, package.diagnostics);
}

int explain(const Common& common, const std::string& id, bool list) {
  if (common.format == Format::kSarif)
    return finish(common, {usage("explain has no SARIF form", "use --format text or --format json")});
  const bool json = common.format == Format::kJson;
  if (list) {
    print(json ? explain_json(clauses()) : clause_list_text());
    return 0;
  }
  std::string wanted = id;
  for (char& c : wanted) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const Clause* clause = find_clause(wanted);
  if (clause == nullptr) {
    std::vector<std::string> ids;
    for (const Clause& c : clauses()) ids.emplace_back(c.id);
    const std::vector<std::string> near = binding::near_names(wanted, ids);
    return finish(common, {usage("there is no clause '" + id + "'",
                                 (near.empty() ? "" : "do you mean " + joined(near, " or ") + "? ") +
                                     "pipelink explain --list shows all")});
  }
  print(json ? explain_json({clause, 1}) : explain_text(*clause));
  return 0;
}

int diff(const Common& common, const std::string& a, const std::string& b) {
  Outcome<contract::Contract> left = read_contract(a), right = read_contract(b);
  Diagnostics diagnostics = left.diagnostics;
  diagnostics.insert(diagnostics.end(), right.diagnostics.begin(), right.diagnostics.end());
  if (left && right)
    for (const std::string& line : contract_differences(*left, *right)) print(line + "\n");
  return finish(common, diagnostics);
}

int audit(const Common& common, const std::string& file, bool json) {
  std::vector<std::string> packages{file};
  if (file.ends_with(".json")) {
    Outcome<Composition> composition = read_composition(file);
    if (!composition) return finish(common, composition.diagnostics);
    packages.clear();
    for (const PackageInput& package : composition->packages) packages.push_back(package.path);
  }
  std::vector<Audit> audits;
  Diagnostics diagnostics;
  for (const std::string& path : packages) {
    Outcome<Package> package = read_package(path);
    if (!package) return finish(common, package.diagnostics);
    Outcome<Audit> done = pipelink::audit(*package);
    if (!done) return finish(common, done.diagnostics);
    append(diagnostics, done->findings);
    audits.push_back(std::move(*done));
  }
  if (json) {
    print(audit_json(audits));
  } else {
    for (std::size_t n = 0; n < audits.size(); ++n) print((n == 0 ? "" : "\n") + audit_text(audits[n]));
  }
  return finish(common, diagnostics);
}

int doctor(const Common& common) {
  const ToolchainStatus status = toolchain_status();
  print(fmt::format("pipelink   {}\n", kVersion));
  if (!status.error.empty()) {
    Diagnostic d;
    d.clause = "T-TOOLKIT";
    d.title = "the CUDA toolkit's libraries cannot be used";
    d.reason = status.error;
    d.help =
        "install CUDA 13, or set PIPELINK_TOOLKIT_LIBRARY_DIR to the folder of libnvJitLink.so.13 and "
        "libnvrtc.so.13";
    return finish(common, {d});
  }
  print(fmt::format("NVRTC      {}\nnvJitLink  {}\n", status.nvrtc, status.nvjitlink));
  return 0;
}

int place(const Common& common, const std::string& file, bool json, std::uint64_t limit) {
  Outcome<std::string> text = read_file(file);
  if (!text) return finish(common, text.diagnostics);
  Outcome<place::Problem> problem = place::parse_instance(*text, file_name(file));
  if (!problem) return finish(common, problem.diagnostics);
  Outcome<place::Solution> solution = place::solve(*problem, limit);
  if (!solution) return finish(common, solution.diagnostics);
  Diagnostics diagnostics = place::verify(*problem, *solution);
  if (has_error(diagnostics)) return finish(common, diagnostics);
  if (json) {
    print(place::to_json(*problem, *solution));
  } else {
    print(fmt::format("{}: {} bytes of {}, {} free, {}\n", problem->name, solution->footprint,
                      solution->capacity, solution->free_bytes(),
                      solution->optimal ? "proven optimal"
                                        : fmt::format("at most {} bytes from optimal", solution->gap_bytes)));
    for (const place::BufferPlacement& b : solution->buffers)
      print(fmt::format("  {:>8} {:>8}  {}\n", b.offset, b.bytes, b.name));
    for (const place::RingDepth& r : solution->rings)
      print(fmt::format("  ring {}: {} stages\n", r.name, r.depth));
  }
  return finish(common, solution.diagnostics);
}

int host(const Common& common, const std::vector<std::string>& launches, const std::string& output) {
  const Outcome<HostHeaderInput> input = read_launches(launches);
  if (!input) return finish(common, input.diagnostics);
  if (const Outcome<CommandFiles> files = files_of_host(launches, output))
    if (const Diagnostics wrong = overwritten(*files); !wrong.empty()) return finish(common, wrong);
  const Outcome<std::string> header = host_header(*input), source = host_source(*input);
  if (!header) return finish(common, header.diagnostics);
  if (!source) return finish(common, source.diagnostics);
  return finish(common, write_outputs(output, host_outputs(input->composition), {&*header, &*source}));
}

int repro(const Common& common, const std::string& composition, const std::string& output) {
  const Outcome<Repro> made = reproduction(composition);
  if (!made) return finish(common, made.diagnostics);
  const std::string path = output.empty() ? made->name : output;
  if (Outcome<CommandFiles> files = files_of_check(composition)) {
    files->outputs = {path};
    if (const Diagnostics wrong = overwritten(*files); !wrong.empty()) return finish(common, wrong);
  }
  const Outcome<bool> written = write_file_if_changed(path, made->bytes);
  if (written) print(path + "\n");
  return finish(common, written.diagnostics);
}

int list_files(const Common& common, const Outcome<CommandFiles>& files) {
  if (!files) return finish(common, files.diagnostics);
  const Outcome<std::string> text = files_json(*files);
  if (text) print(*text);
  return finish(common, text.diagnostics);
}

int completion(const Common& common, const ToolModel& tool, const std::string& shell) {
  const std::string text = completion_script(tool, shell);
  if (text.empty())
    return finish(
        common, {usage("there is no completion for '" + shell + "'", "it is there for bash, zsh and fish")});
  print(text);
  return 0;
}

int manual(const ToolModel& tool) {
  print(manual_page(tool));
  return 0;
}

}  // namespace pipelink::cli
