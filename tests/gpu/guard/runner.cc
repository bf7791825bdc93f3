// Plants faults in a guarded composition and compares what its guard names with what was planted, each in a
// process of its own. Exit status: 0 all named, 1 not, 2 usage, 77 there is no GPU.
#include <pipelink/guard_faults.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace planted;
namespace composition = pipelink::guard_faults;

constexpr unsigned kBlocks = 4, kFaulty = 2, kSteps = 12;
constexpr unsigned kPatienceSeconds = 120;  // for one process
constexpr int kSkipped = 77;

struct Case {
  const char* name;
  Fault fault;
  const char* planted;
  /// Each must be in what the guard names; alternatives are separated by '|'. None: nothing may be named.
  std::vector<std::string> named;
  bool ends = true;  // without a trap
};

const std::vector<Case>& cases() {
  static const std::vector<Case> list = {
      {"none", kNone, "nothing: all sums must be right", {}},
      {"after_odd",
       kAfterOdd,
       "byte 1 after a buffer of 101 bytes",
       {"overrun: byte 1 after buffer guard_consumer.odd of 101 bytes; 0x00 instead of 0x", "in block 2"}},
      {"before_odd",
       kBeforeOdd,
       "byte 1 before a buffer of 101 bytes",
       {"overrun: byte 1 before buffer guard_consumer.odd of 101 bytes; 0x00 instead of 0x", "in block 2"}},
      {"after_aligned",
       kAfterAligned,
       "byte 1 after a buffer of 1000 bytes aligned to 1024",
       {"overrun: byte 1 after buffer guard_consumer.aligned of 1000 bytes; 0x00 instead of 0x"}},
      {"before_aligned",
       kBeforeAligned,
       "byte 1 before a buffer aligned to 1024",
       {"overrun: byte 1 before buffer guard_consumer.aligned of 1000 bytes; 0x00 instead of 0x"}},
      {"after_stages",
       kAfterStages,
       "byte 1 after the last stage of a ring",
       {"overrun: byte 1 after ring guard_consumer.queue of 2048 bytes; 0x00 instead of 0x"}},
      {"before_stages",
       kBeforeStages,
       "byte 1 before the first stage of a ring",
       {"overrun: byte 1 before ring guard_consumer.queue of 2048 bytes; 0x00 instead of 0x"}},
      {"after_mbarriers",
       kAfterMbarriers,
       "byte 1 after an array of mbarriers",
       {"overrun: byte 1 after mbarriers guard_consumer.turns of 24 bytes; 0x00 instead of 0x"}},
      {"after_early",
       kAfterEarly,
       "byte 1 after a buffer that shares bytes in a link without guard",
       {"overrun: byte 1 after buffer guard_consumer.early of 512 bytes; 0x00 instead of 0x"}},
      // Both sides wait when something is missing; who began first, and so stands first, is chance.
      {"no_full",
       kNoFull,
       "lane 7 of the producer does not arrive at the full barrier of step 2, stage 0",
       {"timeout: ", "role guard_consumer.consume (block 2, warp ", "waited 0.5|waited 0.49",
        "for the full barrier of ring guard_consumer.queue, stage 0, parity 1, which takes 32 arrivals"}},
      {"no_empty",
       kNoEmpty,
       "thread 5 of the consumer does not release the stage of step 1, stage 1",
       {"timeout: role guard_producer.produce (block 2, warp ", "waited 0.5|waited 0.49",
        "for the empty barrier of ring guard_consumer.queue, stage 1, parity 0, which takes 128 arrivals"}},
      {"no_turn",
       kNoTurn,
       "one of two arrivals at an mbarrier is missing in step 1",
       {"timeout: ", "role guard_consumer.consume (block 2, warp ", "waited 0.5|waited 0.49",
        "for mbarrier guard_consumer.turns[1], parity 0, which takes 2 arrivals"}},
      {"no_warp",
       kNoWarp,
       "warp 2 of the consumer leaves before the named barrier of step 3",
       {"timeout: ", "role guard_consumer.consume (block 2, warp ", "waited 0.5|waited 0.49",
        "for named barrier guard_consumer.all: 3 of 4 warps came"}},
      {"raw_loop",
       kRawLoop,
       "an arrival is missing, and warp 3 of the consumer waits in a loop of its own",
       {"timeout: ", "role guard_consumer.consume (block 2, warp ", "for mbarrier guard_consumer.turns[1]",
        "stuck: in block 2 warp 3 (role guard_consumer.consume) did not end after that"},
       false},
      {"overrun_and_timeout",
       kOverrunAndTimeout,
       "byte 1 after a buffer, and a missing arrival",
       {"timeout: ", "role guard_consumer.consume (block 2, warp ", "for mbarrier guard_consumer.turns[1]",
        "overrun: byte 1 after buffer guard_consumer.odd of 101 bytes; 0x00 instead of 0x"}},
  };
  return list;
}

