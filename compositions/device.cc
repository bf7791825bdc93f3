#include "device.h"

#include <dlfcn.h>

#include <stdexcept>

namespace runner {

namespace {

/// The driver's functions that the runner uses, by the names under which the library has them.
struct Driver {
  int (*cuInit)(unsigned);
  int (*cuGetErrorString)(int, const char**);
  int (*cuDeviceGet)(int*, int);
  int (*cuDeviceGetName)(char*, int, int);
  int (*cuDevicePrimaryCtxRetain)(void**, int);
  int (*cuDevicePrimaryCtxRelease_v2)(int);
  int (*cuCtxSetCurrent)(void*);
  int (*cuCtxSynchronize)();
  int (*cuModuleLoadData)(void**, const void*);
  int (*cuModuleGetFunction)(void**, void*, const char*);
  int (*cuModuleUnload)(void*);
  int (*cuMemAlloc_v2)(std::uint64_t*, std::size_t);
  int (*cuMemFree_v2)(std::uint64_t);
  int (*cuMemsetD8_v2)(std::uint64_t, unsigned char, std::size_t);
  int (*cuMemcpyDtoH_v2)(void*, std::uint64_t, std::size_t);
  int (*cuMemcpyHtoD_v2)(std::uint64_t, const void*, std::size_t);
  int (*cuLaunchKernel)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void*,
                        void**, void**);
};

Driver load_driver() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  if (!library) throw std::runtime_error("there is no CUDA driver here (libcuda.so.1)");
  Driver driver{};
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(library, name));
    if (!function) throw std::runtime_error(std::string("the CUDA driver has no ") + name);
  };
#define FIND(name) find(driver.name, #name)
  FIND(cuInit);
  FIND(cuGetErrorString);
  FIND(cuDeviceGet);
  FIND(cuDeviceGetName);
  FIND(cuDevicePrimaryCtxRetain);
  FIND(cuDevicePrimaryCtxRelease_v2);
  FIND(cuCtxSetCurrent);
  FIND(cuCtxSynchronize);
  FIND(cuModuleLoadData);
  FIND(cuModuleGetFunction);
  FIND(cuModuleUnload);
  FIND(cuMemAlloc_v2);
  FIND(cuMemFree_v2);
  FIND(cuMemsetD8_v2);
  FIND(cuMemcpyDtoH_v2);
  FIND(cuMemcpyHtoD_v2);
  FIND(cuLaunchKernel);
#undef FIND
  return driver;
}

}  // namespace

struct Device::State {
  Driver driver = load_driver();
  int device = 0;
  void* context = nullptr;
  void* module = nullptr;
  std::vector<std::uint64_t> allocations;

  void check(int status, const char* what) const {
    if (status == 0) return;
    const char* text = nullptr;
    if (driver.cuGetErrorString(status, &text) != 0 || !text) text = "unknown error";
    throw std::runtime_error(std::string(what) + ": " + text + " (" + std::to_string(status) + ")");
  }
};

Device::Device(const void* image) : state_(std::make_unique<State>()) {
  State& s = *state_;
  s.check(s.driver.cuInit(0), "no usable GPU");
  s.check(s.driver.cuDeviceGet(&s.device, 0), "no usable GPU");
  s.check(s.driver.cuDevicePrimaryCtxRetain(&s.context, s.device), "cannot use the GPU");
  s.check(s.driver.cuCtxSetCurrent(s.context), "cannot use the GPU");
  if (image) s.check(s.driver.cuModuleLoadData(&s.module, image), "cannot load the kernels");
}

Device::~Device() {
  State& s = *state_;
  for (const std::uint64_t a : s.allocations) s.driver.cuMemFree_v2(a);
  if (s.module) s.driver.cuModuleUnload(s.module);
  s.driver.cuDevicePrimaryCtxRelease_v2(s.device);
}

std::string Device::name() const {
  char text[256] = {};
  state_->check(state_->driver.cuDeviceGetName(text, sizeof text, state_->device), "cannot name the GPU");
  return text;
}

std::uint64_t Device::allocate(std::size_t bytes) {
  std::uint64_t address = 0;
  state_->check(state_->driver.cuMemAlloc_v2(&address, bytes), "cannot allocate");
  state_->allocations.push_back(address);
  return address;
}

void Device::set(std::uint64_t to, unsigned char value, std::size_t bytes) {
  state_->check(state_->driver.cuMemsetD8_v2(to, value, bytes), "cannot fill memory");
}

void Device::read(void* to, std::uint64_t from, std::size_t bytes) {
  state_->check(state_->driver.cuMemcpyDtoH_v2(to, from, bytes), "cannot read memory");
}

void Device::write(std::uint64_t to, const void* from, std::size_t bytes) {
  state_->check(state_->driver.cuMemcpyHtoD_v2(to, from, bytes), "cannot write memory");
}

void Device::synchronize() {
  state_->check(state_->driver.cuCtxSynchronize(), "a kernel failed");
}

void Device::launch(const char* kernel, unsigned grid_x, unsigned grid_y, unsigned threads,
                    void** arguments) {
  void* function = nullptr;
  state_->check(state_->driver.cuModuleGetFunction(&function, state_->module, kernel), kernel);
  state_->check(state_->driver.cuLaunchKernel(function, grid_x, grid_y, 1, threads, 1, 1, 0, nullptr,
                                              arguments, nullptr),
                kernel);
}

}  // namespace runner
