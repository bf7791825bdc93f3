#[=======================================================================[.rst:
PipeLinkToolkit
---------------

Finds what PipeLink needs of the CUDA 13 toolkit.

.. command:: pipelink_find_toolkit

  ::

    pipelink_find_toolkit([REQUIRED])

  Looks beside the enabled CUDA compiler, then beside ``CMAKE_CUDA_COMPILER``, ``CUDACXX``, ``PIPELINK_CUDA_ROOT``, in
  the project's own folder ``.pipelink/toolkit``, on ``PATH`` and in ``/usr/local/cuda``. An nvcc that the user names
  (the first three) must be of CUDA 13; one that was merely found is passed over if it is not.

  Sets ``PIPELINK_TOOLKIT_FOUND``, ``PIPELINK_TOOLKIT_MESSAGE`` (why not), ``PIPELINK_NVCC``,
  ``PIPELINK_TOOLKIT_VERSION``, ``PIPELINK_CUDA_ROOT``, ``PIPELINK_TOOLKIT_INCLUDE_DIR``,
  ``PIPELINK_TOOLKIT_LIBRARY_DIR``, ``PIPELINK_NVJITLINK_LIBRARY`` and ``PIPELINK_NVRTC_LIBRARY``, and defines the targets
  ``PipeLink::nvJitLink`` and ``PipeLink::nvrtc``. Including the module outside ``find_package`` does this with
  ``REQUIRED``.
#]=======================================================================]

include_guard()

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

set_property(GLOBAL PROPERTY _pipelink_toolkit_minimum 13.0)

function(_pipelink_toolkit_fault result nvcc version)
  get_property(minimum GLOBAL PROPERTY _pipelink_toolkit_minimum)
  set(${result} "" PARENT_SCOPE)
  if(version VERSION_LESS minimum)
    set(${result} "PipeLink needs CUDA ${minimum} or newer; '${nvcc}' is of CUDA ${version}. Put nvcc 13 first on PATH, \
or set CMAKE_CUDA_COMPILER or CUDACXX to it" PARENT_SCOPE)
  endif()
endfunction()

function(_pipelink_check_toolkit_version context nvcc version)
  _pipelink_toolkit_fault(fault "${nvcc}" "${version}")
  if(fault)
    message(FATAL_ERROR "${context}: ${fault}")
  endif()
endfunction()

# The release that an nvcc says it is of; empty if it cannot be run. CMake has asked the enabled compiler already.
function(_pipelink_nvcc_version result nvcc)
  if(nvcc STREQUAL "${CMAKE_CUDA_COMPILER}" AND CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA" AND CMAKE_CUDA_COMPILER_VERSION)
    set(${result} "${CMAKE_CUDA_COMPILER_VERSION}" PARENT_SCOPE)
    return()
  endif()
  set(${result} "" PARENT_SCOPE)
  execute_process(COMMAND "${nvcc}" --version OUTPUT_VARIABLE text ERROR_QUIET RESULT_VARIABLE status)
  if(status EQUAL 0 AND text MATCHES "release [0-9.]+, V([0-9.]+)")
    set(${result} "${CMAKE_MATCH_1}" PARENT_SCOPE)
  endif()
endfunction()

# Candidates in order, as a list of nvcc paths. `named`: the user chose it, so that a wrong version is an error.
function(_pipelink_find_nvcc)
  set(named "")
  if(CMAKE_CUDA_COMPILER)
    set(named "${CMAKE_CUDA_COMPILER}")
  elseif(DEFINED ENV{CUDACXX})
    set(named "$ENV{CUDACXX}")
  elseif(PIPELINK_CUDA_ROOT)
    set(named "${PIPELINK_CUDA_ROOT}/bin/nvcc")
  elseif(DEFINED ENV{PIPELINK_CUDA_ROOT})
    set(named "$ENV{PIPELINK_CUDA_ROOT}/bin/nvcc")
  endif()
  if(named)
    _pipelink_nvcc_version(version "${named}")
    if(NOT version)
      set(fault "'${named}' is not an nvcc that can be run")
    else()
      _pipelink_toolkit_fault(fault "${named}" "${version}")
    endif()
  else()
    set(fault "no nvcc was found; PipeLink needs the CUDA 13 toolkit (nvcc, nvJitLink, NVRTC). In PipeLink's own tree \
./ci/setup installs it")
    find_program(on_path nvcc NO_CACHE)
    file(GLOB installed "/usr/local/cuda*/bin/nvcc")
    list(SORT installed COMPARE NATURAL ORDER DESCENDING)
    foreach(candidate IN LISTS on_path installed ITEMS "${CMAKE_SOURCE_DIR}/.pipelink/toolkit/bin/nvcc")
      if(EXISTS "${candidate}")
        _pipelink_nvcc_version(version "${candidate}")
        if(version)
          _pipelink_toolkit_fault(fault "${candidate}" "${version}")
          set(named "${candidate}")
          if(NOT fault)
            break()
          endif()
        endif()
      endif()
    endforeach()
  endif()
  set(fault "${fault}" PARENT_SCOPE)
  set(nvcc "${named}" PARENT_SCOPE)
  set(version "${version}" PARENT_SCOPE)
endfunction()

function(_pipelink_toolkit_target target library include_dir)
  if(NOT TARGET ${target})
    add_library(${target} UNKNOWN IMPORTED GLOBAL)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION "${library}"
                                               INTERFACE_INCLUDE_DIRECTORIES "${include_dir}")
  endif()
