// Runs a composition of a matrix product and swiglu and checks every element of its output against an
// independent reference; with --control, compares it bit by bit with the control. Exit status: 0 right, 1
// wrong or no GPU, 2 usage. The build writes runner_composition.h, which says which composition it is.
#include "runner_composition.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "device.h"
#include "want.h"

extern "C" const unsigned char reference_image[];  // reference.cu, compiled

namespace {

using runner::file;
using runner::want;

constexpr double kTolerance = 2e-3;  // ‖out − ref‖ / ‖ref‖; rounding to bfloat16 alone gives 1.7e-3
constexpr double kReferenceTolerance = 1e-4;  // of the reference against float64
constexpr unsigned kGuardRows = 8;            // after the output; must stay as they were

struct Options {
  std::vector<unsigned> m = {64, 128, 512, 1024, 2048, 4096, 8192, 16384};
  unsigned hidden = 5120, intermediate = 25600;
  unsigned long long seed = 0;
  std::string control;
};

[[noreturn]] void usage(const std::string& fault) {
  std::fprintf(stderr,
               "%s_runner: %s\n"
               "usage: %s_runner [--m N,N,…] [--hidden K] [--intermediate I] [--seed S] [--control "
               "NAME.ARCH.control.cubin]\n",
               composition_name, fault.c_str(), composition_name);
  std::exit(2);
}

unsigned long long number(const std::string& option, const std::string& text, unsigned long long most) {
  char* end = nullptr;
  const unsigned long long value = std::strtoull(text.c_str(), &end, 10);
  if (text.empty() || text[0] < '0' || text[0] > '9' || *end != 0 || value > most)
    usage(option + " '" + text + "' is not a number up to " + std::to_string(most));
  return value;
}

Options parse(int argc, char** argv) {
  Options options;
  options.seed = std::random_device{}();
  for (int i = 1; i < argc; ++i) {
    const std::string option = argv[i];
    if (option != "--m" && option != "--hidden" && option != "--intermediate" && option != "--seed" &&
        option != "--control")
      usage("unknown option '" + option + "'");
    if (i + 1 == argc) usage(option + " needs a value");
    const std::string value = argv[++i];
    if (option == "--control")
      options.control = value;
    else if (option == "--seed")
      options.seed = number(option, value, ~0ull >> 1);
    else if (option == "--hidden")
      options.hidden = static_cast<unsigned>(number(option, value, 1u << 20));
    else if (option == "--intermediate")
      options.intermediate = static_cast<unsigned>(number(option, value, 1u << 20));
    else {
      options.m.clear();
      for (std::size_t at = 0; at <= value.size();) {
        const std::size_t comma = std::min(value.find(',', at), value.size());
        options.m.push_back(static_cast<unsigned>(number(option, value.substr(at, comma - at), 1u << 20)));
        at = comma + 1;
      }
    }
  }
  for (const unsigned m : options.m)
    if (m == 0) usage("--m must be at least 1");
  if (options.hidden == 0 || options.hidden % 8 != 0) usage("--hidden must be a multiple of 8");
  if (options.intermediate == 0 || options.intermediate % 8 != 0)
    usage("--intermediate must be a multiple of 8");
  return options;
}

/// The control has the placement of the linked kernel, so also its launch description, NAME.ARCH.launch
/// beside it.
pipelink::Kernel load_control(const std::string& path, const pipelink::Kernel& linked) {
  const std::string end = ".control.cubin";
  if (path.size() < end.size() || path.compare(path.size() - end.size(), end.size(), end) != 0)
    throw std::runtime_error(path + " is not named NAME.ARCH.control.cubin");
  const std::string image = file(path), launch = file(path.substr(0, path.size() - end.size()) + ".launch");
  const pipelink::Provider providers[] = {{"pipelink_host_tma_loader_v1", &pipelink_host_tma_loader_v1},
                                          epilogue_provider};
  const pipelink::Image images[] = {{linked.launch().arch, image.data(), image.size(), launch}};
  pipelink::LoadOptions options;
  options.providers = providers;
  return want(pipelink::Kernel::load(images, options));
}

class Check {
 public:
  explicit Check(const Options& options)
      : options_(options),
        rows_(*std::max_element(options.m.begin(), options.m.end())),
        kernel_(want(composition::load())) {
    if (!options.control.empty()) control_.push_back(load_control(options.control, kernel_));
    const std::size_t i = options.intermediate, k = options.hidden;
    a_ = device_.allocate(rows_ * k * 2);
    w_ = device_.allocate(2 * i * k * 2);
    out_ = device_.allocate((rows_ + kGuardRows) * i * 2);
    if (!control_.empty()) control_out_ = device_.allocate((rows_ + kGuardRows) * i * 2);
    reference_ = device_.allocate(rows_ * i * 4);
    result_ = device_.allocate(4 * sizeof(double));
  }

