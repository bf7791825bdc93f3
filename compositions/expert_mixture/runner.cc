// Runs a layer of experts on fresh random tokens and compares every element with float64. The kernel is the
// composition, or with --image a cubin: one that PipeLink linked (--launch: its launch description) or one
// that was linked by symbol. Prints a line of JSON for each case, and stops after the first that is not
// right. Exit status: 0 right, 1 wrong or no GPU, 2 usage.
#include <pipelink/expert_mixture.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "device.h"

namespace {

using mixture::kHidden, mixture::kInner;

constexpr unsigned kExperts = 16;
constexpr unsigned kThreads = 512;        // of the kernel in by_symbol.cu
constexpr unsigned kGuard = 8 * kHidden;  // elements after the output; must stay as they were
constexpr double kTolerance = 1e-4;       // |out - ref| ≤ this · (1 + |ref|)

struct Options {
  std::string image, launch;
  unsigned long long seed = std::random_device{}();
};

[[noreturn]] void usage(const std::string& fault) {
  std::fprintf(stderr,
               "expert_mixture_runner: %s\nusage: expert_mixture_runner [--image FILE.cubin [--launch "
               "FILE.launch]] [--seed N]\n",
               fault.c_str());
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; i += 2) {
    const std::string option = argv[i];
    if (option != "--image" && option != "--launch" && option != "--seed")
      usage("unknown option '" + option + "'");
    if (i + 1 == argc) usage(option + " needs a value");
    const std::string value = argv[i + 1];
    if (option == "--seed") {
      char* end = nullptr;
      options.seed = std::strtoull(value.c_str(), &end, 10);
      if (value.empty() || value[0] < '0' || value[0] > '9' || *end != 0)
        usage("--seed '" + value + "' is not a number");
    } else {
      (option == "--image" ? options.image : options.launch) = value;
    }
  }
  if (options.image.empty() && !options.launch.empty()) usage("--launch needs --image");
  return options;
}

