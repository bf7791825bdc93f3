#[=======================================================================[.rst:
PipeLinkTileLang
----------------

Components in TileLang: ``pipelink_add_component(<name> TILELANG <file.py>)``. Of the file, PipeLink's front end makes a component in
CUDA C++ (:doc:`/front_ends`), which is compiled and packed as any other.

What the front end makes is kept beside the file, in ``lowered/``: ``<name>.cu`` and, if it has them, ``<name>.h`` and
``<name>_host.cc``. With these a build needs no TileLang. Their first line says of which text and for which architectures they were
made; when that is no longer so, they are made anew in the build folder, for which TileLang must be there.

``<name>.lower``
  makes the kept files anew, beside the Python file. It exists where TileLang is installed.

``PIPELINK_TILELANG_PYTHON``
  The Python that has TileLang, in the version that ``./ci/setup --tilelang`` installs.
#]=======================================================================]

include_guard(GLOBAL)

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

# The front end is beside these modules in the source tree, and below share/ in an install tree.
find_path(PIPELINK_TILELANG_DIR pipelink_tilelang/__main__.py
          HINTS "${CMAKE_CURRENT_LIST_DIR}/../packager/tilelang" "${CMAKE_CURRENT_LIST_DIR}/../../../share/pipelink/tilelang"
          NO_DEFAULT_PATH DOC "PipeLink's front end for TileLang")
find_program(PIPELINK_TILELANG_PYTHON python
             HINTS "${PROJECT_SOURCE_DIR}/.pipelink/tilelang/bin" "${CMAKE_CURRENT_LIST_DIR}/../.pipelink/tilelang/bin"
             NO_DEFAULT_PATH DOC "Python with TileLang; ./ci/setup --tilelang makes one")
mark_as_advanced(PIPELINK_TILELANG_DIR PIPELINK_TILELANG_PYTHON)

# _pipelink_lower(<sources> <host sources> <headers> <context> <name> <file> <architectures>): the files that stand for a
# component in TileLang; the kept ones, or those made here and now.
function(_pipelink_lower sources_result host_result headers_result context name file architectures)
  cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  if(NOT EXISTS "${file}")
    message(FATAL_ERROR "${context}: the file '${file}' after TILELANG does not exist")
  endif()
  cmake_path(GET file PARENT_PATH directory)
  set(kept "${directory}/lowered")
  cmake_path(RELATIVE_PATH file BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" OUTPUT_VARIABLE shown)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}" "${kept}/${name}.cu")
  set(command "${CMAKE_COMMAND}" -E env "PYTHONPATH=${PIPELINK_TILELANG_DIR}" "${PIPELINK_TILELANG_PYTHON}" -B -m pipelink_tilelang
              "${file}" --name ${name} --architectures ${architectures} --shown "${shown}" --out)
  if(PIPELINK_TILELANG_PYTHON)
    add_custom_target(${name}.lower COMMAND ${command} "${kept}" COMMENT "Lowering ${name}" VERBATIM)
  endif()

  _pipelink_lowered_state(state "${kept}/${name}.cu" "${file}" ${architectures})
  if(state)
    set(kept "${CMAKE_CURRENT_BINARY_DIR}/lowered")
    _pipelink_lowered_state(state_here "${kept}/${name}.cu" "${file}" ${architectures})
    if(state_here)
      if(NOT PIPELINK_TILELANG_PYTHON)
        message(FATAL_ERROR "${context}: ${state}, and there is no TileLang to make it anew; run ./ci/setup --tilelang, or name a "
                            "Python that has TileLang: -DPIPELINK_TILELANG_PYTHON=<path>")
      endif()
      message(STATUS "Lowering ${name}: ${state}")
      execute_process(COMMAND ${command} "${kept}" RESULT_VARIABLE status ERROR_VARIABLE error)
      if(NOT status EQUAL 0)
        message(FATAL_ERROR "${context}: ${error}")
      endif()
    endif()
  endif()

  set(${sources_result} "${kept}/${name}.cu" PARENT_SCOPE)
  set(${host_result} "" PARENT_SCOPE)
  set(${headers_result} "" PARENT_SCOPE)
  if(EXISTS "${kept}/${name}_host.cc")
    set(${host_result} "${kept}/${name}_host.cc" PARENT_SCOPE)
  endif()
  if(EXISTS "${kept}/${name}.h")
    set(${headers_result} "${kept}/${name}.h" PARENT_SCOPE)
  endif()
endfunction()

# Empty if the lowered source was made of this file for all these architectures; else why it cannot be used.
function(_pipelink_lowered_state result lowered file)
  set(${result} "there is no lowered source '${lowered}'" PARENT_SCOPE)
  if(NOT EXISTS "${lowered}")
    return()
  endif()
  file(STRINGS "${lowered}" first LIMIT_COUNT 1)
  file(SHA256 "${file}" digest)
  if(NOT first MATCHES "^// pipelink-tilelang 1 ([0-9a-f]+) (.*) tilelang ")
    set(${result} "'${lowered}' was made by another version of the front end" PARENT_SCOPE)
    return()
  endif()
  set(made_for "${CMAKE_MATCH_2}")
  if(NOT CMAKE_MATCH_1 STREQUAL digest)
    set(${result} "'${file}' was changed since '${lowered}' was made" PARENT_SCOPE)
    return()
  endif()
  string(REPLACE " " ";" made_for "${made_for}")
  foreach(architecture IN LISTS ARGN)
    if(NOT architecture IN_LIST made_for)
      set(${result} "'${lowered}' was not made for ${architecture}" PARENT_SCOPE)
      return()
    endif()
  endforeach()
  set(${result} "" PARENT_SCOPE)
endfunction()

cmake_policy(POP)
