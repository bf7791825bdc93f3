// Runs the compositions of attention and checks every element of their outputs against an independent
// reference in float32; with --controls, compares them bit by bit with the controls. Exit status: 0 right, 1
// wrong or no GPU, 2 usage. The build writes runner_compositions.h, which has the compositions.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include "device.h"
#include "runner_compositions.h"
#include "want.h"

extern "C" const unsigned char attention_reference_image[];  // reference.cu, compiled

namespace {

using runner::file;
using runner::want;

constexpr double kTolerance = 5e-3;  // ‖out − ref‖ / ‖ref‖; probabilities and output are rounded to bfloat16
constexpr std::size_t kGuardBytes = 1 << 14;  // after the output; must stay as they were

struct Shape {
  unsigned sequences, rows, keys, heads, kv_heads;
  unsigned window = 300;     // of the compositions with one
  bool ragged = false;       // sequences of different lengths, up to `keys`
  bool other_order = false;  // q, k, v and out as [sequences, heads, rows, dim]
  float deviation = 1.5f;    // of q, and so of scores
};

/// For sanitizers, under which a reference takes long: more items than blocks, two tiles and three.
constexpr Shape kSmall = {8, 130, 300, 16, 4, 100};

/// Rows and keys that are multiples of the tile and not, fewer queries than keys and more (rows without
/// keys), grouped heads, more items than blocks; scores that differ by so much that a tile's exponentials are
/// too large for a float if their base is that of the tiles before.
const std::vector<Shape> kShapes = {
    {1, 256, 256, 2, 2},
    {2, 128, 512, 4, 1},
    {1, 1000, 1000, 8, 8},
    {3, 77, 333, 4, 2, 100},
    {1, 333, 77, 2, 1, 50},
    {2, 1, 129, 8, 2, 64},
    {1, 1, 1, 1, 1, 1},
    {2, 700, 1100, 6, 3, 130},
    {4, 640, 900, 16, 4, 257, true},
    {1, 2048, 2048, 16, 4, 1024},
    {3, 129, 1025, 4, 4, 384, true, true},
    {2, 500, 1500, 4, 2, 600, false, false, 20},
    {2, 500, 1500, 4, 2, 600, true, false, 100},
};

template <class T>
const T* pointer(std::uint64_t address) {
  return reinterpret_cast<const T*>(address);
}

// What a composition's arguments have tells what it computes.
template <class A>
constexpr bool kPaged = requires(A a) {
  a.attention_paged_loader;
};
template <class A>
constexpr bool kAll = requires(A a) {
  a.all_tiles;
};
template <class A>
constexpr bool kCausal = requires(A a) {
  a.causal_tiles;
};
template <class A>
constexpr bool kSparse = requires(A a) {
  a.sparse_tiles;
};
template <class A>
constexpr bool kDocuments = requires(A a) {
  a.document_tiles;
};
template <class A>
constexpr bool kLse = requires(A a) {
  a.attention_store_lse;
};
template <class A>
constexpr bool kAlibi = requires(A a) {
  a.alibi;
};

template <class Composition>
class Check {
  using A = typename Composition::Arguments;

 public:
  Check(runner::Device& device, Shape shape, unsigned long long seed, const pipelink::Kernel& kernel,
        const pipelink::Kernel* control)
      : device_(device), shape_(shape), random_(seed), kernel_(kernel), control_(control) {}

