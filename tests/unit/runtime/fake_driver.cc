#include "fake_driver.h"

#include <cstdlib>
#include <cstring>

using pipelink::runtime_internal::LaunchConfig;

namespace {

FakeState state;
void* const kPrimary = &state;
constexpr int kNotFound = 500, kInvalidDevice = 101;

void* swap_current(void* context) {
  void* before = state.current;
  state.current = context;
  return before;
}
void* below[8];
int depth = 0;

}  // namespace

extern "C" {

FakeState* fake_state() {
  return &state;
}
int fake_launched() {
  return state.launched;
}
const unsigned char* fake_parameters() {
  return state.parameters;
}
void* fake_stream() {
  return state.config.stream;
}

int cuInit(unsigned) {
  if (const char* bytes = std::getenv("FAKE_PARAMETERS"))
    state.parameter_bytes = std::strtoul(bytes, nullptr, 10);
  if (const char* entry = std::getenv("FAKE_ENTRY")) std::strncpy(state.entry, entry, sizeof state.entry - 1);
  return state.init_status;
}
int cuGetErrorName(int status, const char** text) {
  *text = status == kNotFound ? "CUDA_ERROR_NOT_FOUND"
          : status == 209     ? "CUDA_ERROR_NO_BINARY_FOR_GPU"
                              : "CUDA_ERROR";
  return 0;
}
int cuGetErrorString(int, const char** text) {
  *text = "as the test wants";
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = state.device_count;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < state.device_count ? 0 : kInvalidDevice;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Fake GPU", static_cast<std::size_t>(size));
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  *value = attribute == 16   ? state.multiprocessors
           : attribute == 75 ? state.major
           : attribute == 76 ? state.minor
                             : -1;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  ++state.retained;
  *context = kPrimary;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  ++state.released;
  return 0;
}
int cuCtxGetCurrent(void** context) {
  *context = state.current;
  return 0;
}
int cuCtxPushCurrent_v2(void* context) {
  ++state.pushed;
  below[depth++] = swap_current(context);
  return 0;
}
int cuCtxPopCurrent_v2(void** context) {
  ++state.popped;
  *context = swap_current(below[--depth]);
  return 0;
}
int cuCtxGetDevice(int* device) {
  *device = 0;
  return 0;
}
int cuStreamSynchronize(void*) {
  ++state.synchronised;
  return 0;
}
int cuMemsetD8_v2(unsigned long long at, unsigned char, std::size_t bytes) {
  state.zeroed_at = at;
  state.zeroed_bytes = bytes;
  return 0;
}
int cuMemHostAlloc(void** memory, std::size_t bytes, unsigned flags) {
  if (!state.current || flags != 2 || bytes > sizeof state.pinned) return 1;
  ++state.pinned_taken;
  *memory = state.pinned;
  return 0;
}
int cuMemFreeHost(void* memory) {
  state.pinned_freed += memory == state.pinned;
  return state.current ? 0 : 201;
}
int cuMemHostGetDevicePointer_v2(unsigned long long* address, void* memory, unsigned) {
  *address = reinterpret_cast<std::uintptr_t>(memory) + 1;  // another address space
  return 0;
}
int cuModuleLoadData(void** module, const void* image) {
  if (state.load_status) return state.load_status;
  ++state.loaded;
  *module = const_cast<void*>(image);
  return state.current ? 0 : 201;
}
int cuModuleUnload(void*) {
  ++state.unloaded;
  return state.current ? 0 : 201;
}
int cuModuleGetFunction(void** function, void* module, const char* name) {
  *function = module;
  return std::strcmp(name, state.entry) == 0 ? 0 : kNotFound;
}
int cuFuncGetParamInfo(void*, std::size_t index, std::size_t* offset, std::size_t* size) {
  if (index || !state.parameter_bytes) return 1;
  *offset = 0;
  *size = state.parameter_bytes;
  return 0;
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, void*, int, std::size_t) {
  *blocks = state.blocks_fit;
  return 0;
}
int cuOccupancyMaxActiveClusters(int* clusters, void*, const LaunchConfig* config) {
  *clusters = config->attribute_count == 1 ? state.clusters_fit : -1;
  return 0;
}
int cuLaunchKernelEx(const LaunchConfig* config, void*, void** parameters, void** extra) {
  ++state.launched;
  if (!state.current || extra) return 201;
  state.config = *config;
  for (unsigned i = 0; i < config->attribute_count && i < 4; ++i) state.attributes[i] = config->attributes[i];
  state.had_parameters = parameters != nullptr;
  if (parameters) std::memcpy(state.parameters, parameters[0], state.parameter_bytes);
  return state.launch_status;
}
int cuTensorMapEncodeTiled(void* map, int type, std::uint32_t rank, void* address,
                           const std::uint64_t* extent, const std::uint64_t* stride, const std::uint32_t* box,
                           const std::uint32_t*, int, int swizzle, int, int) {
  auto* words = static_cast<unsigned long long*>(map);
  words[0] = reinterpret_cast<std::uintptr_t>(address);
  words[1] = extent[0];
  words[2] = rank > 1 ? stride[0] : 0;
  words[3] = box[0];
  words[4] = static_cast<unsigned long long>(type * 100 + swizzle);
  return state.encode_status;
}

}  // extern "C"
