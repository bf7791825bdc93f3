# How PipeLink's own libraries are built: one per directory, warnings are errors.

option(PIPELINK_WERROR "Treat warnings as errors" ON)
set(PIPELINK_SANITIZE "" CACHE STRING "Sanitizers for PipeLink's own code, e.g. address,undefined")

add_library(pipelink_warnings INTERFACE)
target_compile_features(pipelink_warnings INTERFACE cxx_std_20)
target_compile_definitions(pipelink_warnings INTERFACE PIPELINK_VERSION="${PROJECT_VERSION}")
target_compile_options(pipelink_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion
                                                  $<$<BOOL:${PIPELINK_WERROR}>:-Werror>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # GCC 12 reports impossible overlaps inside std::string operator+ (GCC bug 105651), and members of moved-from
  # optionals as uninitialised (105593). Both are gone in 13; clang-tidy and the sanitizers look here too.
  target_compile_options(pipelink_warnings INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
add_library(pipelink_options INTERFACE)
target_link_libraries(pipelink_options INTERFACE pipelink_warnings)
if(PIPELINK_SANITIZE)
  target_compile_options(pipelink_options INTERFACE -fsanitize=${PIPELINK_SANITIZE} -fno-omit-frame-pointer
                                                    -fno-sanitize-recover=undefined)
  target_link_options(pipelink_options INTERFACE -fsanitize=${PIPELINK_SANITIZE})
endif()

# pipelink_library(<name> [SOURCES <f>...] [USES <library>...] [PRIVATE_USES <library>...])
# One static library for the directory that calls it. Includes are written from the top: "packager/base/outcome.h".
function(pipelink_library name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;USES;PRIVATE_USES")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "pipelink_library(${name}): unknown arguments: ${arg_UNPARSED_ARGUMENTS}")
  endif()
  add_library(${name} STATIC ${arg_SOURCES})
  set_property(GLOBAL APPEND PROPERTY pipelink_own_targets ${name}) # what tests/lint looks at
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${arg_USES} PRIVATE pipelink_options ${arg_PRIVATE_USES})
endfunction()
