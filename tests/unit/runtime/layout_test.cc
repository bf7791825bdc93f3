// The runtime's own declarations against the toolkit's header, where there is one.
#include <cuda.h>
#include <doctest/doctest.h>

#include <type_traits>

#include "pipelink/provider.hpp"
#include "pipelink/runtime.h"

using namespace pipelink;
using runtime_internal::LaunchAttribute;
using runtime_internal::LaunchConfig;

static_assert(sizeof(LaunchConfig) == sizeof(CUlaunchConfig) &&
              sizeof(LaunchAttribute) == sizeof(CUlaunchAttribute));
static_assert(offsetof(LaunchConfig, grid) == offsetof(CUlaunchConfig, gridDimX) &&
              offsetof(LaunchConfig, block) == offsetof(CUlaunchConfig, blockDimX) &&
              offsetof(LaunchConfig, shared_bytes) == offsetof(CUlaunchConfig, sharedMemBytes) &&
              offsetof(LaunchConfig, stream) == offsetof(CUlaunchConfig, hStream) &&
              offsetof(LaunchConfig, attributes) == offsetof(CUlaunchConfig, attrs) &&
              offsetof(LaunchConfig, attribute_count) == offsetof(CUlaunchConfig, numAttrs) &&
              offsetof(LaunchAttribute, value) == offsetof(CUlaunchAttribute, value));
static_assert(sizeof(LaunchAttribute::Value) == sizeof(CUlaunchAttributeValue));
static_assert(std::is_same_v<Stream, CUstream> && std::is_same_v<runtime_internal::Context, CUcontext>);
static_assert(sizeof(CUresult) == sizeof(runtime_internal::Status) && sizeof(CUdeviceptr) == 8);
static_assert(sizeof(TensorMap) == sizeof(CUtensorMap) && alignof(CUtensorMap) % alignof(TensorMap) == 0);

TEST_CASE("numbers of the driver's enumerations") {
  CHECK(runtime_internal::kAttributeMultiprocessors == CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  CHECK(runtime_internal::kAttributeMajor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  CHECK(runtime_internal::kAttributeMinor == CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  CHECK(runtime_internal::kLaunchClusterDimension == static_cast<int>(CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION));
  CHECK(runtime_internal::kHostAllocMapped == CU_MEMHOSTALLOC_DEVICEMAP);
  CHECK(static_cast<int>(Element::kBf16) == CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  CHECK(static_cast<int>(Element::kF16) == CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  CHECK(static_cast<int>(Element::kF32) == CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  CHECK(static_cast<int>(Element::kTf32Ftz) == CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ);
  CHECK(static_cast<int>(Swizzle::k128B) == CU_TENSOR_MAP_SWIZZLE_128B);
  CHECK(static_cast<int>(L2Promotion::k256B) == CU_TENSOR_MAP_L2_PROMOTION_L2_256B);
}
