/* The host provider ABI, version 1: how a component's host code fills the component's parameter region.
 *
 * A provider ships as a static library beside the package and is never compiled per composition. It is one C
 * function,
 *
 *     int pipelink_host_COMPONENT_v1(const struct pipelink_host_context_v1* context,
 *                                    const void* arguments, size_t arguments_size,
 *                                    void* region, size_t region_size,
 *                                    struct pipelink_host_result_v1* result);
 *
 * that reads facts, placement and grid from `context`, reads the caller's buffers from `arguments` (a type of
 * the component's public header) and writes `region` (the component's parameter struct, zeroed before the
 * call, aligned as the device pass recorded). It returns 0, or another number after it wrote a message to
 * `context->error`.
 *
 * `open` calls every provider twice:
 *   1. pass PIPELINK_HOST_MEASURE: the grid is the persistent default, `scratch` is 0. The provider fills
 * `result`.
 *   2. pass PIPELINK_HOST_FILL: grid and scratch are final. Only this pass's region reaches the device.
 * A provider may fill the region in both passes; it must not keep a pointer to anything it was given.
 *
 * Blocks: a provider that asks for a number of blocks gets that many or more, because the largest request of
 * all components is taken and rounded up to whole clusters. Surplus blocks of a component must find no work.
 * Without any request the grid is the persistent default: blocks_per_sm on every multiprocessor, in whole
 * clusters.
 *
 * C++ authors use <pipelink/provider.hpp>, which checks sizes and reads facts by name. */
#ifndef PIPELINK_HOST_PROVIDER_H
#define PIPELINK_HOST_PROVIDER_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define PIPELINK_HOST_ABI 1u

enum pipelink_host_pass { PIPELINK_HOST_MEASURE = 0, PIPELINK_HOST_FILL = 1 };

enum pipelink_fact_type {
  PIPELINK_FACT_INTEGER = 0,
  PIPELINK_FACT_BOOLEAN = 1, /* `value` is 0 or 1 */
  PIPELINK_FACT_REAL = 2,    /* `text` holds the shortest text that reads back exactly; `value` is 0 */
  PIPELINK_FACT_TEXT = 3     /* `text`; `value` is 0 */
};

/* A fact by the name under which the component knows it: its own, one that it imports, or a result of the
 * placement
 * (`RING.stages`). `text` is never null: integers and booleans have their decimal text
 * there. */
struct pipelink_host_fact_v1 {
  const char* name;
  uint32_t type;
  uint32_t reserved;
  int64_t value;
  const char* text;
};

struct pipelink_host_grid_v1 {
  uint32_t multiprocessors; /* of the device */
  uint32_t blocks;          /* of the launch */
  uint32_t threads;         /* per block */
  uint32_t cluster[3];
  uint32_t blocks_per_sm;
  uint32_t reserved;
};

/* cuTensorMapEncodeTiled of the driver; enumerations are passed as int. 0 is CUDA_SUCCESS. */
typedef int (*pipelink_tensor_map_encode_tiled)(void* tensor_map, int data_type, uint32_t rank,
                                                void* global_address, const uint64_t* global_dim,
                                                const uint64_t* global_strides, const uint32_t* box_dim,
                                                const uint32_t* element_strides, int interleave, int swizzle,
                                                int l2_promotion, int oob_fill);

struct pipelink_host_context_v1 {
  uint32_t abi;  /* PIPELINK_HOST_ABI of the caller */
  uint32_t size; /* sizeof of this struct as the caller knows it: later callers only add fields at the end */
  uint32_t pass; /* enum pipelink_host_pass */
  uint32_t reserved;
  const char* component;
  const char* instance; /* the component's name in this composition */
  const char* arch;     /* of the image that was chosen: "sm_90a" */
  const struct pipelink_host_fact_v1* facts;
  size_t fact_count;
  struct pipelink_host_grid_v1 grid;
  uint64_t scratch; /* device address; 0 in the measuring pass and when none was asked for */
  uint64_t scratch_size;
  pipelink_tensor_map_encode_tiled tensor_map_encode_tiled; /* null when the driver has none */
  char* error;                                              /* the message ends with 0 and fits error_size */
  size_t error_size;
};

struct pipelink_host_result_v1 {
  uint32_t size;          /* sizeof of this struct as the caller knows it */
  uint32_t blocks;        /* wanted; 0: the persistent default will do */
  uint64_t scratch_bytes; /* device memory that the caller must lend; aligned to 256 */
  uint32_t scratch_zero;  /* not 0: `open` fills it with zeros once, before the first launch */
  uint32_t reserved;
};

typedef int (*pipelink_host_function_v1)(const struct pipelink_host_context_v1* context,
                                         const void* arguments, size_t arguments_size, void* region,
                                         size_t region_size, struct pipelink_host_result_v1* result);

#ifdef __cplusplus
} /* extern "C" */

static_assert(sizeof(pipelink_host_fact_v1) == 32 && sizeof(pipelink_host_grid_v1) == 32 &&
                  sizeof(pipelink_host_context_v1) == 128 && sizeof(pipelink_host_result_v1) == 24,
              "the layout of version 1 is fixed");
#endif

#endif /* PIPELINK_HOST_PROVIDER_H */
