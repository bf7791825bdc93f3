#[=======================================================================[.rst:
PipeLinkBundle
--------------

.. command:: pipelink_add_to_bundle

  Adds a composition to the target ``gpu_bundle``, which gathers everything that a machine with a GPU needs in
  ``<build>/gpu_bundle``.

  ::

    pipelink_add_to_bundle(<composition> [RUNNER <target>] [FILES <file>...])

  ``gpu_bundle/<composition>/`` gets cubins, link maps, launch descriptions, glue, the control's cubins if there are any, the
  runner (linked against the static C++ runtime) and the files.
#]=======================================================================]

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/PipeLinkChecks.cmake")

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

function(pipelink_add_to_bundle composition)
  set(context "pipelink_add_to_bundle(${composition})")
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "RUNNER" "FILES")
  _pipelink_check_arguments("${context}" "RUNNER;FILES")
  if(NOT TARGET "${composition}.cubin")
    message(FATAL_ERROR "${context}: there is no composition '${composition}'")
  endif()

  get_target_property(architectures ${composition} PIPELINK_ARCHITECTURES)
  set(files "")
  set(depends ${composition}.cubin)
  foreach(architecture IN LISTS architectures)
    get_target_property(output ${composition} PIPELINK_OUTPUT_DIRECTORY_sm_${architecture})
    set(base "${output}/${composition}.sm_${architecture}")
    list(APPEND files "${base}.cubin" "${base}.map.json" "${base}.glue.cu" "${base}.launch" "${base}.summary.txt")
    if(TARGET ${composition}.control)
      list(APPEND files "${base}.control.cubin")
    endif()
  endforeach()
  if(TARGET ${composition}.control)
    list(APPEND depends ${composition}.control)
  endif()
  if(DEFINED arg_RUNNER)
    if(NOT TARGET "${arg_RUNNER}")
      message(FATAL_ERROR "${context}: RUNNER '${arg_RUNNER}' is not a target")
    endif()
    target_link_options(${arg_RUNNER} PRIVATE -static-libstdc++ -static-libgcc)
    list(APPEND files $<TARGET_FILE:${arg_RUNNER}>)
    list(APPEND depends ${arg_RUNNER})
  endif()
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND files "${file}")
  endforeach()

  if(NOT TARGET gpu_bundle)
    add_custom_target(gpu_bundle)
  endif()
  set(destination "${CMAKE_BINARY_DIR}/gpu_bundle/${composition}")
  add_custom_target(${composition}.bundle
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${destination}"
    COMMAND "${CMAKE_COMMAND}" -E copy_if_different ${files} "${destination}"
    COMMENT "Gathering ${composition} in gpu_bundle"
    VERBATIM)
  add_dependencies(${composition}.bundle ${depends})
  add_dependencies(gpu_bundle ${composition}.bundle)
endfunction()

cmake_policy(POP)
