// For authors of host providers (host_provider.h has the rules):
//
//     #include <pipelink/provider.hpp>
//     #include "my_loader/parameters.h"
//
//     PIPELINK_HOST_PROVIDER(my_loader, my_loader::Arguments, my_loader::Parameters) {
//       parameters.tiles = arguments.rows / host.fact<int>("tile_m");
//       parameters.map = host.tensor_map<pipelink::TensorMap>({.element = pipelink::Element::kBf16, …});
//       if (arguments.rows % host.fact("tile_m")) host.fail("rows must be a multiple of tile_m");
//     }
//
// defines the C symbol pipelink_host_my_loader_v1. The body sees `host`, `arguments` and `parameters`
// (zeroed; copied to the region when the body returns). It may throw: an exception becomes the message of the
// failed `open`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

#include "pipelink/host_provider.h"
#include "pipelink/tensor_map.h"

namespace pipelink {

/// Element types of a tensor map, with the driver's numbers.
enum class Element : int {
  kU8 = 0,
  kU16 = 1,
  kU32 = 2,
  kI32 = 3,
  kU64 = 4,
  kI64 = 5,
  kF16 = 6,
  kF32 = 7,
  kF64 = 8,
  kBf16 = 9,
  kF32Ftz = 10,
  kTf32 = 11,
  kTf32Ftz = 12
};

/// Shared-memory swizzles, with the driver's numbers. The value names the row width that is permuted.
enum class Swizzle : int { kNone = 0, k32B = 1, k64B = 2, k128B = 3 };
enum class L2Promotion : int { kNone = 0, k64B = 1, k128B = 2, k256B = 3 };

/// A tiled tensor in device memory, innermost dimension first.
struct TensorMapSpec {
  Element element = Element::kBf16;
  const void* address = nullptr;
  std::uint32_t rank = 2;
  std::uint64_t extent[5] = {};  ///< in elements
  std::uint64_t stride[4] = {};  ///< in bytes, of dimension 1, 2, …; all 0: packed
  std::uint32_t box[5] = {};     ///< in elements
  Swizzle swizzle = Swizzle::kNone;
  L2Promotion l2_promotion = L2Promotion::k128B;
  bool nan_fill = false;  ///< out-of-bounds elements read as NaN instead of 0
};

constexpr std::uint64_t element_bytes(Element e) {
  switch (e) {
    case Element::kU8:
      return 1;
    case Element::kU16:
    case Element::kF16:
    case Element::kBf16:
      return 2;
    case Element::kU64:
    case Element::kI64:
    case Element::kF64:
      return 8;
    default:
      return 4;
  }
}

/// What a provider is told, and what it asks for.
class ProviderHost {
 public:
  ProviderHost(const pipelink_host_context_v1& context, pipelink_host_result_v1& result)
      : context_(context), result_(result) {}

  /// An integer or boolean fact, by the name that the component gives it; also `RING.stages`.
  template <class T = std::int64_t>
  T fact(std::string_view name) const {
    static_assert(std::is_integral_v<T> || std::is_enum_v<T>, "real(…) and text(…) read the other types");
    const pipelink_host_fact_v1& f = find(name);
    if (f.type != PIPELINK_FACT_INTEGER && f.type != PIPELINK_FACT_BOOLEAN)
      fail("fact " + std::string(name) + " is " + f.text + ", not a number");
    const T value = static_cast<T>(f.value);
    if (static_cast<std::int64_t>(value) != f.value)
      fail("fact " + std::string(name) + " is " + f.text + ": too large for its C++ type");
    return value;
  }
  double real(std::string_view name) const {
    const pipelink_host_fact_v1& f = find(name);
    if (f.type == PIPELINK_FACT_TEXT) fail("fact " + std::string(name) + " is a text, not a number");
    return std::strtod(f.text, nullptr);
  }
  std::string_view text(std::string_view name) const { return find(name).text; }
  bool has_fact(std::string_view name) const { return search(name) != nullptr; }

  const pipelink_host_grid_v1& grid() const { return context_.grid; }
  std::string_view arch() const { return context_.arch; }
  std::string_view instance() const { return context_.instance; }
  /// The first of two calls: grid and scratch are not final, the parameters are thrown away.
  bool measuring() const { return context_.pass == PIPELINK_HOST_MEASURE; }

  /// The grid gets at least this many blocks; blocks above it must find no work.
  void request_blocks(std::uint64_t blocks) {
    if (blocks > 0x7fffffffu) fail("a grid has at most 2147483647 blocks, not " + std::to_string(blocks));
    result_.blocks = static_cast<std::uint32_t>(blocks);
  }
  /// Device memory lent by the caller, aligned to 256. Null while measuring. One call per provider.
  void* request_scratch(std::uint64_t bytes, bool zeroed = false) {
    result_.scratch_bytes = bytes;
    result_.scratch_zero = zeroed ? 1 : 0;
    if (!measuring() && context_.scratch_size < bytes) fail("asked for more scratch than when it measured");
    return reinterpret_cast<void*>(static_cast<std::uintptr_t>(context_.scratch));
  }

  /// Encodes a tensor map; `Map` is pipelink::TensorMap or CUtensorMap.
  template <class Map = TensorMap>
  Map tensor_map(const TensorMapSpec& spec) const {
    static_assert(sizeof(Map) == 128 && alignof(Map) >= 64 && std::is_trivially_copyable_v<Map>,
                  "not a tensor map");
    Map map{};
    encode(&map, spec);
    return map;
  }

