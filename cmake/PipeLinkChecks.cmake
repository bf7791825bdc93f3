#[=======================================================================[.rst:
PipeLinkChecks
--------------

What PipeLink's commands check about their arguments.
Internal: the names begin with ``_pipelink``.
An error names the command, the offending word and what would be right.
#]=======================================================================]

include_guard(GLOBAL)

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

# Where a target's PIPELINK_LAUNCHER comes from if nobody sets it.
define_property(TARGET PROPERTY PIPELINK_LAUNCHER
                BRIEF_DOCS "Command that runs PipeLink's pack and link commands of this target (like a compiler launcher)"
                INITIALIZE_FROM_VARIABLE PIPELINK_LAUNCHER)

# After cmake_parse_arguments(… arg …): refuses unknown words, keywords without values, and words that look like a
# keyword but were taken for a value (`SOURCES a.cu HEADERS b.h`).
function(_pipelink_check_arguments context known)
  list(JOIN known ", " known_text)
  if(DEFINED arg_UNPARSED_ARGUMENTS)
    list(GET arg_UNPARSED_ARGUMENTS 0 word)
    message(FATAL_ERROR "${context}: unknown argument '${word}'; the keywords are ${known_text}")
  endif()
  if(DEFINED arg_KEYWORDS_MISSING_VALUES)
    list(JOIN arg_KEYWORDS_MISSING_VALUES ", " words)
    message(FATAL_ERROR "${context}: no value after ${words}")
  endif()
  foreach(keyword IN LISTS known)
    foreach(word IN LISTS arg_${keyword})
      # Values go into files that are generated, and options to CMake's own commands; all others are needed at once.
      if(word MATCHES "\\$<" AND NOT keyword MATCHES "^(SET|LINK_LIBRARIES|COMPILE_OPTIONS|FILES)$")
        message(FATAL_ERROR "${context}: '${word}' (after ${keyword}): generator expressions are not evaluated here; use "
                            "if() around the call")
      endif()
      if(word MATCHES "^[A-Z][A-Z_]+$" AND NOT word MATCHES "^(AS|TRUE|FALSE)$" AND NOT TARGET "${word}"
         AND NOT EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/${word}")
        message(FATAL_ERROR "${context}: unknown keyword '${word}' (after ${keyword}); the keywords are ${known_text}")
      endif()
    endforeach()
  endforeach()
endfunction()

# As the linker has it (packager/base).
function(_pipelink_is_name result name)
  set(${result} FALSE PARENT_SCOPE)
  if(name MATCHES "^[a-z][a-z0-9_]*$" AND NOT name MATCHES "__|_$")
    set(${result} TRUE PARENT_SCOPE)
  endif()
endfunction()

function(_pipelink_check_name context name)
  _pipelink_is_name(is_name "${name}")
  if(NOT is_name)
    message(FATAL_ERROR "${context}: '${name}' is not a PipeLink name; names are lower-case letters, digits and single "
                        "underscores, begin with a letter and do not end in an underscore")
  endif()
  if(TARGET "${name}")
    message(FATAL_ERROR "${context}: a target of this name exists already")
  endif()
endfunction()

# The names among ARGN that could have been meant by <word>: alike but for case, what stands before '::' and other signs, or one letter is
# missing, too much or another, or two are swapped; if there is none, those that hold the word, or are held by it.
function(_pipelink_near_names result word)
  set(signs "^.*::|[^a-z0-9]")
  string(TOLOWER "${word}" word)
  string(REGEX REPLACE "${signs}" "" word "${word}")
  string(LENGTH "${word}" length)
  set(near "")
  set(holding "")
  foreach(name IN LISTS ARGN)
    string(TOLOWER "${name}" letters)
    string(REGEX REPLACE "${signs}" "" letters "${letters}")
    if(NOT word MATCHES "..." OR NOT letters MATCHES "...") # too short to be like another
      continue()
    endif()
    foreach(at RANGE ${length})
      string(SUBSTRING "${word}" 0 ${at} before)
      string(SUBSTRING "${word}" ${at} -1 after)
      string(REGEX REPLACE "^.(.*)$" "\\1" fewer "${after}")
      string(REGEX REPLACE "^(.)(.)(.*)$" "\\2\\1\\3" swapped "${after}")
      if(letters MATCHES "^${before}(.?${fewer}|.${after})$" OR letters STREQUAL "${before}${swapped}")
        list(APPEND near "'${name}'")
        break()
      endif()
    endforeach()
    if(letters MATCHES "${word}" OR word MATCHES "${letters}")
      list(APPEND holding "'${name}'")
    endif()
  endforeach()
  if(near STREQUAL "")
    set(near "${holding}")
  endif()
  set(${result} "${near}" PARENT_SCOPE)
endfunction()

# Ends the configuration; all components that were made or imported so far are listed.
function(_pipelink_no_component context component)
  get_property(known GLOBAL PROPERTY _pipelink_components)
  list(SORT known)
  list(REMOVE_DUPLICATES known)
  list(JOIN known ", " known_text)
  if(known_text STREQUAL "")
    set(known_text none)
  endif()
  _pipelink_near_names(near "${component}" ${known})
  list(JOIN near " or " near_text)
  if(NOT near STREQUAL "")
    set(near_text "; is ${near_text} meant?")
  elseif(NOT known_text MATCHES "PipeLinkComponents::")
    set(near_text "; those that come with PipeLink: find_package(PipeLinkComponents), PipeLinkComponents::<name>")
  endif()
  message(FATAL_ERROR "${context}: there is no component '${component}'${near_text}; there are: ${known_text}")
endfunction()

set(PIPELINK_ARCHITECTURES "" CACHE STRING "Architectures to build for; empty: all that components and compositions name")

# What `pipelink link` knows (linker/plan); the build tests hold the two together.
set_property(GLOBAL PROPERTY _pipelink_architectures 90a 100a 103a 120a)

# _pipelink_check_architectures(<context> <architecture>...)
function(_pipelink_check_architectures context)
  get_property(known GLOBAL PROPERTY _pipelink_architectures)
  foreach(architecture IN LISTS ARGN)
    if(architecture MATCHES "^(all|all-major|native|OFF|NONE)$")
      message(FATAL_ERROR "${context}: architecture '${architecture}' does not name one; a package is for one real "
                          "architecture, e.g. 90a")
    elseif(architecture MATCHES "^(.+)-(real|virtual)$")
      message(FATAL_ERROR "${context}: architecture '${architecture}' asks for one kind of code; write "
                          "'${CMAKE_MATCH_1}': a package holds LTO-IR and is checked against its PTX twin")
    elseif(NOT architecture IN_LIST known)
      string(REGEX REPLACE "^(sm|compute|lto)_" "" bare "${architecture}")
      list(JOIN known ", " text)
      if(bare IN_LIST known)
        message(FATAL_ERROR "${context}: architecture '${architecture}': write '${bare}'")
      elseif("${bare}a" IN_LIST known)
        message(FATAL_ERROR "${context}: architecture '${architecture}': write '${bare}a'")
      endif()
      message(FATAL_ERROR "${context}: architecture '${architecture}' is not known; there are ${text}")
    endif()
  endforeach()
  list(LENGTH ARGN given)
  list(REMOVE_DUPLICATES ARGN)
  list(LENGTH ARGN distinct)
  if(distinct LESS given)
    message(FATAL_ERROR "${context}: an architecture is listed twice")
  endif()
endfunction()

# _pipelink_check_flags(<context> <where> <flags>...): what cannot be combined with link-time optimisation.
function(_pipelink_check_flags context where)
  foreach(flags IN LISTS ARGN)
    if(flags MATCHES "(^|[ ;:])(-G|-device-debug|--device-debug)($|[ ;])")
      message(FATAL_ERROR "${context}: '${CMAKE_MATCH_2}' in ${where}: device debug code cannot be combined with "
                          "link-time optimisation, which PipeLink is made of; use -lineinfo")
    endif()
  endforeach()
endfunction()

# The flags that CMake itself adds to each CUDA compile.
function(_pipelink_check_global_flags context)
  _pipelink_check_flags("${context}" "CMAKE_CUDA_FLAGS" "${CMAKE_CUDA_FLAGS}")
  foreach(configuration IN LISTS CMAKE_CONFIGURATION_TYPES CMAKE_BUILD_TYPE)
    string(TOUPPER "${configuration}" upper)
    _pipelink_check_flags("${context}" "CMAKE_CUDA_FLAGS_${upper}" "${CMAKE_CUDA_FLAGS_${upper}}")
  endforeach()
  get_directory_property(options COMPILE_OPTIONS)
  _pipelink_check_flags("${context}" "the directory's compile options" ${options})
endfunction()

# _pipelink_require_languages(<context> <language>...)
function(_pipelink_require_languages context)
  get_property(enabled GLOBAL PROPERTY ENABLED_LANGUAGES)
  foreach(language IN LISTS ARGN)
    if(NOT language IN_LIST enabled)
      list(JOIN ARGN " " wanted)
      list(JOIN enabled " " enabled_text)
      message(FATAL_ERROR "${context}: the project has not enabled the language ${language} (it has: ${enabled_text}); "
                          "write project(${PROJECT_NAME} LANGUAGES ${wanted})")
    endif()
  endforeach()
  if("CUDA" IN_LIST ARGN)
    if(NOT CMAKE_CUDA_COMPILER_ID STREQUAL "NVIDIA")
      message(FATAL_ERROR "${context}: the CUDA compiler is ${CMAKE_CUDA_COMPILER_ID}; PipeLink needs nvcc, which alone "
                          "makes NVIDIA LTO-IR")
    endif()
    _pipelink_check_toolkit_version("${context}" "${CMAKE_CUDA_COMPILER}" "${CMAKE_CUDA_COMPILER_VERSION}")
  endif()
endfunction()

# _pipelink_choose_architectures(<result> <context> <named>...): what is built of the architectures that a command names.
# PIPELINK_ARCHITECTURES limits them, so that a build can be for one of them. Where none is named, it says which; else
# CMAKE_CUDA_ARCHITECTURES does, if PipeLink knows all of its words (CMake itself sets it to one that it does not).
function(_pipelink_choose_architectures result context)
  get_property(known GLOBAL PROPERTY _pipelink_architectures)
  _pipelink_check_architectures("${context}" ${ARGN})
  _pipelink_check_architectures("${context}: PIPELINK_ARCHITECTURES" ${PIPELINK_ARCHITECTURES})
  set(chosen "")
  if(ARGN)
    foreach(architecture IN LISTS ARGN)
      if(NOT PIPELINK_ARCHITECTURES OR architecture IN_LIST PIPELINK_ARCHITECTURES)
        list(APPEND chosen ${architecture})
      endif()
    endforeach()
  elseif(PIPELINK_ARCHITECTURES)
    set(chosen ${PIPELINK_ARCHITECTURES})
  else()
    set(unknown ${CMAKE_CUDA_ARCHITECTURES})
    list(REMOVE_ITEM unknown ${known})
    if(CMAKE_CUDA_ARCHITECTURES AND NOT unknown)
      set(chosen ${CMAKE_CUDA_ARCHITECTURES})
    else()
      set(chosen 90a)
    endif()
  endif()
  set(${result} "${chosen}" PARENT_SCOPE)
endfunction()

# The options that keep the project's place out of __FILE__: as it is, and relative to where compiles run, as ccache's
# base_dir rewrites paths. As words of their own, since ccache then knows that another place compiles to the same.
# nvcc cuts the value of -Xcompiler at commas and gives the rest to a shell.
function(_pipelink_prefix_map result)
  set(compiles_in "${CMAKE_CURRENT_BINARY_DIR}")
  if(CMAKE_GENERATOR MATCHES "Ninja")
    set(compiles_in "${CMAKE_BINARY_DIR}")
  endif()
  file(RELATIVE_PATH relative "${compiles_in}" "${PROJECT_SOURCE_DIR}")
  set(options "")
  foreach(place IN ITEMS "${PROJECT_SOURCE_DIR}" "${relative}")
    if(place)
      string(REPLACE "," "\\\\," place "${place}")
      string(REPLACE "'" "'\\''" place "${place}")
      list(APPEND options "SHELL:-Xcompiler '-fmacro-prefix-map=\"${place}/\"='")
    endif()
  endforeach()
  set(${result} "${options}" PARENT_SCOPE)
endfunction()

# For multi-config generators, files that differ between configurations have a folder each.
if(CMAKE_CONFIGURATION_TYPES)
  set_property(GLOBAL PROPERTY _pipelink_config "/$<CONFIG>")
else()
  set_property(GLOBAL PROPERTY _pipelink_config "")
endif()

cmake_policy(POP)
