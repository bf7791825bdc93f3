#include "linker/backend/lower.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "linker/backend/child.h"
#include "linker/backend/vendor.h"

namespace pipelink {
namespace {

using nlohmann::json;

double milliseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
}

/// What the child sends: a JSON line, then the cubin.
std::string reply(const json& head, const std::string& cubin = {}) {
  return head.dump() + "\n" + cubin;
}

std::string failure(const char* clause, const std::string& text) {
  return reply({{"clause", clause}, {"log", text}});
}

std::string not_loaded(const std::string& error) {
  return failure(lacks_address_space(error) ? "T-CHILD" : "T-TOOLKIT", error);
}

/// The most memory that this process has had at once.
long peak_memory_kib() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

std::string text_of(std::size_t size, const auto& fill) {
  std::string text(size, '\0');
  if (size != 0) fill(text.data());
  while (!text.empty() && (text.back() == '\0' || text.back() == '\n')) text.pop_back();
  return text;
}

// ---- in the child that compiles

/// CUDA C++ to LTO-IR, as a reply. The first line is the architecture.
std::string compile_glue(const Nvrtc& api, const std::string& arch_and_glue) {
  const auto start = std::chrono::steady_clock::now();
  const std::size_t line = arch_and_glue.find('\n');
  const std::string arch = "--gpu-architecture=" + arch_and_glue.substr(0, line);
  const std::string glue = arch_and_glue.substr(line + 1);
  // Without -minimal, half of the time goes into declarations of the CUDA run time, and no glue names one.
  const char* options[] = {arch.c_str(), "-dlto", "-rdc=true", "-std=c++20", "-minimal"};
  nvrtcProgram program = nullptr;
  nvrtcResult status = api.create(&program, glue.c_str(), "glue.cu", 0, nullptr, nullptr);
  if (status == NVRTC_SUCCESS) status = api.compile(program, std::size(options), options);
  std::size_t size = 0;
  if (status != NVRTC_SUCCESS) {
    if (program == nullptr || api.log_size(program, &size) != NVRTC_SUCCESS) size = 0;
    const std::string log = text_of(size, [&](char* to) { api.log(program, to); });
    return failure(status == NVRTC_ERROR_BUILTIN_OPERATION_FAILURE ? "T-TOOLKIT" : "T-NVRTC",
                   log.empty() ? api.error_string(status) : log);
  }
  if (api.ltoir_size(program, &size) != NVRTC_SUCCESS)
    return failure("T-NVRTC", "no LTO-IR came of the glue");
  std::string ltoir(size, '\0');
  api.ltoir(program, ltoir.data());
  return reply({{"glue_ms", milliseconds_since(start)}}, ltoir);
}

std::string load_and_compile(const Receive& receive) {
  Nvrtc api;
  std::string error;
  if (!Nvrtc::load(api, error)) return not_loaded(error);
  return compile_glue(api, receive());
}

// ---- in the child that links

enum class Product { kCubin, kPtx };

/// A request as bytes: a JSON line, the glue, the inputs.
std::string request_bytes(const LowerRequest& request, Product product) {
  json head = {{"arch", request.arch},
               {"kernel", request.kernel},
               {"max_registers", request.max_registers},
               {"ptx", product == Product::kPtx},
               {"glue", request.glue.size()},
               {"inputs", json::array()}};
  std::string bodies = request.glue;
  for (const LowerInput& input : request.inputs) {
    head["inputs"].push_back(
        {{"name", input.name}, {"toolkit", input.toolkit}, {"size", input.ltoir.size()}});
    bodies += input.ltoir;
  }
  return head.dump() + "\n" + bodies;
}

struct Request : LowerRequest {
  Product product = Product::kCubin;
};

Request request_of(const std::string& bytes) {
  const std::size_t line = bytes.find('\n');
  const json head = json::parse(bytes.substr(0, line));
  std::size_t at = line + 1;
  const auto body = [&](std::size_t size) {
    at += size;
    return bytes.substr(at - size, size);
  };
  Request out;
  out.arch = head.at("arch");
  out.kernel = head.at("kernel");
  out.max_registers = head.at("max_registers");
  out.product = head.at("ptx").get<bool>() ? Product::kPtx : Product::kCubin;
  out.glue = body(head.at("glue"));
  for (const json& input : head.at("inputs"))
    out.inputs.push_back({input.at("name"), body(input.at("size")), input.at("toolkit")});
  return out;
}

/// Link-time code is read by the same major version, and by no older minor version than it was written by.
std::string newer_input(const LowerRequest& request, const NvJitLink& api) {
  unsigned major = 0, minor = 0;
  if (api.version(&major, &minor) != NVJITLINK_SUCCESS) return {};
  for (const LowerInput& input : request.inputs) {
    unsigned from = 0, from_minor = 0;
    if (std::sscanf(input.toolkit.c_str(), "%u.%u", &from, &from_minor) != 2) continue;
    if (from != major || from_minor > minor)
      return fmt::format("{} is from CUDA {}, and this nvJitLink is of {}.{}", input.name, input.toolkit,
                         major, minor);
  }
  return {};
}

std::string load_and_link(const ChildLimits& limits, const Receive& receive) {
  // NVRTC works in a process of its own while nvJitLink loads and reads the packages: both spend their first
  // time on page faults, which threads of one process would queue for.
  Child compiler(limits, load_and_compile);
  NvJitLink api;
  std::string error;
  if (!NvJitLink::load(api, error)) return not_loaded(error);
  const Request request = request_of(receive());
  compiler.send(request.arch + "\n" + request.glue);
  if (std::string wrong = newer_input(request, api); !wrong.empty()) return failure("L-TOOLKIT", wrong);
  const auto link_start = std::chrono::steady_clock::now();
  const std::string arch = "-arch=" + request.arch, keep = "-kernels-used=" + request.kernel;
  const std::string registers = "-maxrregcount=" + std::to_string(request.max_registers);
  std::vector<const char*> options = {
      arch.c_str(), "-lto", "-O3", "-optimize-unused-variables", keep.c_str(), "-Xptxas=--warn-on-spills"};
  if (request.max_registers != 0) options.push_back(registers.c_str());
  if (request.product == Product::kPtx) options.push_back("-ptx");
  nvJitLinkHandle handle = nullptr;
  const auto logs = [&] {
    std::size_t size = 0;
    std::string text;
    if (handle != nullptr && api.error_size(handle, &size) == NVJITLINK_SUCCESS)
      text = text_of(size, [&](char* to) { api.error(handle, to); });
    if (handle != nullptr && api.info_size(handle, &size) == NVJITLINK_SUCCESS && size > 1)
      text += (text.empty() ? "" : "\n") + text_of(size, [&](char* to) { api.info(handle, to); });
    return text;
  };
  if (api.create(&handle, static_cast<std::uint32_t>(options.size()), options.data()) != NVJITLINK_SUCCESS)
    return failure("T-NVJITLINK", "nvJitLink refused its options: " + logs());
  for (const LowerInput& input : request.inputs)
    if (api.add(handle, NVJITLINK_INPUT_LTOIR, input.ltoir.data(), input.ltoir.size(), input.name.c_str()) !=
        NVJITLINK_SUCCESS)
      return failure("T-NVJITLINK", fmt::format("{} was refused: {}", input.name, logs()));
  double link_ms = milliseconds_since(link_start);
  const ChildResult compiled = compiler.wait();
  if (!compiled.finished)
    return failure("T-CHILD", compiled.standard_error.empty()
                                  ? compiled.death
                                  : compiled.death + "; it said: " + compiled.standard_error);
  const std::size_t line = compiled.bytes.find('\n');
  const json glue_head = json::parse(compiled.bytes.substr(0, line));
  if (glue_head.contains("clause")) return compiled.bytes;
  const std::string glue = compiled.bytes.substr(line + 1);
  const auto rest_start = std::chrono::steady_clock::now();
  // The glue comes last: the whole takes the data layout of its first module, and NVRTC's has 64-bit pointers
  // to shared memory where nvcc's has 32-bit ones, which costs registers and makes the code differ from the
  // control's.
  if (api.add(handle, NVJITLINK_INPUT_LTOIR, glue.data(), glue.size(), "glue") != NVJITLINK_SUCCESS)
    return failure("T-NVJITLINK", "the glue was refused: " + logs());
  if (const nvJitLinkResult status = api.complete(handle); status != NVJITLINK_SUCCESS)
    return failure("T-NVJITLINK", fmt::format("status {}: {}", static_cast<int>(status), logs()));
  std::size_t size = 0;
  const bool ptx = request.product == Product::kPtx;
  if ((ptx ? api.ptx_size : api.cubin_size)(handle, &size) != NVJITLINK_SUCCESS || size == 0)
    return failure("T-NVJITLINK", "nothing came of the link");
  std::string output(size, '\0');
  if (ptx)
    api.ptx(handle, output.data());
  else
    api.cubin(handle, output.data());
  link_ms += milliseconds_since(rest_start);
  return reply({{"log", logs()},
                {"glue_ms", glue_head.at("glue_ms")},
                {"link_ms", link_ms},
                {"peak_kib", peak_memory_kib()}},
               output);
}

Diagnostic tool_error(const LowerRequest& request, const std::string& clause, std::string title,
                      std::string reason) {
  Diagnostic d;
  d.clause = clause;
  d.title = std::move(title);
  std::string inputs;
  for (const LowerInput& input : request.inputs) inputs += (inputs.empty() ? "" : ", ") + input.name;
  d.facts.push_back({"inputs", inputs, {}});
  d.reason = std::move(reason);
  return d;
}

// ---- in the linker

constexpr const char* kMoreMemory =
    "give it more address space: `pipelink link --memory`, in MiB, or `ulimit -v`";

std::unique_ptr<Child> start(const ToolchainLimits& limits) {
  const ChildLimits of_child{limits.seconds, limits.memory_bytes};
  return std::make_unique<Child>(
      of_child, [of_child](const Receive& receive) { return load_and_link(of_child, receive); });
}

Outcome<Lowered> lower_to(Child& toolchain, const LowerRequest& request, Product product) {
  toolchain.send(request_bytes(request, product));
  const ChildResult child = toolchain.wait();
  if (!child.finished) {
    Diagnostic d = tool_error(request, "T-CHILD", "the vendor's linker died", child.death);
    if (!child.standard_error.empty()) d.facts.push_back({"standard error", child.standard_error, {}});
    const auto says = [&](const char* words) {
      return child.standard_error.find(words) != std::string::npos;
    };
    d.help = says("out of memory") || says("bad_alloc") ? kMoreMemory
             : child.death.starts_with("no result")
                 ? "give it more time: `pipelink link --seconds`; if that does not help, the object and the "
                   "toolkit do "
                   "not agree"
                 : "pack the inputs again; if it stays, the object and the toolkit do not agree";
    return d;
  }
  const std::size_t line = child.bytes.find('\n');
  const json head = json::parse(child.bytes.substr(0, line), nullptr, false);
  if (head.is_discarded() || line == std::string::npos)
    return tool_error(request, "T-CHILD", "the vendor's linker gave no answer", "its reply is not readable");
  const std::string log = head.value("log", "");
  if (const std::string clause = head.value("clause", ""); !clause.empty()) {
    const bool no_room = lacks_address_space(log);
    const char* title = no_room                 ? "the vendor's libraries do not fit the memory limit"
                        : clause == "T-NVRTC"   ? "the glue does not compile"
                        : clause == "L-TOOLKIT" ? "a package is from another toolkit"
                        : clause == "T-TOOLKIT" ? "the CUDA toolkit's libraries cannot be used"
                        : clause == "T-CHILD"   ? "the vendor's run-time compiler died"
                                                : "nvJitLink failed";
    Diagnostic d = tool_error(request, clause, title, log);
    if (clause == "T-CHILD")
      d.help = no_room ? kMoreMemory
                       : "`pipelink doctor` runs it alone; if it dies there too, install the toolkit again";
    if (clause == "T-TOOLKIT") d.help = "`pipelink doctor` shows what was found";
    if (clause == "T-NVRTC")
      d.help = "a callable's types must be known to both sides; report it if they are spelt rightly";
    if (clause == "L-TOOLKIT")
      d.help =
          "link with a toolkit that is not older (PIPELINK_TOOLKIT_LIBRARY_DIR names its libraries), or pack "
          "with "
          "this one";
    return d;
  }
  Lowered out;
  out.cubin = child.bytes.substr(line + 1);
  out.log = log;
  out.glue_ms = head.value("glue_ms", 0.0);
  out.link_ms = head.value("link_ms", 0.0);
  out.peak_mib = head.value("peak_kib", 0.0) / 1024;
  return out;
}

}  // namespace

