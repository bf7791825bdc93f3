// A value, or an error that says what to do. No exceptions cross PipeLink's host API.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace pipelink {

enum class ErrorCode : int {
  kDriverMissing = 1,   ///< no libcuda.so.1 here
  kDriverTooOld = 2,    ///< an entry point is missing
  kNoDevice = 3,        ///< no GPU, or none that can be used
  kNoImage = 4,         ///< no image for this GPU
  kBadImage = 5,        ///< image and launch description disagree, or the driver refuses the image
  kBadDescription = 6,  ///< the launch description cannot be read
  kBadArgument = 7,     ///< what the caller passed does not fit the composition
  kProvider = 8,        ///< a component's host provider refused
  kScratch = 9,         ///< less device memory lent than the components ask for
  kLaunch = 10,         ///< the driver refused the launch
  kFile = 11,           ///< a file cannot be read
  kGuard = 12,          ///< a guarded kernel found a fault in an earlier launch
};

struct Error {
  ErrorCode code = ErrorCode::kBadArgument;
  std::string message;  ///< one line, lower case, no final period
  int driver = 0;       ///< the driver's own status, 0 if it was not asked
};

template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}      // NOLINT(google-explicit-constructor)
  Result(Error error) : error_(std::move(error)) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return value_.has_value(); }
  bool ok() const { return value_.has_value(); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  const Error& error() const { return error_; }

 private:
  std::optional<T> value_;
  Error error_;
};

/// Success without a value.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)), failed_(true) {}  // NOLINT(google-explicit-constructor)

  explicit operator bool() const { return !failed_; }
  bool ok() const { return !failed_; }
  const Error& error() const { return error_; }

 private:
  Error error_;
  bool failed_ = false;
};

}  // namespace pipelink