  /// Without a reference, it is only run.
  bool run(bool with_reference) {
    prepare(with_reference);
    const std::size_t count = std::size_t{s().sequences} * s().rows * s().heads * dim();
    const std::uint64_t out = compute(kernel_, count);
    if (!with_reference) {
      std::printf("%s ran\n", Composition::kName);
      return true;
    }
    device_.set(result_, 0, 32);
    const std::uint64_t compared = s().other_order ? in_order(out, count) : out;
    device_.run("compare", s().sequences * s().rows * s().heads, 1, 128, compared, reference_,
                static_cast<int>(dim()), result_);
    const std::vector<double> found = result();
    const double error = found[1] == 0 ? std::sqrt(found[0]) : std::sqrt(found[0] / found[1]);
    bool good = error <= kTolerance && found[2] == 0;
    std::string note;
    if (found[2] != 0)
      note += "; " + std::to_string(static_cast<long long>(found[2])) + " elements are wrong";
    if (!guard_intact(out, count)) {
      good = false;
      note += "; wrote past the end";
    }
    if (kLse<A> && !lse_right(count / dim())) {
      good = false;
      note += "; logarithms are wrong";
    }
    if (control_) {
      const std::uint64_t other = compute(*control_, count);
      device_.set(result_, 0, 32);
      device_.run("differing", 512, 1, 256, out, other, static_cast<unsigned long long>(count), result_);
      const double differing = result()[0];
      good &= differing == 0;
      note += differing == 0
                  ? "; control equal"
                  : "; " + std::to_string(static_cast<long long>(differing)) + " differ from control";
    }
    std::printf("%-32s %2u x %5u queries, %5u keys, %2u/%-2u heads, dim %3u%s: error %.2e, most %.2e%s%s\n",
                Composition::kName, s().sequences, s().rows, s().keys, s().heads, s().kv_heads, dim(),
                s().ragged ? ", ragged" : "", error, found[3], note.c_str(), good ? "" : "  WRONG");
    std::fflush(stdout);
    return good;
  }

 private:
  const Shape& s() const { return shape_; }
  static constexpr unsigned dim() { return Composition::kDim; }
  unsigned row_tiles() const { return (s().rows + 127) / 128; }
  unsigned key_tiles() const { return (s().keys + 127) / 128; }
  unsigned number(unsigned least, unsigned most) {
    return std::uniform_int_distribution<unsigned>(least, most)(random_);
  }

  template <class T>
  std::uint64_t upload(const std::vector<T>& values) {
    const std::uint64_t to = device_.allocate(std::max<std::size_t>(values.size() * sizeof(T), 16));
    device_.write(to, values.data(), values.size() * sizeof(T));
    return to;
  }
  std::uint64_t normal(std::size_t count, float deviation) {
    const std::uint64_t to = device_.allocate(count * 2);
    device_.run("fill_normal", 512, 1, 256, to, static_cast<unsigned long long>(count),
                static_cast<unsigned long long>(random_()), deviation);
    return to;
  }
  std::vector<double> result() {
    device_.synchronize();
    std::vector<double> values(4);
    device_.read(values.data(), result_, 32);
    return values;
  }

  /// From [sequences, rows, heads, dim] to [sequences, heads, rows, dim], or back.
  std::uint64_t reordered(std::uint64_t from, unsigned rows, unsigned heads, bool back) {
    std::vector<std::uint16_t> x(std::size_t{s().sequences} * rows * heads * dim()), y(x.size());
    device_.synchronize();
    device_.read(x.data(), from, x.size() * 2);
    for (std::size_t q = 0; q < s().sequences; ++q)
      for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t h = 0; h < heads; ++h) {
          const std::size_t a = ((q * rows + r) * heads + h) * dim(),
                            b = ((q * heads + h) * rows + r) * dim();
          std::memcpy(y.data() + (back ? a : b), x.data() + (back ? b : a), std::size_t{dim()} * 2);
        }
    return upload(y);
  }
  std::uint64_t in_order(std::uint64_t out, std::size_t) { return reordered(out, s().rows, s().heads, true); }

