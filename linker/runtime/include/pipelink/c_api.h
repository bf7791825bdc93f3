/* PipeLink for C and for languages that call C. <pipelink/runtime.h> has the same for C++.
 *
 * Functions that return int give 0, or an error code (ErrorCode of result.h); pipelink_last_error() then says
 * why, for the calling thread. Handles may be used from several threads; each is closed once.
 *
 * The library of every composition defines these functions (weakly: several compositions in one program share
 * them). */
#ifndef PIPELINK_C_API_H
#define PIPELINK_C_API_H

#include <stddef.h>
#include <stdint.h>

#include "pipelink/host_provider.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct pipelink_kernel pipelink_kernel;
typedef struct pipelink_session pipelink_session;

/* A cubin in memory with its launch description (NAME.ARCH.launch), which ends with 0. */
typedef struct pipelink_image {
  const char* arch;
  const void* data;
  size_t size;
  const char* launch;
} pipelink_image;

typedef struct pipelink_provider {
  const char* symbol;
  pipelink_host_function_v1 function;
} pipelink_provider;

/* A field of an arguments struct. `kind` says what the caller writes there: "pointer" (to device memory,
 * unless the component says otherwise), "signed", "unsigned", "real", "boolean", or "bytes" for what only the
 * C++ header describes. */
typedef struct pipelink_field {
  const char* name;
  const char* kind;
  size_t offset;
  size_t size;
} pipelink_field;

/* What one instance takes: the struct `type` of the component's public header, as the device pass laid it
 * out. `size` is 0 and there are no fields where the component's author listed none. */
typedef struct pipelink_arguments_layout {
  const char* instance;
  const char* component;
  const char* type;
  size_t size;
  size_t align;
  const pipelink_field* fields;
  size_t field_count;
} pipelink_arguments_layout;

/* `data` is the arguments struct of the instance's component: its host provider's, or its parameters. */
typedef struct pipelink_argument {
  const char* instance;
  const void* data;
  size_t size;
} pipelink_argument;

/* Uses the current context, else the primary context of `device` (below 0: device 0). Providers that are not
 * listed are looked for among the process's dynamic symbols. */
int pipelink_load(const pipelink_image* images, size_t image_count, const pipelink_provider* providers,
                  size_t provider_count, int device, pipelink_kernel** kernel);
int pipelink_load_file(const char* cubin_path, const char* launch_path, const pipelink_provider* providers,
                       size_t provider_count, int device, pipelink_kernel** kernel);
void pipelink_close_kernel(pipelink_kernel* kernel); /* sessions stay valid; null is fine */

const char* pipelink_kernel_arch(const pipelink_kernel* kernel); /* of the chosen image: "sm_90a" */
int pipelink_kernel_device(const pipelink_kernel* kernel);       /* the GPU's number; -1 for null */
/* The instances that take arguments, in the order of their names. */
size_t pipelink_arguments_count(const pipelink_kernel* kernel);
/* What `layout` gets lives as long as the kernel. */
int pipelink_arguments(const pipelink_kernel* kernel, size_t index, pipelink_arguments_layout* layout);

/* Device memory that pipelink_open wants lent for these arguments. */
int pipelink_scratch_bytes(const pipelink_kernel* kernel, const pipelink_argument* arguments,
                           size_t argument_count, size_t* bytes);
int pipelink_open(const pipelink_kernel* kernel, const pipelink_argument* arguments, size_t argument_count,
                  uint64_t scratch, size_t scratch_size, pipelink_session** session);
/* The caller fills the whole parameter block; no provider is called. `blocks` 0: the persistent default. */
int pipelink_open_raw(const pipelink_kernel* kernel, const void* parameters, size_t size, uint32_t blocks,
                      pipelink_session** session);
/* `stream` is a CUstream or cudaStream_t. Allocates nothing, never synchronises, can be captured in a graph.
 */
int pipelink_launch(const pipelink_session* session, void* stream);
uint32_t pipelink_session_blocks(const pipelink_session* session);
/* What a guarded kernel found so far, a line for each finding; "" if nothing, or if the link is not guarded.
 * Waits for nothing: synchronise with the stream first. Valid until this thread's next call of it. Never
 * null. */
const char* pipelink_guard_report(const pipelink_session* session);
void pipelink_close_session(pipelink_session* session); /* null is fine */

/* Of this thread's last failed call; valid until its next one. Never null. */
const char* pipelink_last_error(void);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* PIPELINK_C_API_H */