  [[noreturn]] void fail(const std::string& message) const { throw std::runtime_error(message); }

 private:
  const pipelink_host_fact_v1* search(std::string_view name) const {
    for (std::size_t i = 0; i < context_.fact_count; ++i)
      if (context_.facts[i].name == name) return &context_.facts[i];
    return nullptr;
  }
  const pipelink_host_fact_v1& find(std::string_view name) const {
    if (const pipelink_host_fact_v1* f = search(name)) return *f;
    std::string known;
    for (std::size_t i = 0; i < context_.fact_count; ++i)
      known += (i ? ", " : "") + std::string(context_.facts[i].name);
    fail("no fact " + std::string(name) + "; there are: " + (known.empty() ? "none" : known));
  }
  void encode(void* map, const TensorMapSpec& spec) const {
    if (!context_.tensor_map_encode_tiled) fail("this CUDA driver cannot encode tensor maps");
    if (spec.rank < 1 || spec.rank > 5)
      fail("a tensor map has rank 1 to 5, not " + std::to_string(spec.rank));
    std::uint64_t stride[4] = {};
    std::uint64_t packed = element_bytes(spec.element);
    for (std::uint32_t d = 0; d + 1 < spec.rank; ++d) {
      packed *= spec.extent[d];
      stride[d] = spec.stride[d] ? spec.stride[d] : packed;
      packed = stride[d];
    }
    constexpr std::uint32_t ones[5] = {1, 1, 1, 1, 1};
    const int status = context_.tensor_map_encode_tiled(
        map, static_cast<int>(spec.element), spec.rank, const_cast<void*>(spec.address), spec.extent, stride,
        spec.box, ones, 0, static_cast<int>(spec.swizzle), static_cast<int>(spec.l2_promotion),
        spec.nan_fill ? 1 : 0);
    if (status == 0) return;
    std::string text = "the driver refuses a tensor map (status " + std::to_string(status) + "): extents";
    for (std::uint32_t d = 0; d < spec.rank; ++d) text += " " + std::to_string(spec.extent[d]);
    text += ", strides";
    for (std::uint32_t d = 0; d + 1 < spec.rank; ++d) text += " " + std::to_string(stride[d]);
    text += ", box";
    for (std::uint32_t d = 0; d < spec.rank; ++d) text += " " + std::to_string(spec.box[d]);
    text += ", element bytes " + std::to_string(element_bytes(spec.element)) + ", address modulo 128 " +
            std::to_string(reinterpret_cast<std::uintptr_t>(spec.address) % 128);
    fail(text);
  }

  const pipelink_host_context_v1& context_;
  pipelink_host_result_v1& result_;
};

namespace provider_internal {

inline int refuse(const pipelink_host_context_v1* context, const std::string& message) {
  if (context && context->error && context->error_size)
    std::snprintf(context->error, context->error_size, "%s", message.c_str());
  return 1;
}

template <class Arguments, class Parameters>
int run(const pipelink_host_context_v1* context, const void* arguments, std::size_t arguments_size,
        void* region, std::size_t region_size, pipelink_host_result_v1* result,
        void (*body)(ProviderHost&, const Arguments&, Parameters&)) noexcept {
  static_assert(std::is_trivially_copyable_v<Arguments>, "arguments are passed as bytes");
  static_assert(std::is_trivially_copyable_v<Parameters>, "parameters are copied to the device as bytes");
  try {
    if (!context || context->abi != PIPELINK_HOST_ABI || context->size < sizeof(pipelink_host_context_v1) ||
        !result || result->size < sizeof(pipelink_host_result_v1))
      return 2;  // an older caller: nothing of the context can be trusted, the error buffer included
    if (!arguments || arguments_size != sizeof(Arguments))
      return refuse(context, "the caller's arguments have " + std::to_string(arguments_size) +
                                 " bytes, the host provider was compiled for " +
                                 std::to_string(sizeof(Arguments)));
    if (!region || region_size != sizeof(Parameters))
      return refuse(context, "the device pass recorded a parameter region of " + std::to_string(region_size) +
                                 " bytes, the host provider was compiled for " +
                                 std::to_string(sizeof(Parameters)));
    Arguments lent;
    std::memcpy(&lent, arguments, sizeof lent);
    Parameters parameters{};
    ProviderHost host(*context, *result);
    body(host, lent, parameters);
    std::memcpy(region, &parameters, sizeof parameters);
    return 0;
  } catch (const std::exception& e) {
    return refuse(context, e.what());
  } catch (...) {
    return refuse(context, "the host provider threw something that is no std::exception");
  }
}

}  // namespace provider_internal
}  // namespace pipelink

#define PIPELINK_HOST_PROVIDER(component, ArgumentsType, ParametersType)                                     \
  static void pipelink_host_body_##component(::pipelink::ProviderHost& host, const ArgumentsType& arguments, \
                                             ParametersType& parameters);                                    \
  extern "C" int pipelink_host_##component##_v1(const pipelink_host_context_v1* context,                     \
                                                const void* arguments, size_t arguments_size, void* region,  \
                                                size_t region_size, pipelink_host_result_v1* result) {       \
    return ::pipelink::provider_internal::run<ArgumentsType, ParametersType>(                                \
        context, arguments, arguments_size, region, region_size, result, &pipelink_host_body_##component);   \
  }                                                                                                          \
  static void pipelink_host_body_##component([[maybe_unused]] ::pipelink::ProviderHost& host,                \
                                             [[maybe_unused]] const ArgumentsType& arguments,                \
                                             [[maybe_unused]] ParametersType& parameters)