std::string file(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

template <class T>
T want(pipelink::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

/// A layer's inputs, routed: each token has one expert.
struct Layer {
  std::vector<float> tokens, gate_up, down, scale;
  std::vector<unsigned> order, first;

  Layer(const std::vector<unsigned>& counts, std::mt19937_64& random) : first(kExperts + 1) {
    std::partial_sum(counts.begin(), counts.end(), first.begin() + 1);
    const std::size_t count = first.back();
    order.resize(count);
    std::iota(order.begin(), order.end(), 0u);
    std::shuffle(order.begin(), order.end(), random);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& values, std::size_t size, float deviation) {
      values.resize(size);
      for (float& v : values) v = deviation * normal(random);
    };
    fill(tokens, count * kHidden, 1);
    fill(gate_up, std::size_t{kExperts} * 2 * kInner * kHidden, 1 / std::sqrt(float{kHidden}));
    fill(down, std::size_t{kExperts} * kHidden * kInner, 1 / std::sqrt(float{kInner}));
    scale.resize(count);
    for (float& v : scale) v = std::uniform_real_distribution<float>(0.1f, 1)(random);
  }

  std::vector<double> reference() const {
    std::vector<double> out(tokens.size());
    for (std::size_t e = 0; e < kExperts; ++e)
      for (std::size_t i = first[e]; i < first[e + 1]; ++i) {
        const std::size_t token = order[i];
        const float* x = &tokens[token * kHidden];
        double inner[kInner];
        for (std::size_t c = 0; c < kInner; ++c) {
          const double gate = dot(x, &gate_up[(2 * e * kInner + c) * kHidden], kHidden);
          const double up = dot(x, &gate_up[((2 * e + 1) * kInner + c) * kHidden], kHidden);
          inner[c] = gate / (1 + std::exp(-gate)) * up;
        }
        for (std::size_t c = 0; c < kHidden; ++c)
          out[token * kHidden + c] = scale[token] * dot(inner, &down[(e * kHidden + c) * kInner], kInner);
      }
    return out;
  }

 private:
  template <class T>
  static double dot(const T* a, const float* b, unsigned size) {
    double sum = 0;
    for (unsigned i = 0; i < size; ++i) sum += static_cast<double>(a[i]) * b[i];
    return sum;
  }
};

/// As in by_symbol.cu.
struct BySymbolParameters {
  dispatch::Parameters dispatch;
  gate_up::Parameters gate_up;
  down::Parameters down;
  combine::Parameters combine;
};

class Runner {
 public:
  explicit Runner(const Options& options)
      : image_(options.image.empty() ? "" : file(options.image)),
        by_symbol_(!image_.empty() && options.launch.empty()),
        device_(by_symbol_ ? image_.data() : nullptr) {
    if (by_symbol_) return;
    if (image_.empty()) {
      kernel_ = want(pipelink::expert_mixture::load());
    } else {
      const std::string launch = file(options.launch);
      const pipelink::Image images[] = {{"sm_90a", image_.data(), image_.size(), launch}};
      kernel_ = want(pipelink::Kernel::load(images));
    }
  }

  std::string device_name() const { return device_.name(); }

  bool run(const char* name, const std::vector<unsigned>& counts, std::mt19937_64& random) {
    const Layer layer(counts, random);
    const std::size_t count = layer.tokens.size();
    const std::uint64_t out = device_.allocate((count + kGuard) * 4);
    device_.set(out, 0xff, (count + kGuard) * 4);  // NaN
    BySymbolParameters p{};
    p.dispatch = {send(layer.tokens), send(layer.order), send(layer.first), kExperts};
    p.gate_up = {send(layer.gate_up)};
    p.down = {send(layer.down)};
    p.combine = {send(layer.scale), reinterpret_cast<float*>(out)};
    std::printf("{\"launching\": \"%s\"}\n", name);  // a watchdog's time begins
    std::fflush(stdout);
    if (by_symbol_) {
      device_.run("expert_mixture", kExperts, 1, kThreads, p);
      device_.synchronize();
    } else {
      const pipelink::Session session = want(pipelink::expert_mixture::open(
          *kernel_, {.combine = p.combine, .dispatch = p.dispatch, .down = p.down, .gate_up = p.gate_up}));
      if (const auto done = session.launch(nullptr); !done) throw std::runtime_error(done.error().message);
      device_.synchronize();
    }
    std::vector<float> found(count + kGuard);
    device_.read(found.data(), out, found.size() * 4);
    return compare(name, found, layer.reference());
  }

 private:
  template <class T>
  const T* send(const std::vector<T>& values) {
    const std::uint64_t to = device_.allocate(values.size() * sizeof(T));
    device_.write(to, values.data(), values.size() * sizeof(T));
    return reinterpret_cast<const T*>(to);
  }

  static bool compare(const char* name, const std::vector<float>& found, const std::vector<double>& wanted) {
    const auto poisoned = [](float value) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &value, sizeof bits);
      return bits == 0xffffffff;
    };
    std::size_t unwritten = 0, wrong = 0;
    double most = 0;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      const double error = std::abs(found[i] - wanted[i]) / (1 + std::abs(wanted[i]));
      if (poisoned(found[i]))
        ++unwritten;
      else if (!(error <= kTolerance))
        ++wrong;
      else
        most = std::max(most, error);
    }
    const bool outside = !std::all_of(found.begin() + wanted.size(), found.end(), poisoned);
    std::printf(
        "{\"case\": \"%s\", \"elements\": %zu, \"unwritten\": %zu, \"wrong\": %zu, \"outside\": %s, "
        "\"max_error\": %.2e}\n",
        name, wanted.size(), unwritten, wrong, outside ? "true" : "false", most);
    std::fflush(stdout);
    return unwritten == 0 && wrong == 0 && !outside;
  }

  std::string image_;
  bool by_symbol_;
  runner::Device device_;  // before what lives in its context
  std::optional<pipelink::Kernel> kernel_;
};

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  try {
    Runner runner(options);
    std::printf("{\"device\": \"%s\", \"seed\": %llu}\n", runner.device_name().c_str(), options.seed);
    std::mt19937_64 random(options.seed);
    std::vector<unsigned> any(kExperts), one(kExperts);
    std::discrete_distribution<unsigned> skewed({9, 1, 4, 2, 7, 1, 1, 3, 0, 5, 2, 8, 1, 6, 1, 2});
    for (int i = 0; i < 3000; ++i) ++any[skewed(random)];
    one[kExperts - 1] = 300 + random() % 500;
    // No tokens, and one less and one more than whole tiles of 64 and 128.
    const std::vector<unsigned> ragged = {0, 1, 63, 64, 65, 127, 128, 129, 700, 0, 200, 31, 97, 0, 333, 5};
    const bool right = runner.run("ragged", ragged, random) && runner.run("random", any, random) &&
                       runner.run("one expert", one, random);
    return right ? 0 : 1;
  } catch (const std::exception& e) {
    std::string text = e.what();  // as JSON, plain
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '"' || c == '\\' || c < ' '; }, '\'');
    std::printf("{\"error\": \"%s\"}\n", text.c_str());
    return 1;
  }
}
