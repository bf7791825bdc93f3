// The GPU and context that a kernel is loaded for, and which image fits it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pipelink/driver.h"
#include "pipelink/launch_description.h"

namespace pipelink {

/// A device with a context to work in: the calling thread's current context if there is one (so that PyTorch
/// and the CUDA runtime share memory and streams with it), else the device's primary context, which the
/// runtime retains.
struct Device {
  int ordinal = 0;
  int major = 0, minor = 0;
  int multiprocessors = 0;
  std::string name;
  runtime_internal::Context context = nullptr;
  bool retained = false;

  std::string arch() const { return "sm_" + std::to_string(major) + std::to_string(minor); }
};

namespace runtime_internal {

/// Makes `context` current for a scope, unless it is.
class CurrentContext {
 public:
  CurrentContext(const Driver& driver, Context context) : driver_(driver) {
    Context current = nullptr;
    status_ = driver_.context_get(&current);
    if (status_ == 0 && current != context) {
      status_ = driver_.context_push(context);
      pushed_ = status_ == 0;
    }
  }
  ~CurrentContext() {
    Context popped = nullptr;
    if (pushed_) driver_.context_pop(&popped);
  }
  CurrentContext(const CurrentContext&) = delete;
  CurrentContext& operator=(const CurrentContext&) = delete;
  Status status() const { return status_; }

 private:
  const Driver& driver_;
  Status status_ = 0;
  bool pushed_ = false;
};

/// `wanted` < 0: the current context's device, or device 0.
inline Result<Device> open_device(const Driver& driver, int wanted) {
  int count = 0;
  if (const Status s = driver.device_get_count(&count); s != 0)
    return driver.error(ErrorCode::kNoDevice, "no usable GPU", s);
  if (count == 0) return Error{ErrorCode::kNoDevice, "no GPU: the CUDA driver lists no device"};
  if (wanted >= count)
    return Error{ErrorCode::kNoDevice, "no GPU " + std::to_string(wanted) + ": the CUDA driver lists " +
                                           std::to_string(count) + (count == 1 ? " device" : " devices")};
  Device device;
  Status status = driver.context_get(&device.context);
  DeviceOrdinal handle = 0;
  if (status == 0 && device.context) {
    status = driver.context_device(&handle);
    DeviceOrdinal asked = handle;
    if (status == 0 && wanted >= 0) status = driver.device_get(&asked, wanted);
    if (asked != handle) {
      device.context = nullptr;
      handle = asked;
    }
  } else if (status == 0) {
    status = driver.device_get(&handle, wanted < 0 ? 0 : wanted);
  }
  if (status != 0) return driver.error(ErrorCode::kNoDevice, "cannot use the GPU", status);
  device.ordinal = handle;
  char name[128] = {};
  if (driver.device_get_name(name, sizeof name - 1, handle) == 0) device.name = name;
  status = driver.device_get_attribute(&device.major, kAttributeMajor, handle);
  if (status == 0) status = driver.device_get_attribute(&device.minor, kAttributeMinor, handle);
  if (status == 0)
    status = driver.device_get_attribute(&device.multiprocessors, kAttributeMultiprocessors, handle);
  if (status == 0 && !device.context) {
    status = driver.primary_retain(&device.context, handle);
    device.retained = status == 0;
  }
  if (status != 0) return driver.error(ErrorCode::kNoDevice, "cannot use GPU " + device.name, status);
  return device;
}

/// How well code for `arch` ("sm_90a") suits a device of compute capability major.minor; 0: it does not run
/// there. `a`: this capability alone. `f`: this one and later minors of its major. Plain: the same.
inline int arch_fit(std::string_view arch, int major, int minor) {
  if (arch.substr(0, 3) != "sm_") return 0;
  std::string_view digits = arch.substr(3);
  const char suffix = digits.empty() ? '?' : digits.back();
  if (suffix == 'a' || suffix == 'f') digits.remove_suffix(1);
  int number = 0;
  if (digits.size() < 2 || digits.size() > 4 || !parse_number(digits, number)) return 0;
  if (number / 10 != major || number % 10 > minor) return 0;
  const bool exact = number % 10 == minor;
  if (suffix == 'a') return exact ? 1000 : 0;
  return 10 * (number % 10) + (exact ? 500 : 100) + (suffix == 'f' ? 1 : 0);
}

/// The index of the image that suits the device best, or an error that lists what is there.
inline Result<std::size_t> choose_arch(const std::vector<std::string_view>& archs,
                                       std::string_view composition, const Device& device) {
  std::size_t best = 0;
  int best_fit = 0;
  std::string there;
  for (std::size_t i = 0; i < archs.size(); ++i) {
    const int fit = arch_fit(archs[i], device.major, device.minor);
    if (fit > best_fit) {
      best_fit = fit;
      best = i;
    }
    there += (there.empty() ? "" : ", ") + std::string(archs[i]);
  }
  if (best_fit > 0) return best;
  return Error{ErrorCode::kNoImage, "no image of " + std::string(composition) + " runs on " + device.arch() +
                                        " (" + device.name + "): it was built for " +
                                        (there.empty() ? "nothing" : there)};
}

}  // namespace runtime_internal
}  // namespace pipelink
