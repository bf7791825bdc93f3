// What a pass returns: a value, or at least one error. Notes and warnings may come with a value.
#pragma once

#include <optional>
#include <utility>

#include "packager/base/diagnostic.h"

namespace pipelink {

template <class T>
struct Outcome {
  std::optional<T> value;
  Diagnostics diagnostics;

  Outcome() = default;
  Outcome(T v) : value(std::move(v)) {}                  // NOLINT(google-explicit-constructor)
  Outcome(Diagnostic d) : diagnostics{std::move(d)} {}   // NOLINT(google-explicit-constructor)
  Outcome(Diagnostics d) : diagnostics(std::move(d)) {}  // NOLINT(google-explicit-constructor)
  Outcome(T v, Diagnostics d) : value(std::move(v)), diagnostics(std::move(d)) {}

  explicit operator bool() const { return value.has_value() && !has_error(diagnostics); }
  T& operator*() { return *value; }
  const T& operator*() const { return *value; }
  T* operator->() { return &*value; }
  const T* operator->() const { return &*value; }
};

}  // namespace pipelink
