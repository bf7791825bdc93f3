// Brings the C entry points of <pipelink/c_api.h> and the host providers into the shared library.
#include <pipelink/gemm_swiglu.h>

extern "C" __attribute__((visibility("default"))) int gemm_swiglu_load_file(const char* cubin,
                                                                            const char* launch,
                                                                            pipelink_kernel** kernel) {
  static const pipelink_provider providers[] = {{"pipelink_host_tma_loader_v1", &pipelink_host_tma_loader_v1},
                                                {"pipelink_host_swiglu_v1", &pipelink_host_swiglu_v1}};
  return pipelink_load_file(cubin, launch, providers, 2, -1, kernel);
}

// Referenced, so that the linker keeps them.
extern "C" __attribute__((visibility("default"), used)) const void* const gemm_swiglu_entry_points[] = {
    reinterpret_cast<const void*>(&pipelink_open), reinterpret_cast<const void*>(&pipelink_launch),
    reinterpret_cast<const void*>(&pipelink_close_session),
    reinterpret_cast<const void*>(&pipelink_close_kernel),
    reinterpret_cast<const void*>(&pipelink_last_error)};