  /// Inputs, and the reference.
  void prepare(bool with_reference) {
    if constexpr (kDocuments<A>) shape_.sequences = 1, shape_.keys = shape_.rows;
    if constexpr (kDocuments<A> || kSparse<A>) shape_.ragged = false;
    const std::size_t kv = std::size_t{s().sequences} * s().keys * s().kv_heads * dim();
    q_ = normal(std::size_t{s().sequences} * s().rows * s().heads * dim(), s().deviation);
    k_ = normal(kv, 1.0f);
    v_ = normal(kv, 1.0f);
    result_ = device_.allocate(32);
    lengths_.assign(s().sequences, s().keys);
    if (s().ragged)
      for (unsigned& length : lengths_) length = number(1, s().keys);
    lengths_device_ = upload(lengths_);
    if constexpr (kDocuments<A>)
      for (unsigned begin = 0, at = 0; at < s().rows; ++at) {
        if (number(0, 99) == 0 || at == 0) begin = at;
        document_first_.push_back(begin);
      }

    std::vector<int> first, last, positions;
    for (unsigned q = 0; q < s().sequences; ++q) {
      positions.push_back(static_cast<int>(lengths_[q]) - static_cast<int>(s().rows));
      for (unsigned r = 0; r < s().rows; ++r) {
        const int position = positions.back() + static_cast<int>(r), window = static_cast<int>(s().window);
        const bool causal = kCausal<A> || kDocuments<A>;
        last.push_back(causal ? position : static_cast<int>(lengths_[q]) - 1);
        first.push_back(Composition::kWindow ? position - window + 1
                        : kDocuments<A>      ? static_cast<int>(document_first_[r])
                                             : 0);
      }
    }
    std::vector<unsigned char> blocks;
    if constexpr (kSparse<A>) {  // about a quarter of the tiles; some lists are empty
      counts_.clear();
      for (unsigned list = 0; list < s().heads * row_tiles(); ++list) {
        counts_.push_back(0);
        const std::size_t begin = std::size_t{list} * key_tiles();
        for (unsigned tile = 0; tile < key_tiles(); ++tile) {
          blocks.push_back(number(0, 3) == 0);
          if (blocks.back()) indices_.resize(begin + key_tiles()), indices_[begin + counts_.back()++] = tile;
        }
      }
      indices_.resize(std::size_t{s().heads} * row_tiles() * key_tiles());
    }
    std::vector<float> slopes;
    for (unsigned h = 0; h < s().heads; ++h) slopes.push_back(std::exp2(-8.0f * (h + 1) / s().heads));
    slopes_ = upload(slopes);

    const std::size_t count = std::size_t{s().sequences} * s().rows * s().heads * dim();
    reference_ = device_.allocate(count * 4);
    reference_lse_ = device_.allocate(count / dim() * 4);
    lse_ = device_.allocate(count / dim() * 4);
    if (with_reference)
      device_.run("reference", s().rows, s().heads * s().sequences, 128, q_, k_, v_, reference_,
                  reference_lse_, static_cast<int>(s().rows), static_cast<int>(s().keys),
                  static_cast<int>(s().heads), static_cast<int>(s().kv_heads), static_cast<int>(dim()),
                  upload(first), upload(last), kSparse<A> ? upload(blocks) : std::uint64_t{0}, scale(),
                  Composition::kCap, kAlibi<A> ? slopes_ : std::uint64_t{0}, upload(positions));
    if constexpr (kPaged<A>) {
      make_pages();
    } else if (s().other_order) {
      k_ = reordered(k_, s().keys, s().kv_heads, false);
      v_ = reordered(v_, s().keys, s().kv_heads, false);
    }
    if (s().other_order) q_ = reordered(q_, s().rows, s().heads, false);
    device_.synchronize();
  }

  static float scale() { return 1.0f / std::sqrt(static_cast<float>(dim())); }

  /// K and V in pages in random order, of which some are nobody's.
  void make_pages() {
    if constexpr (kPaged<A>) {
      const unsigned page = Composition::kPage, per_sequence = (s().keys + page - 1) / page;
      const unsigned pages = per_sequence * s().sequences + 3;
      std::vector<unsigned> order(pages);
      std::iota(order.begin(), order.end(), 0u);
      std::shuffle(order.begin(), order.end(), random_);
      const std::size_t row = std::size_t{s().kv_heads} * dim();
      for (std::uint64_t* of : {&k_, &v_}) {
        std::vector<std::uint16_t> x(std::size_t{s().sequences} * s().keys * row),
            y(std::size_t{pages} * page * row, 0x4140);  // 12 where nothing is
        device_.synchronize();
        device_.read(x.data(), *of, x.size() * 2);
        for (std::size_t q = 0; q < s().sequences; ++q)
          for (std::size_t key = 0; key < lengths_[q]; ++key)
            std::memcpy(
                y.data() + (std::size_t{order[q * per_sequence + key / page]} * page + key % page) * row,
                x.data() + (q * s().keys + key) * row, row * 2);
        *of = upload(y);
      }
      order.resize(std::size_t{per_sequence} * s().sequences);
      table_ = upload(order);
      pages_ = pages;
      per_sequence_ = per_sequence;
    }
  }

