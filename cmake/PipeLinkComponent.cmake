#[=======================================================================[.rst:
PipeLinkComponent
-----------------

.. command:: pipelink_add_component

  Compiles one component and packs it, for one or more architectures.

  ::

    pipelink_add_component(<name>
      SOURCES <file.cu>...
      [ARCHITECTURES <90a>...]       # those that it can be built for
      [HOST_SOURCES <file.cc>...]    # the host provider, a static library beside the package
      [PUBLIC_HEADERS <file.h>...]   # parameter structs and the like; included by file name (or from include/)
      [USES <component>...]          # whose public headers the sources include; no build order
      [LINK_LIBRARIES <target>...]   # include paths and definitions for the sources
      [COMPILE_OPTIONS <option>...]
      [TILELANG <file.py>])          # in place of SOURCES: the component in TileLang

  Targets:

  ``<name>``
    INTERFACE: the public headers, those of ``USES``, ``PipeLink::sdk`` and ``PipeLink::runtime`` (whose types a parameter
    struct may hold). Neither sources nor build order.
  ``<name>.package``
    All packages ``<name>.sm_<architecture>.plk`` (part of ``all``).
  ``<name>.sm_<architecture>.obj``
    The compile: LTO-IR with a PTX twin, device code only.
  ``<name>.host``
    STATIC, if there are ``HOST_SOURCES``.

  The variable ``PIPELINK_ARCHITECTURES`` limits a build to some architectures: of those after ``ARCHITECTURES`` only these
  are compiled, and a component that has none of them gets no package. A component that names no architectures is
  compiled for ``PIPELINK_ARCHITECTURES``, else for ``CMAKE_CUDA_ARCHITECTURES`` where PipeLink knows all of these, else for
  90a.

  With ``TILELANG`` the sources, a host provider and its header are made of a Python file (:doc:`PipeLinkTileLang`), so ``SOURCES``
  and ``HOST_SOURCES`` are not given.

  A project's version is its packages' version. The variable ``PIPELINK_LAUNCHER``, or the property of that name of
  ``<name>.package``, runs the pack command as a compiler launcher runs a compile. With ``--list-files`` behind it, the
  command says what it reads and writes; ``share/pipelink/launchers`` has two examples.
#]=======================================================================]

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/PipeLinkChecks.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/PipeLinkQualifiers.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/PipeLinkTileLang.cmake")

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

