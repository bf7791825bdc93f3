// Runs GEMM + SwiGLU on device buffers of its own, on a stream of its own; compares a sample with the CPU;
// captures the launch in a CUDA graph and replays it.
//
//     out[m, i] = silu(Σ a[m, k] · w[i, k]) · Σ a[m, k] · w[I + i, k]     bfloat16, sums in float
//
// usage: gemm_swiglu_example [M HIDDEN INTERMEDIATE]
// Exit status: 0 right, 1 wrong or failed, 2 usage, 77 no GPU here that the composition was linked for.
#include <cuda_bf16.h>
#include <cuda_runtime_api.h>
#include <pipelink/gemm_swiglu.h>

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

constexpr int kNoGpu = 77;
constexpr int kSamples = 4096;

struct Shape {
  unsigned m = 300, hidden = 1024, intermediate = 2048;  // rows that fill no whole number of tiles
};

void check(cudaError_t status, const char* what) {
  if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

template <class T>
T want(pipelink::Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return *std::move(result);
}

void want(const pipelink::Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().message);
}

struct FreeDevice {
  void operator()(void* p) const { cudaFree(p); }
};
using DeviceBuffer = std::unique_ptr<void, FreeDevice>;

DeviceBuffer allocate(std::size_t bytes) {
  void* p = nullptr;
  check(cudaMalloc(&p, bytes), "cannot allocate device memory");
  return DeviceBuffer(p);
}

using Matrix = std::vector<__nv_bfloat16>;  // row-major

Matrix random_matrix(std::size_t count, float deviation, unsigned seed) {
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, deviation);
  Matrix out(count);
  for (__nv_bfloat16& x : out) x = __float2bfloat16(normal(engine));
  return out;
}

/// Element (row, column) of the output.
float reference(const Matrix& a, const Matrix& w, const Shape& shape, unsigned row, unsigned column) {
  const __nv_bfloat16* const x = &a[std::size_t{row} * shape.hidden];
  const __nv_bfloat16* const gates = &w[std::size_t{column} * shape.hidden];
  const __nv_bfloat16* const ups = &w[(std::size_t{shape.intermediate} + column) * shape.hidden];
  float gate = 0, up = 0;
  for (unsigned k = 0; k < shape.hidden; ++k) {
    gate += __bfloat162float(x[k]) * __bfloat162float(gates[k]);
    up += __bfloat162float(x[k]) * __bfloat162float(ups[k]);
  }
  return gate / (1 + std::exp(-gate)) * up;
}

/// Whether a sample of the output is within bfloat16's rounding of the reference, and all of it is finite.
bool agrees(const Matrix& out, const Matrix& a, const Matrix& w, const Shape& shape, const char* what) {
  std::mt19937 engine(7);
  unsigned wrong = 0, unwritten = 0;
  float largest = 0;
  for (int i = 0; i < kSamples; ++i) {
    const unsigned row = engine() % shape.m, column = engine() % shape.intermediate;
    const float expected = reference(a, w, shape, row, column);
    const float error =
        std::fabs(__bfloat162float(out[std::size_t{row} * shape.intermediate + column]) - expected);
    if (!(error <= std::fabs(expected) / 256 + 1e-3f)) ++wrong;
    largest = std::fmax(largest, error);
  }
  for (const __nv_bfloat16 x : out)
    if (!std::isfinite(__bfloat162float(x))) ++unwritten;
  std::printf(
      "%s: %u of %d sampled elements are wrong, the largest error is %.2e; %u elements are not finite\n",
      what, wrong, kSamples, static_cast<double>(largest), unwritten);
  return wrong == 0 && unwritten == 0;
}