  bool run() {
    std::printf("%s for %s on %s, hidden %u, intermediate %u, seed %llu\n", composition_name,
                kernel_.launch().arch.c_str(), device_.name().c_str(), options_.hidden, options_.intermediate,
                options_.seed);
    bool good = prepare();
    std::printf("%8s %12s %12s %8s %s\n", "m", "rel. error", "max error", "blocks",
                control_.empty() ? "" : "control");
    for (const unsigned m : options_.m) good &= check(m);
    std::printf("%s\n", good ? "all right" : "WRONG");
    return good;
  }

 private:
  std::vector<double> take_result() {
    device_.synchronize();
    std::vector<double> values(4);
    device_.read(values.data(), result_, 4 * sizeof(double));
    return values;
  }

  /// Inputs, and the reference for the most rows: fewer rows are its beginning.
  bool prepare() {
    const unsigned i = options_.intermediate, k = options_.hidden, rows = rows_;
    const auto normal = [&](std::uint64_t to, unsigned long long count, unsigned long long seed,
                            float deviation) {
      device_.run("fill_normal", 2048, 1, 256, to, count, seed, deviation);
    };
    normal(a_, 1ull * rows * k, 2 * options_.seed, 1.0f);
    normal(w_, 2ull * i * k, 2 * options_.seed + 1, 1.0f / std::sqrt(static_cast<float>(k)));
    device_.run("reference", (i + 63) / 64, (rows + 127) / 128, 256, a_, w_, reference_, rows, i, k);
    device_.set(result_, 0, 4 * sizeof(double));
    device_.run("sample", 4096, 1, 32, a_, w_, reference_, rows, i, k, options_.seed, result_);
    const std::vector<double> values = take_result();
    const double error = std::sqrt(values[0] / values[1]);
    std::printf("the reference is within %.1e of float64 on 4096 sampled elements\n", error);
    return error <= kReferenceTolerance;  // not when it is NaN
  }

  /// Runs a kernel once into a poisoned output.
  unsigned compute(const pipelink::Kernel& kernel, std::uint64_t out, unsigned m) {
    const unsigned i = options_.intermediate;
    device_.set(out, 0xff, (std::size_t{m} + kGuardRows) * i * 2);  // NaN
    composition::Arguments arguments{};
    arguments.tma_loader = {reinterpret_cast<const void*>(a_), reinterpret_cast<const void*>(w_), m, 2 * i,
                            options_.hidden};
    arguments.swiglu = {reinterpret_cast<void*>(out), m, i};
    const pipelink::Session session = want(composition::open(kernel, arguments));
    want(session.launch(nullptr));
    try {
      device_.synchronize();
    } catch (const std::exception& e) {  // a guarded kernel can say more
      throw std::runtime_error(e.what() + ("\n" + session.guard_report()));
    }
    if (const std::string found = session.guard_report(); !found.empty())
      throw std::runtime_error("the guard found\n" + found);
    return session.blocks();
  }

  bool guard_intact(std::uint64_t out, unsigned m) {
    std::vector<unsigned char> guard(std::size_t{kGuardRows} * options_.intermediate * 2);
    device_.read(guard.data(), out + std::size_t{m} * options_.intermediate * 2, guard.size());
    return std::all_of(guard.begin(), guard.end(), [](unsigned char c) { return c == 0xff; });
  }

  bool check(unsigned m) {
    const unsigned long long count = 1ull * m * options_.intermediate;
    const unsigned blocks = compute(kernel_, out_, m);
    device_.set(result_, 0, 4 * sizeof(double));
    device_.run("compare", 2048, 1, 256, out_, reference_, count, result_);
    const std::vector<double> values = take_result();
    const double error = std::sqrt(values[0] / values[1]);
    bool good = error <= kTolerance && values[3] == 0 && guard_intact(out_, m);
    std::string note;
    if (!control_.empty()) {
      compute(control_.front(), control_out_, m);
      device_.set(result_, 0, 4 * sizeof(double));
      device_.run("differing", 2048, 1, 256, out_, control_out_, count, result_);
      const double differing = take_result()[0];
      note =
          differing == 0 ? "equal" : std::to_string(static_cast<long long>(differing)) + " elements differ";
      good &= differing == 0;
    }
    if (values[3] != 0)
      note += "; " + std::to_string(static_cast<long long>(values[3])) + " elements unwritten or not finite";
    if (!guard_intact(out_, m)) note += "; wrote past the end";
    std::printf("%8u %12.3e %12.3e %8u %s\n", m, error, values[2], blocks, note.c_str());
    std::fflush(stdout);
    return good;
  }

  Options options_;
  runner::Device device_{reference_image};  // before what lives in its context
  std::size_t rows_;
  pipelink::Kernel kernel_;
  std::vector<pipelink::Kernel> control_;  // one or none
  std::uint64_t a_ = 0, w_ = 0, out_ = 0, control_out_ = 0, reference_ = 0, result_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  try {
    return Check(options).run() ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "%s_runner: %s\n", composition_name, e.what());
    return 1;
  }
}