function(pipelink_add_component name)
  set(context "pipelink_add_component(${name})")
  set(keywords SOURCES ARCHITECTURES HOST_SOURCES PUBLIC_HEADERS USES LINK_LIBRARIES COMPILE_OPTIONS TILELANG)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "${keywords}")
  _pipelink_check_arguments("${context}" "${keywords}")
  if(DEFINED arg_TILELANG)
    foreach(keyword IN ITEMS SOURCES HOST_SOURCES)
      if(DEFINED arg_${keyword})
        message(FATAL_ERROR "${context}: ${keyword} beside TILELANG; a component is made of one or of the other")
      endif()
    endforeach()
    list(LENGTH arg_TILELANG files)
    if(NOT files EQUAL 1)
      message(FATAL_ERROR "${context}: TILELANG takes one file, not ${files}")
    endif()
  elseif(NOT DEFINED arg_SOURCES)
    message(FATAL_ERROR "${context}: SOURCES is missing")
  endif()
  _pipelink_check_name("${context}" "${name}")
  _pipelink_choose_architectures(architectures "${context}" ${arg_ARCHITECTURES})
  _pipelink_require_languages("${context}" CXX CUDA)
  _pipelink_check_global_flags("${context}")
  _pipelink_check_flags("${context}" "COMPILE_OPTIONS" ${arg_COMPILE_OPTIONS})
  if(DEFINED arg_TILELANG)
    set(to_lower ${arg_ARCHITECTURES}) # all: a build for some must not make another kept source
    if(NOT to_lower)
      set(to_lower ${architectures})
    endif()
    _pipelink_lower(arg_SOURCES arg_HOST_SOURCES headers "${context}" ${name} "${arg_TILELANG}" "${to_lower}")
    list(APPEND arg_PUBLIC_HEADERS ${headers})
    list(APPEND arg_LINK_LIBRARIES PipeLink::runtime) # the tensor maps in the parameters
  endif()
  _pipelink_absolute_sources(sources "${context}" ${arg_SOURCES})
  foreach(source IN LISTS sources)
    if(source MATCHES "[$]")
      message(FATAL_ERROR "${context}: source file '${source}': nvcc gives its path to a shell, which takes '$' for the begin "
                          "of a variable; rename the file or folder")
    endif()
  endforeach()
  # For clangd, compile_commands.json names include folders as every compiler does: CMake's own way for nvcc is `-isystem=`,
  # and with Makefiles a file of options. nvcc takes both ways.
  set(CMAKE_INCLUDE_SYSTEM_FLAG_CUDA "-isystem " PARENT_SCOPE)
  set(CMAKE_CUDA_USE_RESPONSE_FILE_FOR_INCLUDES OFF PARENT_SCOPE)

  add_library(${name} INTERFACE)
  target_link_libraries(${name} INTERFACE PipeLink::sdk PipeLink::runtime ${arg_USES})
  set_property(GLOBAL APPEND PROPERTY _pipelink_components ${name})
  set_target_properties(${name} PROPERTIES
    PIPELINK_COMPONENT ${name}
    PIPELINK_ARCHITECTURES "${architectures}"
    PIPELINK_SOURCES "${sources}"
    PIPELINK_COMPILE_OPTIONS "${arg_COMPILE_OPTIONS}"
    PIPELINK_USES "${arg_USES}"
    PIPELINK_PACKAGE_TARGET ${name}.package)
  _pipelink_public_headers(${name} "${context}" ${arg_PUBLIC_HEADERS})
  if(arg_HOST_SOURCES)
    _pipelink_host_library(${name} "${context}" "${arg_HOST_SOURCES}" "${arg_LINK_LIBRARIES}")
  endif()

  if(arg_USES)
    _pipelink_when_known("${arg_USES}" _pipelink_check_uses "${context}: USES" ${arg_USES})
  endif()

  set(stamps "")
  foreach(architecture IN LISTS architectures)
    _pipelink_compile(${name} ${architecture} "${sources}" "${arg_LINK_LIBRARIES}" "${arg_COMPILE_OPTIONS}")
    _pipelink_pack(stamp ${name} ${architecture})
    list(APPEND stamps "${stamp}")
  endforeach()
  add_custom_target(${name}.package ALL DEPENDS ${stamps})
endfunction()

# CMake takes a name that is no target for a library to link with, which a compile does not miss. <arguments> is one list:
# context, components...
function(_pipelink_check_uses arguments)
  list(POP_FRONT arguments context)
  foreach(component IN LISTS arguments)
    if(NOT TARGET "${component}")
      _pipelink_no_component("${context}" "${component}")
    endif()
  endforeach()
endfunction()

function(_pipelink_absolute_sources result context)
  set(absolute "")
  foreach(source IN LISTS ARGN)
    cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    get_source_file_property(generated "${source}" GENERATED)
    if(NOT EXISTS "${source}" AND NOT generated)
      message(FATAL_ERROR "${context}: source file '${source}' does not exist")
    elseif(IS_DIRECTORY "${source}")
      message(FATAL_ERROR "${context}: source file '${source}' is a folder")
    endif()
    list(APPEND absolute "${source}")
  endforeach()
  set(${result} "${absolute}" PARENT_SCOPE)
endfunction()

# A public header is included by its path below `include/` where it lies there, else by its file name.
function(_pipelink_public_headers name context)
  _pipelink_absolute_sources(headers "${context}" ${ARGN})
  set(directories "")
  set(include_names "")
  foreach(header IN LISTS headers)
    if(header MATCHES "^(${CMAKE_CURRENT_SOURCE_DIR}/include)/(.+)$")
      set(directory "${CMAKE_MATCH_1}")
      set(include_name "${CMAKE_MATCH_2}")
    else()
      cmake_path(GET header PARENT_PATH directory)
      cmake_path(GET header FILENAME include_name)
    endif()
    list(APPEND directories "${directory}")
    list(APPEND include_names "${include_name}")
  endforeach()
  list(REMOVE_DUPLICATES directories)
  foreach(directory IN LISTS directories)
    target_include_directories(${name} INTERFACE "$<BUILD_INTERFACE:${directory}>")
  endforeach()
  set_target_properties(${name} PROPERTIES PIPELINK_PUBLIC_HEADERS "${headers}"
                                           PIPELINK_PUBLIC_HEADER_NAMES "${include_names}")
endfunction()

