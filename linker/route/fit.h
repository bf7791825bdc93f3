// Tables over the thread's number → short expressions.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "linker/route/transfer.h"

namespace pipelink::transfer {

/// In a table: this thread may get any number.
inline constexpr std::int32_t kAny = std::numeric_limits<std::int32_t>::min();

/// constant ^ basis[i] for each set bit i of the argument: an affine function over GF(2).
struct Affine {
  std::int32_t constant = 0;
  std::vector<std::int32_t> basis;
  std::int32_t operator()(std::uint32_t argument) const;
  bool operator==(const Affine&) const = default;
};

/// An affine function with these numbers at 0, 1, …; kAny is free. nullopt if there is none.
std::optional<Affine> fit_affine(std::span<const std::int32_t> numbers);

/// The shortest form that gives each thread its number.
ThreadValue fit_value(std::span<const std::int32_t> numbers);

/// The shortest form that is true for threads with 1, false for those with 0; others are free.
ThreadCondition fit_condition(std::span<const std::int8_t> wanted);

}  // namespace pipelink::transfer
