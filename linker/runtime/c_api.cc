// libpipelink_c.so: the C API alone, for programs that load a cubin from a file (Python's ctypes).
#include "pipelink/c_api_definitions.h"
