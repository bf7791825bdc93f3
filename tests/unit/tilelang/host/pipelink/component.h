// In place of the authoring header: what a lowered component states, for a test that calls its functions on
// the host, one thread of a warpgroup after the other. Barriers do nothing.
#pragma once

#include <cstdint>

#include "pipelink/records.h"
#include "pipelink/self.h"

inline struct { unsigned x; } threadIdx;

#define PIPELINK_PARAMETERS(TYPE, HEADER, ...)    \
  inline TYPE parameters_of_test{};               \
  inline const TYPE& parameters(pipelink::Self) { \
    return parameters_of_test;                    \
  }
#define PIPELINK_HOST(...) static_assert(true)
#define PIPELINK_FACT(NAME, TYPE, VALUE) inline constexpr TYPE NAME = VALUE
#define PIPELINK_USE_FACT(NAME, TYPE) \
  inline TYPE NAME##_of_test{};       \
  inline TYPE NAME(pipelink::Self) {  \
    return NAME##_of_test;            \
  }
#define PIPELINK_REQUIRE(...) static_assert(true)
#define PIPELINK_STEPS(...) static_assert(true)
#define PIPELINK_BUFFER(NAME, ...)                                                                        \
  inline constexpr pipelink::detail::BufferOptions NAME##_claim{__VA_ARGS__};                             \
  inline struct {                                                                                         \
    alignas(NAME##_claim.align) unsigned char bytes[static_cast<std::size_t>(NAME##_claim.bytes.number)]; \
    unsigned char* data(pipelink::Self) { return bytes; }                                                 \
  } NAME
#define PIPELINK_NAMED_BARRIER(NAME, ...) \
  inline struct {                         \
    void sync(pipelink::Self) {}          \
  } NAME
#define PIPELINK_IMPORT_TENSOR(NAME, ...)                        \
  inline constexpr pipelink::detail::TensorOptions NAME##_port { \
    __VA_ARGS__                                                  \
  }
#define PIPELINK_EXPORT(NAME, RESULT, ...) inline RESULT NAME(__VA_ARGS__)
