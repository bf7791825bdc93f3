#[=======================================================================[.rst:
PipeLinkBuildTree
-----------------

For PipeLink's own tree: included from the top-level directory after the tool's target exists, it gives the commands that
``find_package(PipeLink)`` gives elsewhere, enables CUDA, and defines ``pipelink_cutlass`` (CUTLASS and CuTe headers) if
``./ci/setup`` or the user installed them.
Internal: ``find_package(PipeLink)`` has no use for it.
#]=======================================================================]

foreach(_pipelink_module IN ITEMS Toolkit ThunderKittens Component Composition Install Bundle)
  include("${CMAKE_CURRENT_LIST_DIR}/PipeLink${_pipelink_module}.cmake")
endforeach()

if(NOT CMAKE_CUDA_COMPILER)
  set(CMAKE_CUDA_COMPILER "${PIPELINK_NVCC}")
endif()
if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
  set(CMAKE_CUDA_ARCHITECTURES 90a) # PipeLink's own targets say theirs
endif()
enable_language(CUDA)

file(GLOB _pipelink_site_packages "${PROJECT_SOURCE_DIR}/.pipelink/venv/lib/python3*/site-packages")
find_path(PIPELINK_CUTLASS_INCLUDE_DIR cute/tensor.hpp
          HINTS "${_pipelink_site_packages}/cutlass_library/source/include"
          DOC "CUTLASS headers")
mark_as_advanced(PIPELINK_CUTLASS_INCLUDE_DIR)
if(PIPELINK_CUTLASS_INCLUDE_DIR AND NOT TARGET pipelink_cutlass)
  add_library(pipelink_cutlass INTERFACE IMPORTED GLOBAL)
  set_target_properties(pipelink_cutlass PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${PIPELINK_CUTLASS_INCLUDE_DIR}")
endif()