bool run(const pipelink::Kernel& kernel, const Shape& shape) {
  check(cudaSetDevice(kernel.device().ordinal), "cannot use the GPU");
  const std::size_t a_count = std::size_t{shape.m} * shape.hidden;
  const std::size_t w_count = 2 * std::size_t{shape.intermediate} * shape.hidden;
  const std::size_t out_count = std::size_t{shape.m} * shape.intermediate;
  const Matrix a = random_matrix(a_count, 1, 1), other_a = random_matrix(a_count, 1, 2);
  const Matrix w = random_matrix(w_count, 1 / std::sqrt(static_cast<float>(shape.hidden)), 3);
  const DeviceBuffer device_a = allocate(a_count * 2), device_w = allocate(w_count * 2),
                     device_out = allocate(out_count * 2);
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cannot create a stream");

  // All work is on this one stream, in order; nothing uses the default stream.
  const auto upload = [&](const DeviceBuffer& to, const Matrix& from) {
    check(cudaMemcpyAsync(to.get(), from.data(), from.size() * 2, cudaMemcpyHostToDevice, stream),
          "cannot copy");
  };
  const auto poison = [&] {  // NaN
    check(cudaMemsetAsync(device_out.get(), 0xff, out_count * 2, stream), "cannot fill the output");
  };
  const auto download = [&] {
    Matrix out(out_count);
    check(cudaMemcpyAsync(out.data(), device_out.get(), out_count * 2, cudaMemcpyDeviceToHost, stream),
          "cannot copy");
    check(cudaStreamSynchronize(stream), "the kernel failed");
    return out;
  };

  // One member for each instance that takes arguments. The buffers are lent until the last launch has run.
  pipelink::gemm_swiglu::Arguments arguments{};
  arguments.tma_loader = {
      .a = device_a.get(), .b = device_w.get(), .m = shape.m, .n = 2 * shape.intermediate, .k = shape.hidden};
  arguments.swiglu = {.out = device_out.get(), .rows = shape.m, .columns = shape.intermediate};
  const pipelink::Session session = want(pipelink::gemm_swiglu::open(kernel, arguments));

  upload(device_a, a);
  upload(device_w, w);
  poison();
  want(session.launch(stream));
  const Matrix launched = download();
  bool good = agrees(launched, a, w, shape, "launched");

  // A launch allocates nothing and waits for nothing, so it can be captured. The kernel and the buffers must
  // outlive the graph.
  cudaGraph_t graph = nullptr;
  cudaGraphExec_t replay = nullptr;
  check(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "cannot capture");
  want(session.launch(stream));
  check(cudaStreamEndCapture(stream, &graph), "cannot end the capture");
  check(cudaGraphInstantiate(&replay, graph, 0), "cannot instantiate the graph");
  poison();
  check(cudaGraphLaunch(replay, stream), "cannot replay");
  const Matrix replayed = download();
  const bool equal = std::memcmp(replayed.data(), launched.data(), out_count * 2) == 0;
  std::printf("replayed: %s\n", equal ? "equal to what was launched" : "DIFFERENT from what was launched");
  good &= equal;

  upload(device_a, other_a);  // the graph reads the buffer, not what was in it
  poison();
  check(cudaGraphLaunch(replay, stream), "cannot replay");
  good &= agrees(download(), other_a, w, shape, "replayed with other input");

  // Of a link with LINK_OPTIONS guard; empty for any other.
  if (const std::string found = session.guard_report(); !found.empty()) {
    std::printf("the guard found\n%s", found.c_str());
    good = false;
  }

  check(cudaGraphExecDestroy(replay), "cannot destroy the graph");
  check(cudaGraphDestroy(graph), "cannot destroy the graph");
  check(cudaStreamDestroy(stream), "cannot destroy the stream");
  return good;
}

[[noreturn]] void usage() {
  std::fprintf(stderr,
               "usage: gemm_swiglu_example [M HIDDEN INTERMEDIATE]   numbers from 1 to 65536; HIDDEN and "
               "INTERMEDIATE are multiples of 8\n");
  std::exit(2);
}

Shape parse(int argc, char** argv) {
  Shape shape;
  if (argc == 1) return shape;
  if (argc != 4) usage();
  unsigned* const to[] = {&shape.m, &shape.hidden, &shape.intermediate};
  for (int i = 0; i < 3; ++i) {
    const char* const text = argv[i + 1];
    const char* const end = text + std::strlen(text);
    const auto [stop, status] = std::from_chars(text, end, *to[i]);
    if (status != std::errc() || stop != end || *to[i] < 1 || *to[i] > 65536) usage();
  }
  if (shape.hidden % 8 != 0 || shape.intermediate % 8 != 0) usage();
  return shape;
}

}  // namespace

int main(int argc, char** argv) {
  const Shape shape = parse(argc, argv);
  const auto kernel = pipelink::gemm_swiglu::load();
  if (!kernel) {
    using enum pipelink::ErrorCode;
    const pipelink::ErrorCode code = kernel.error().code;
    const bool no_gpu =
        code == kDriverMissing || code == kDriverTooOld || code == kNoDevice || code == kNoImage;
    std::fprintf(stderr, "gemm_swiglu_example: %s%s\n", no_gpu ? "nothing was run: " : "",
                 kernel.error().message.c_str());
    return no_gpu ? kNoGpu : 1;
  }
  try {
    std::printf("gemm_swiglu for %s on %s: m %u, hidden %u, intermediate %u\n", kernel->launch().arch.c_str(),
                kernel->device().name.c_str(), shape.m, shape.hidden, shape.intermediate);
    const bool good = run(*kernel, shape);
    std::printf("%s\n", good ? "PASS" : "FAIL");
    return good ? 0 : 1;
  } catch (const std::exception& e) {
    std::fprintf(stderr, "gemm_swiglu_example: %s\nFAIL\n", e.what());
    return 1;
  }
}