function(_pipelink_host_library name context sources libraries)
  _pipelink_absolute_sources(sources "${context}" ${sources})
  add_library(${name}.host STATIC ${sources})
  target_compile_features(${name}.host PUBLIC cxx_std_20)
  target_link_libraries(${name}.host PUBLIC PipeLink::runtime ${name})
  foreach(library IN LISTS libraries)
    target_link_libraries(${name}.host PRIVATE "$<BUILD_INTERFACE:${library}>")
  endforeach()
  set_target_properties(${name}.host PROPERTIES POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF)
  set_target_properties(${name} PROPERTIES PIPELINK_HOST_TARGET ${name}.host)
endfunction()

# The compile: LTO-IR and its PTX twin in one fatbin, without the host pass.
function(_pipelink_compile name architecture sources libraries options)
  set(object ${name}.sm_${architecture}.obj)
  add_library(${object} OBJECT EXCLUDE_FROM_ALL ${sources})
  set_target_properties(${object} PROPERTIES
    CUDA_ARCHITECTURES ${architecture}
    CUDA_SEPARABLE_COMPILATION ON
    INTERPROCEDURAL_OPTIMIZATION ON
    POSITION_INDEPENDENT_CODE OFF
    UNITY_BUILD OFF)
  set_source_files_properties(${sources} PROPERTIES LANGUAGE CUDA)
  set_property(TARGET ${object} PROPERTY CUDA_STANDARD) # CMake 3.25 knows no CUDA20: an option says it
  target_link_libraries(${object} PRIVATE ${name} ${libraries})
  _pipelink_prefix_map(prefix_map)
  # -O0 concerns the twin alone: there every inline function keeps its body, so that `L-ODR` sees it, and the compile takes
  # half the time. The link-time code is not optimized before the link in any case; linked text is the same.
  # With -isystem, nvcc 13 puts its process id into the names of static objects unless it is given a seed.
  target_compile_options(${object} PRIVATE -fatbin --compress-mode=none -std=c++20 -frandom-seed=${name} "SHELL:-Xcicc -O0"
                                           ${prefix_map} ${options})
endfunction()

# One command, its inputs listed: objects, host library, plan, tool. The plan holds the arguments, so that a change of
# them packs again under every generator. The stamp is the output; the package changes only with its content.
function(_pipelink_pack stamp_result name architecture)
  get_property(config GLOBAL PROPERTY _pipelink_config)
  set(directory "${CMAKE_CURRENT_BINARY_DIR}/pipelink${config}")
  set(package "${directory}/${name}.sm_${architecture}.plk")
  set(object ${name}.sm_${architecture}.obj)
  set(version "${PROJECT_VERSION}")
  if(NOT version)
    set(version 0.0.0)
  endif()
  set(arguments pack --name ${name} --version ${version} --arch sm_${architecture} --source-root "${PROJECT_SOURCE_DIR}")
  set(host "")
  if(TARGET ${name}.host)
    set(host $<TARGET_FILE:${name}.host>)
    list(APPEND arguments --host-library ${host})
  endif()

  list(JOIN arguments "\n" plan_text)
  file(GENERATE OUTPUT "${package}.plan" CONTENT "${plan_text}\n$<JOIN:$<TARGET_OBJECTS:${object}>,\n>\n")
  add_custom_command(
    OUTPUT "${package}.stamp"
    BYPRODUCTS "${package}"
    COMMAND "$<TARGET_PROPERTY:${name}.package,PIPELINK_LAUNCHER>" $<TARGET_FILE:PipeLink::pipelink> ${arguments}
            -o "${package}.new" $<TARGET_OBJECTS:${object}>
    # Not `cmake -E`: each start of CMake would take as long as packing.
    COMMAND sh -c "(cmp -s \"$1\" \"$2\" || mv -f \"$1\" \"$2\") && touch \"$3\"" finish
            "${package}.new" "${package}" "${package}.stamp"
    DEPENDS "${package}.plan" ${object} $<TARGET_OBJECTS:${object}> ${host} $<TARGET_FILE:PipeLink::pipelink>
    COMMENT "Packing ${name}.sm_${architecture}.plk"
    COMMAND_EXPAND_LISTS VERBATIM)
  set_property(TARGET ${name} PROPERTY PIPELINK_PACKAGE_sm_${architecture} "${package}")
  set(${stamp_result} "${package}.stamp" PARENT_SCOPE)
endfunction()

cmake_policy(POP)