Toolchain::Toolchain(const ToolchainLimits& limits) : limits_(limits), ready_(start(limits)) {}

Toolchain::~Toolchain() = default;

Outcome<Lowered> Toolchain::lower(const LowerRequest& request) {
  const std::unique_ptr<Child> child = next();
  return lower_to(*child, request, Product::kCubin);
}

Outcome<std::string> Toolchain::lower_to_ptx(const LowerRequest& request) {
  const std::unique_ptr<Child> child = next();
  Outcome<Lowered> lowered = lower_to(*child, request, Product::kPtx);
  if (!lowered) return std::move(lowered.diagnostics);
  while (!lowered->cubin.empty() && lowered->cubin.back() == '\0') lowered->cubin.pop_back();
  return std::move(lowered->cubin);
}

std::unique_ptr<Child> Toolchain::next() {
  if (ready_ == nullptr) return start(limits_);
  return std::move(ready_);
}

ToolchainStatus toolchain_status() {
  const ChildResult child = run_in_child({60, 0}, [] {
    Nvrtc nvrtc;
    NvJitLink nvjitlink;
    std::string error;
    if (!Nvrtc::load(nvrtc, error) || !NvJitLink::load(nvjitlink, error))
      return json{{"error", error}}.dump();
    // A compile shows whether what NVRTC loads by itself is there too.
    const std::string compiled = compile_glue(nvrtc, "sm_90a\n__device__ int nothing;\n");
    const json answer = json::parse(compiled.substr(0, compiled.find('\n')));
    if (answer.contains("clause")) return json{{"error", answer.value("log", "NVRTC failed")}}.dump();
    int major = 0, minor = 0;
    unsigned link_major = 0, link_minor = 0;
    nvrtc.version(&major, &minor);
    nvjitlink.version(&link_major, &link_minor);
    return json{{"nvrtc", fmt::format("{}.{}", major, minor)},
                {"nvjitlink", fmt::format("{}.{}", link_major, link_minor)}}
        .dump();
  });
  ToolchainStatus status;
  if (!child.finished) {
    status.error = "loading the vendor's libraries ended with " + child.death;
    return status;
  }
  const json head = json::parse(child.bytes, nullptr, false);
  status.error = head.value("error", "");
  status.nvrtc = head.value("nvrtc", "");
  status.nvjitlink = head.value("nvjitlink", "");
  return status;
}

}  // namespace pipelink
