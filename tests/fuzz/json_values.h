// What the JSON fuzz targets put into values, and how they read their inputs.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>

namespace pipelink::fuzz {

inline constexpr std::int64_t kNumbers[] = {
    0,     1,          2,         3,         7,         8,         16,        24,  31,   32,   33,
    64,    127,        128,       240,       248,       255,       256,       512, 1024, 4096, 65535,
    65536, 227 * 1024, 1LL << 31, 1LL << 32, 1LL << 53, INT64_MAX, INT64_MIN, -1,  -8};
inline constexpr const char* kTexts[] = {"",
                                         "a",
                                         "tile",
                                         "tile*2",
                                         "1/0",
                                         "stages",
                                         "operands.stages",
                                         "((((",
                                         "1 ? 2 : 3",
                                         "int",
                                         "float4",
                                         "registers",
                                         "shared",
                                         "warp",
                                         "block",
                                         "f32",
                                         "(4,8):(8,1)",
                                         "((4,8,4),(2,2)):((32,1,8),(16,8))",
                                         "sm_90a",
                                         "sm_100a",
                                         "x.y",
                                         "\n",
                                         "\xff",
                                         "main",
                                         "9223372036854775807",
                                         "-9223372036854775808*-1",
                                         "9223372036854775807+1",
                                         "run",
                                         "full",
                                         "bool",
                                         "void",
                                         "wait operands; release operands",
                                         "(acquire operands?; arrive operands)*x2",
                                         "tile_m <= 0 || stages > 2",
                                         "system"};

/// JSON is written and freed by recursion.
inline bool too_deep(const char* text, std::size_t size) {
  int depth = 0, deepest = 0;
  for (std::size_t i = 0; i < size; ++i) {
    depth += text[i] == '[' || text[i] == '{' ? 1 : text[i] == ']' || text[i] == '}' ? -1 : 0;
    deepest = std::max(deepest, depth);
  }
  return deepest > 200;
}

/// What an input says; discarded if it is no JSON, null if it is too deep to be worth while.
inline nlohmann::json parsed(const std::uint8_t* data, std::size_t size) {
  const char* text = reinterpret_cast<const char*>(data);
  return too_deep(text, size) ? nlohmann::json() : nlohmann::json::parse(text, text + size, nullptr, false);
}

}  // namespace pipelink::fuzz