/// In a process of its own; its last line is "ended" or "trapped", and before it stands what was named.
int run_case(const Case& c) {
  const auto fail = [](const std::string& what) {
    std::printf("%s\n", what.c_str());
    return 1;
  };
  const auto driver = pipelink::runtime_internal::machine_driver();
  if (!driver) return fail(driver.error().message);
  auto kernel = composition::load();
  if (!kernel) return fail(kernel.error().message);
  const pipelink::runtime_internal::CurrentContext current(**driver, kernel->device().context);
  void* memory = nullptr;
  std::uint64_t address = 0;
  constexpr std::size_t words = 128 * kBlocks + 1;
  if ((*driver)->host_alloc(&memory, 4 * words, 2) != 0 || (*driver)->host_address(&address, memory, 0) != 0)
    return fail("no pinned memory");
  std::memset(memory, 0, 4 * words);
  composition::Arguments arguments{};
  arguments.guard_producer = {kSteps, kFaulty, c.fault};
  arguments.guard_consumer = {reinterpret_cast<unsigned*>(address),
                              reinterpret_cast<unsigned*>(address + std::uint64_t{512} * kBlocks), kSteps,
                              kFaulty, c.fault};
  // open() would take a block for each multiprocessor; the parameters are the same for fewer.
  auto whole = composition::open(*kernel, arguments);
  if (!whole) return fail(whole.error().message);
  auto session = kernel->open_raw(whole->parameters(), kBlocks);
  if (!session) return fail(session.error().message);
  if (auto done = session->launch(nullptr); !done) return fail(done.error().message);
  const int status = (*driver)->stream_synchronize(nullptr);
  const std::string report = session->guard_report();
  std::fputs(report.c_str(), stdout);
  if (report.empty()) {
    if (status != 0) return fail((*driver)->describe(status));
    for (unsigned block = 0; block < kBlocks; ++block)
      for (unsigned t = 0; t < 128; ++t) {
        unsigned sum = 0;
        for (unsigned s = 0; s < kSteps; ++s) sum += 1000 * s + t + 2 * (1000 * s + (t ^ 1));
        if (static_cast<volatile unsigned*>(memory)[128 * block + t] != sum) return fail("a sum is wrong");
      }
  } else if (session->launch(nullptr)) {
    return fail("the kernel was launched again");
  }
  std::puts(status == 0 ? "ended" : "trapped");
  std::fflush(stdout);
  std::_Exit(0);  // after a trap there is nothing to tidy up
}

struct Ran {
  int status = -1;  // -1: it took too long, or died
  std::string output;
  double seconds = 0;
};

/// Runs `body` in a child, with its standard output taken.
Ran in_child(const std::function<int()>& body) {
  Ran out;
  int ends[2];
  if (pipe(ends) != 0) return out;
  std::fflush(stdout);
  const auto start = std::chrono::steady_clock::now();
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    close(ends[0]);
    close(ends[1]);
    alarm(kPatienceSeconds);  // kills it where it hangs
    const int status = body();
    std::fflush(stdout);
    std::_Exit(status);
  }
  close(ends[1]);
  char part[4096];
  for (ssize_t n = 0; (n = read(ends[0], part, sizeof part)) > 0;)
    out.output.append(part, static_cast<std::size_t>(n));
  close(ends[0]);
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)) out.status = WEXITSTATUS(status);
  out.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return out;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n')
      out += "\\n";
    else if (c == '"' || c == '\\')
      (out += '\\') += c;
    else
      out += c;
  }
  return out + "\"";
}

/// Empty, or what is wrong with it.
std::string fault_of(const Case& c, const Ran& ran, std::string& named) {
  named = ran.output;
  if (ran.status == -1) return "it did not end within " + std::to_string(kPatienceSeconds) + " s";
  if (ran.status != 0) return "it could not be run";
  const std::size_t last = named.find_last_of('\n', named.size() - 2);
  const std::size_t begin = last == std::string::npos ? 0 : last + 1;
  const bool ended = named.substr(begin) == "ended\n";
  named.resize(begin);
  if (ended != c.ends) return ended ? "no trap ended it" : "a trap ended it";
  if (c.named.empty()) return named.empty() ? "" : "something was named";
  for (const std::string& wanted : c.named) {
    bool found = false;
    for (std::size_t at = 0; at <= wanted.size() && !found;) {
      const std::size_t bar = std::min(wanted.find('|', at), wanted.size());
      found = named.find(wanted.substr(at, bar - at)) != std::string::npos;
      at = bar + 1;
    }
    if (!found) return "not named: " + wanted;
  }
  return "";
}