  A arguments(std::uint64_t out) {
    const unsigned long long d = dim(), rows = s().rows, keys = s().keys, h = s().heads, kh = s().kv_heads;
    const bool other = s().other_order;
    A a{};
    a.attention_core.scale = scale();
    const unsigned long long out_row = other ? d : h * d, out_head = other ? rows * d : d;
    if constexpr (kLse<A>)
      a.attention_store_lse = {reinterpret_cast<void*>(out),
                               reinterpret_cast<float*>(lse_),
                               s().rows,
                               s().heads,
                               out_row,
                               out_head,
                               rows * h * d};
    else
      a.attention_store = {
          reinterpret_cast<void*>(out), s().sequences, s().rows, s().heads, out_row, out_head, rows * h * d};
    if constexpr (kPaged<A>) {
      auto& l = a.attention_paged_loader;
      l.q = pointer<void>(q_), l.k = pointer<void>(k_), l.v = pointer<void>(v_);
      l.table = pointer<unsigned>(table_), l.table_stride = per_sequence_, l.pages = pages_;
      l.sequences = s().sequences, l.rows = s().rows, l.heads = s().heads, l.kv_heads = s().kv_heads;
      l.q_row = other ? d : h * d, l.q_head = other ? rows * d : d, l.q_sequence = rows * h * d;
      l.kv_slot = kh * d, l.kv_head = d, l.kv_page = Composition::kPage * kh * d;
    } else {
      auto& l = a.attention_loader;
      l.q = pointer<void>(q_), l.k = pointer<void>(k_), l.v = pointer<void>(v_);
      l.sequences = s().sequences, l.rows = s().rows, l.keys = s().keys, l.heads = s().heads,
      l.kv_heads = s().kv_heads;
      l.q_row = other ? d : h * d, l.q_head = other ? rows * d : d, l.q_sequence = rows * h * d;
      l.kv_row = other ? d : kh * d, l.kv_head = other ? keys * d : d, l.kv_sequence = keys * kh * d;
    }
    const attention_tiles::Shape shape = {s().sequences, s().rows, s().heads, s().keys,
                                          s().ragged ? pointer<unsigned>(lengths_device_) : nullptr};
    if constexpr (kAll<A>) a.all_tiles = shape;
    if constexpr (kCausal<A>) a.causal_tiles = {shape, Composition::kWindow ? s().window : 0};
    if constexpr (kSparse<A>)
      a.sparse_tiles = {shape, pointer<unsigned>(upload(counts_)), pointer<unsigned>(upload(indices_)),
                        key_tiles()};
    if constexpr (kDocuments<A>) a.document_tiles = {shape, pointer<unsigned>(upload(document_first_))};
    if constexpr (kAlibi<A>) a.alibi = {pointer<float>(slopes_)};
    return a;
  }

  /// Runs a kernel once into a poisoned output.
  std::uint64_t compute(const pipelink::Kernel& kernel, std::size_t count) {
    const std::uint64_t out = device_.allocate(count * 2 + kGuardBytes);
    device_.set(out, 0xff, count * 2 + kGuardBytes);  // NaN
    device_.set(lse_, 0xff, count / dim() * 4);
    const pipelink::Session session = want(Composition::open(kernel, arguments(out)));
    want(session.launch(nullptr));
    try {
      device_.synchronize();
    } catch (const std::exception& e) {  // a guarded kernel can say more
      throw std::runtime_error(e.what() + ("\n" + session.guard_report()));
    }
    if (const std::string found = session.guard_report(); !found.empty())
      throw std::runtime_error("the guard found\n" + found);
    return out;
  }

