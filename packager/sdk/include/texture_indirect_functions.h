// clang reads this header of older CUDA toolkits before every CUDA source, and CUDA 13 has it no more: it is
// here so that clangd reads components. nvcc does not.
#if __has_include_next(<texture_indirect_functions.h>)
#include_next <texture_indirect_functions.h>
#endif
