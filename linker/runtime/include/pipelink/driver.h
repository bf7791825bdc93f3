// The part of the CUDA driver API that the runtime uses, declared here so that no toolkit header is needed,
// and loaded from the driver's library when it is first wanted. tests/unit/runtime holds the layouts to
// <cuda.h>.
#pragma once

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "pipelink/host_provider.h"
#include "pipelink/result.h"

struct CUstream_st;
struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;

namespace pipelink {

/// What a launch goes to: a CUstream or a cudaStream_t. Null is the legacy default stream.
using Stream = CUstream_st*;

namespace runtime_internal {

using Status = int;  // CUresult
using DeviceOrdinal = int;
using Context = CUctx_st*;
using Module = CUmod_st*;
using Function = CUfunc_st*;
using DevicePointer = std::uint64_t;

inline constexpr Status kInvalidContext = 201;
inline constexpr int kAttributeMultiprocessors = 16;
inline constexpr int kAttributeMajor = 75;
inline constexpr int kAttributeMinor = 76;
inline constexpr int kLaunchClusterDimension = 4;
inline constexpr unsigned kHostAllocMapped = 2;

struct LaunchAttribute {  // CUlaunchAttribute
  int id;
  char pad[4];
  union Value {
    char bytes[64];
    struct {
      unsigned x, y, z;
    } cluster;
  } value;
};
static_assert(sizeof(LaunchAttribute) == 72 && offsetof(LaunchAttribute, value) == 8);

struct LaunchConfig {  // CUlaunchConfig
  unsigned grid[3];
  unsigned block[3];
  unsigned shared_bytes;
  Stream stream;
  LaunchAttribute* attributes;
  unsigned attribute_count;
};
static_assert(sizeof(LaunchConfig) == 56 && offsetof(LaunchConfig, stream) == 32);

/// name, symbol in the driver's library, signature. The functions marked optional are newer than CUDA 12.0.
#define PIPELINK_DRIVER_FUNCTIONS(REQUIRED, OPTIONAL)                                                 \
  REQUIRED(init, "cuInit", Status (*)(unsigned))                                                      \
  REQUIRED(get_error_name, "cuGetErrorName", Status (*)(Status, const char**))                        \
  REQUIRED(get_error_string, "cuGetErrorString", Status (*)(Status, const char**))                    \
  REQUIRED(device_get_count, "cuDeviceGetCount", Status (*)(int*))                                    \
  REQUIRED(device_get, "cuDeviceGet", Status (*)(DeviceOrdinal*, int))                                \
  REQUIRED(device_get_name, "cuDeviceGetName", Status (*)(char*, int, DeviceOrdinal))                 \
  REQUIRED(device_get_attribute, "cuDeviceGetAttribute", Status (*)(int*, int, DeviceOrdinal))        \
  REQUIRED(primary_retain, "cuDevicePrimaryCtxRetain", Status (*)(Context*, DeviceOrdinal))           \
  REQUIRED(primary_release, "cuDevicePrimaryCtxRelease_v2", Status (*)(DeviceOrdinal))                \
  REQUIRED(context_get, "cuCtxGetCurrent", Status (*)(Context*))                                      \
  REQUIRED(context_push, "cuCtxPushCurrent_v2", Status (*)(Context))                                  \
  REQUIRED(context_pop, "cuCtxPopCurrent_v2", Status (*)(Context*))                                   \
  REQUIRED(context_device, "cuCtxGetDevice", Status (*)(DeviceOrdinal*))                              \
  REQUIRED(stream_synchronize, "cuStreamSynchronize", Status (*)(Stream))                             \
  REQUIRED(host_alloc, "cuMemHostAlloc", Status (*)(void**, std::size_t, unsigned))                   \
  REQUIRED(host_free, "cuMemFreeHost", Status (*)(void*))                                             \
  REQUIRED(host_address, "cuMemHostGetDevicePointer_v2", Status (*)(DevicePointer*, void*, unsigned)) \
  REQUIRED(memset8, "cuMemsetD8_v2", Status (*)(DevicePointer, unsigned char, std::size_t))           \
  REQUIRED(module_load, "cuModuleLoadData", Status (*)(Module*, const void*))                         \
  REQUIRED(module_unload, "cuModuleUnload", Status (*)(Module))                                       \
  REQUIRED(module_function, "cuModuleGetFunction", Status (*)(Function*, Module, const char*))        \
  REQUIRED(occupancy_blocks, "cuOccupancyMaxActiveBlocksPerMultiprocessor",                           \
           Status (*)(int*, Function, int, std::size_t))                                              \
  REQUIRED(occupancy_clusters, "cuOccupancyMaxActiveClusters",                                        \
           Status (*)(int*, Function, const LaunchConfig*))                                           \
  REQUIRED(launch, "cuLaunchKernelEx", Status (*)(const LaunchConfig*, Function, void**, void**))     \
  OPTIONAL(tensor_map_encode_tiled, "cuTensorMapEncodeTiled", pipelink_tensor_map_encode_tiled)       \
  OPTIONAL(parameter_info, "cuFuncGetParamInfo",                                                      \
           Status (*)(Function, std::size_t, std::size_t*, std::size_t*))

/// A table, so that tests can put their own functions in.
struct Driver {
#define PIPELINK_DECLARE(name, symbol, ...) std::type_identity_t<__VA_ARGS__> name = nullptr;
  PIPELINK_DRIVER_FUNCTIONS(PIPELINK_DECLARE, PIPELINK_DECLARE)
#undef PIPELINK_DECLARE

  std::string describe(Status status) const {
    const char* name = nullptr;
    const char* text = nullptr;
    if (get_error_name(status, &name) != 0 || !name) return "driver error " + std::to_string(status);
    std::string out = name;
    if (get_error_string(status, &text) == 0 && text) out += std::string(" (") + text + ")";
    return out;
  }

  Error error(ErrorCode code, const std::string& what, Status status) const {
    return Error{code, what + ": " + describe(status), status};
  }
};

inline Result<Driver> load_driver(const char* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    const char* why = dlerror();
    return Error{ErrorCode::kDriverMissing, std::string("no CUDA driver: ") + (why ? why : library)};
  }
  Driver driver;
  std::string missing;
#define PIPELINK_LOAD(name, symbol, ...)                                        \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(handle, symbol)); \
  if (!driver.name) missing += std::string(missing.empty() ? "" : ", ") + symbol;
#define PIPELINK_LOAD_OPTIONAL(name, symbol, ...) \
  driver.name = reinterpret_cast<decltype(driver.name)>(dlsym(handle, symbol));
  PIPELINK_DRIVER_FUNCTIONS(PIPELINK_LOAD, PIPELINK_LOAD_OPTIONAL)
#undef PIPELINK_LOAD
#undef PIPELINK_LOAD_OPTIONAL
  if (!missing.empty())
    return Error{ErrorCode::kDriverTooOld,
                 std::string("the CUDA driver is older than 12.0: ") + library + " has no " + missing};
  return driver;  // the library stays loaded: functions of it are in use until the process ends
}

/// The machine's driver, loaded once and initialised once. Thread-safe.
inline Result<const Driver*> machine_driver() {
  static const Result<Driver> driver = [] {
    Result<Driver> loaded = load_driver("libcuda.so.1");
    if (!loaded) return loaded;
    if (const Status status = loaded->init(0); status != 0)
      return Result<Driver>(loaded->error(ErrorCode::kNoDevice, "no usable GPU", status));
    return loaded;
  }();
  if (!driver) return driver.error();
  return &*driver;
}

}  // namespace runtime_internal
}  // namespace pipelink