endfunction()

function(pipelink_find_toolkit)
  cmake_parse_arguments(PARSE_ARGV 0 arg "REQUIRED" "" "")
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "pipelink_find_toolkit: unknown argument '${arg_UNPARSED_ARGUMENTS}'")
  endif()
  _pipelink_find_nvcc()

  if(NOT fault)
    file(REAL_PATH "${nvcc}" real)
    cmake_path(GET real PARENT_PATH bin)
    cmake_path(GET bin PARENT_PATH root)
    set(places "${root}/lib64" "${root}/lib" "${root}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/lib" "${root}/lib/x86_64-linux-gnu")
    find_library(PIPELINK_NVJITLINK_LIBRARY NAMES nvJitLink libnvJitLink.so.13 HINTS ${places})
    find_library(PIPELINK_NVRTC_LIBRARY NAMES nvrtc libnvrtc.so.13 HINTS ${places})
    find_path(PIPELINK_TOOLKIT_INCLUDE_DIR NAMES nvJitLink.h
              HINTS "${root}/include" "${root}/targets/${CMAKE_SYSTEM_PROCESSOR}-linux/include")
    mark_as_advanced(PIPELINK_NVJITLINK_LIBRARY PIPELINK_NVRTC_LIBRARY PIPELINK_TOOLKIT_INCLUDE_DIR)
    foreach(item IN ITEMS "PIPELINK_NVJITLINK_LIBRARY:libnvJitLink.so" "PIPELINK_NVRTC_LIBRARY:libnvrtc.so"
                          "PIPELINK_TOOLKIT_INCLUDE_DIR:nvJitLink.h")
      string(REGEX MATCH "^([^:]+):(.+)$" item "${item}")
      if(NOT fault AND NOT ${CMAKE_MATCH_1})
        set(fault "${CMAKE_MATCH_2} is missing from the toolkit of '${nvcc}'; set ${CMAKE_MATCH_1} to it")
      endif()
    endforeach()
  endif()

  if(fault)
    if(arg_REQUIRED)
      message(FATAL_ERROR "${fault}")
    endif()
    set(PIPELINK_TOOLKIT_FOUND FALSE PARENT_SCOPE)
    set(PIPELINK_TOOLKIT_MESSAGE "${fault}" PARENT_SCOPE)
    return()
  endif()

  _pipelink_toolkit_target(PipeLink::nvJitLink "${PIPELINK_NVJITLINK_LIBRARY}" "${PIPELINK_TOOLKIT_INCLUDE_DIR}")
  _pipelink_toolkit_target(PipeLink::nvrtc "${PIPELINK_NVRTC_LIBRARY}" "${PIPELINK_TOOLKIT_INCLUDE_DIR}")
  cmake_path(GET PIPELINK_NVJITLINK_LIBRARY PARENT_PATH library_dir)
  set(PIPELINK_TOOLKIT_LIBRARY_DIR "${library_dir}" PARENT_SCOPE)
  set(PIPELINK_TOOLKIT_FOUND TRUE PARENT_SCOPE)
  set(PIPELINK_TOOLKIT_MESSAGE "" PARENT_SCOPE)
  set(PIPELINK_NVCC "${nvcc}" PARENT_SCOPE)
  set(PIPELINK_TOOLKIT_VERSION "${version}" PARENT_SCOPE)
  set(PIPELINK_CUDA_ROOT "${root}" PARENT_SCOPE)
endfunction()

if(NOT CMAKE_FIND_PACKAGE_NAME)
  pipelink_find_toolkit(REQUIRED)
endif()

cmake_policy(POP)