struct Options {
  std::string out, commit = "unknown", driver = "unknown";
  std::vector<std::pair<std::string, std::string>> commands, cubins;  ///< and the digest of each cubin
};

[[noreturn]] void usage() {
  std::fputs(
      "usage: guard_runner [--out FILE.json] [--commit C] [--driver V] [--cubin NAME SHA256]... "
      "[--run NAME COMMAND]...\n",
      stderr);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options o;
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    const int values = option == "--run" || option == "--cubin" ? 2 : 1;
    if (i + values >= argc) usage();
    if (option == "--out")
      o.out = argv[++i];
    else if (option == "--commit")
      o.commit = argv[++i];
    else if (option == "--driver")
      o.driver = argv[++i];
    else if (values == 2) {
      (option == "--run" ? o.commands : o.cubins).emplace_back(argv[i + 1], argv[i + 2]);
      i += 2;
    } else
      usage();
  }
  return o;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  // The device is looked at in a child too: a process that has used CUDA must not fork.
  const Ran device = in_child([] {
    const auto kernel = composition::load();
    if (!kernel) {
      // No GPU for it is a skip; a kernel that one refuses is a failure.
      using enum pipelink::ErrorCode;
      const pipelink::ErrorCode code = kernel.error().code;
      std::puts(kernel.error().message.c_str());
      return code == kDriverMissing || code == kDriverTooOld || code == kNoDevice || code == kNoImage
                 ? kSkipped
                 : 1;
    }
    std::fputs(kernel->device().name.c_str(), stdout);
    return 0;
  });
  if (device.status != 0) {
    const bool skipped = device.status == kSkipped;
    std::printf("%s%s\n", skipped ? "SKIPPED: " : "",
                device.output.substr(0, device.output.find('\n')).c_str());
    return skipped ? kSkipped : 1;
  }
  const std::time_t now = std::time(nullptr);
  char date[32] = {};
  std::strftime(date, sizeof date, "%Y-%m-%d", std::gmtime(&now));
  std::string json = "{\n \"device\": " + quoted(device.output) +
                     ",\n \"driver\": " + quoted(options.driver) + ",\n \"toolkit\": " + quoted(TOOLKIT) +
                     ",\n \"date\": " + quoted(date) + ",\n \"commit\": " + quoted(options.commit) +
                     ",\n \"cubins\": {";
  for (const auto& [name, digest] : options.cubins)
    json += (json.back() == '{' ? "" : ", ") + quoted(name) + ": " + quoted(digest);
  json += "},\n \"cases\": [";
  int passed = 0, failed = 0;
  const auto record = [&](const std::string& name, const std::string& planted, const std::string& named,
                          double seconds, const std::string& fault) {
    char time[32];
    std::snprintf(time, sizeof time, "%.1f", seconds);
    std::printf("%s: %s (%s s): %s\n%s", fault.empty() ? "ok" : "FAILED", name.c_str(), time,
                fault.empty() ? planted.c_str() : fault.c_str(), named.c_str());
    std::fflush(stdout);
    json += std::string(passed + failed == 0 ? "\n" : ",\n") + "  {\"name\": " + quoted(name) +
            ", \"planted\": " + quoted(planted) + ", \"named\": " + quoted(named) + ", \"seconds\": " + time +
            ", \"passed\": " + (fault.empty() ? "true" : "false") + "}";
    ++(fault.empty() ? passed : failed);
  };
  for (const Case& c : cases()) {
    const Ran ran = in_child([&] { return run_case(c); });
    std::string named;
    const std::string fault = fault_of(c, ran, named);
    record(c.name, c.planted, named, ran.seconds, fault);
  }
  for (const auto& entry : options.commands) {
    const std::string &name = entry.first, &command = entry.second;
    const Ran ran = in_child([&] { return execl("/bin/sh", "sh", "-c", command.c_str(), nullptr); });
    record(name, "nothing", ran.output, ran.seconds,
           ran.status == 0 ? "" : "it ended with " + std::to_string(ran.status));
  }
  json +=
      "\n ],\n \"passed\": " + std::to_string(passed) + ",\n \"failed\": " + std::to_string(failed) + "\n}\n";
  if (!options.out.empty() && !(std::ofstream(options.out) << json)) {
    std::fprintf(stderr, "cannot write %s\n", options.out.c_str());
    return 2;
  }
  std::printf("%d passed, %d failed\n", passed, failed);
  return failed == 0 ? 0 : 1;
}