  bool lse_right(std::size_t rows) {
    std::vector<float> found(rows), exact(rows);
    device_.read(found.data(), lse_, rows * 4);
    device_.read(exact.data(), reference_lse_, rows * 4);
    for (std::size_t i = 0; i < rows; ++i)
      if (found[i] != exact[i] && !(std::fabs(found[i] - exact[i]) <= 1e-3f)) return false;
    return true;
  }

  bool guard_intact(std::uint64_t out, std::size_t count) {
    std::vector<unsigned char> guard(kGuardBytes);
    device_.read(guard.data(), out + count * 2, guard.size());
    return std::all_of(guard.begin(), guard.end(), [](unsigned char c) { return c == 0xff; });
  }

  runner::Device& device_;
  Shape shape_;
  std::mt19937_64 random_;
  const pipelink::Kernel& kernel_;
  const pipelink::Kernel* control_;
  std::vector<unsigned> lengths_, document_first_, counts_, indices_;
  std::uint64_t q_ = 0, k_ = 0, v_ = 0, reference_ = 0, result_ = 0, lengths_device_ = 0, slopes_ = 0,
                table_ = 0, lse_ = 0, reference_lse_ = 0;
  unsigned pages_ = 0, per_sequence_ = 0;
};

struct Options {
  std::string controls;
  unsigned long long seed = std::random_device{}();
  bool small = false;  // kSmall instead
  std::vector<std::string> names;
};

template <class Composition>
bool check(runner::Device& device, const Options& options) {
  if (!options.names.empty() &&
      std::find(options.names.begin(), options.names.end(), Composition::kName) == options.names.end())
    return true;
  const pipelink::Kernel kernel = want(Composition::load());
  std::vector<pipelink::Kernel> control;
  if (!options.controls.empty()) {
    const std::string base = options.controls + "/" + Composition::kName + "." + kernel.launch().arch;
    const std::string image = file(base + ".control.cubin"), launch = file(base + ".launch");
    const pipelink::Image images[] = {{kernel.launch().arch, image.data(), image.size(), launch}};
    pipelink::LoadOptions load;
    load.providers = runner_providers;
    control.push_back(want(pipelink::Kernel::load(images, load)));
  }
  const pipelink::Kernel* other = control.empty() ? nullptr : &control.front();
  if (options.small) return Check<Composition>(device, kSmall, options.seed, kernel, other).run(false);
  bool good = true;
  for (const Shape& shape : kShapes)
    good &= Check<Composition>(device, shape, options.seed, kernel, other).run(true);
  return good;
}

[[noreturn]] void usage(const std::string& fault) {
  std::fprintf(stderr,
               "attention_runner: %s\nusage: attention_runner [--small] [--seed S] [--controls FOLDER] "
               "[COMPOSITION…]\n",
               fault.c_str());
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--small") {
      options.small = true;
    } else if (word == "--seed" || word == "--controls") {
      if (++i == argc) usage(word + " needs a value");
      if (word == "--controls") {
        options.controls = argv[i];
      } else {
        char* end = nullptr;
        options.seed = std::strtoull(argv[i], &end, 10);
        if (*end != 0 || end == argv[i]) usage("--seed '" + std::string(argv[i]) + "' is no number");
      }
    } else {
      if (std::find(std::begin(runner_names), std::end(runner_names), word) == std::end(runner_names))
        usage("there is no composition '" + word + "'");
      options.names.push_back(word);
    }
  }
  return options;
}

}  // namespace

int main(int argc, char** argv) {
  const Options options = parse(argc, argv);
  try {
    std::printf("seed %llu\n", options.seed);
    runner::Device device(attention_reference_image);  // before what lives in its context
    std::printf("%s\n", device.name().c_str());
    bool good = true;
#define CHECK(composition) good &= check<composition>(device, options);
    RUNNER_COMPOSITIONS(CHECK)
#undef CHECK
    std::printf("%s\n", good ? "all right" : "WRONG");
    return good ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "attention_runner: %s\n", e.what());
    return 1;
  }
}
