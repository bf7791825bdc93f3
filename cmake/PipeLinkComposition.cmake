#[=======================================================================[.rst:
PipeLinkComposition
-------------------

.. command:: pipelink_add_composition

  Links components into one kernel, and makes a host library of it.

  ::

    pipelink_add_composition(<name>
      COMPONENTS <component>...      # targets
      [ARCHITECTURES <90a>...]       # default and limit: as for pipelink_add_component
      [BIND <a.port=b.port>...]
      [SET <owner.fact=value>...]
      [INSTANCES <component> AS <name>... [<component> AS <name>...]]
      [CONTROL]                      # also the control: the same kernel from one translation unit
      [LINK_OPTIONS <option>...])

  The kernel is linked once for each architecture; the library holds all images and loads the one for the device. A word
  of ``COMPONENTS``, ``BIND``, ``SET``, ``LINK_OPTIONS`` and a component of ``INSTANCES`` can be for one architecture only:
  ``<architecture>:<word>``. So each architecture can have producers of its own, under one name if need be::

    pipelink_add_composition(k
      COMPONENTS 90a:wgmma_gemm 100a:tcgen05_gemm 103a:tcgen05_gemm swiglu
      INSTANCES wgmma_gemm AS gemm tcgen05_gemm AS gemm
      SET 90a:gemm.tile_n=256 swiglu.stages=2
      ARCHITECTURES 90a 100a 103a)

  Arguments and parameter structs are one set for all architectures: two packages that lay out a struct differently are
  refused (``L-HOST``).

  Components may be declared later, and may be imported (``pipelink_install``, ``pipelink_import_package``).
  ``LINK_OPTIONS`` are ``guard``, ``limit=<n>``, ``cluster=<x>x<y>x<z>``, ``blocks_per_sm=<n>`` and
  ``ring:<owner.ring>=<tier>,<weight>``. With ``guard`` the kernel finds waits that take longer than 2 s (``guard=<n>ms``: than n
  ms) and writes past claims of shared memory, and the session names them; the packages are the same. See :doc:`/guarded`.

  Targets:

  ``<name>``
    STATIC: the images and ``<pipelink/<name>.h>``, with the components' host providers and ``PipeLink::runtime``.
  ``<name>.cubin``
    The link: cubin, link map, glue, launch description and summary of each architecture (part of ``all``).
  ``<name>.shared``
    ``lib<name>.so``: the same library for callers in other languages, with ``pipelink_<name>_load`` and the functions of
    ``<pipelink/c_api.h>``. Built when it is asked for.
  ``<name>.report``
    Prints the summary, and makes a page of the link map: ``<name>.sm_<architecture>.html``, one file, beside the map.
  ``<name>.control``
    With ``CONTROL``: ``<name>.sm_<architecture>.control.cubin`` (see PipeLinkControl).

  The property ``PIPELINK_OUTPUT_DIRECTORY_sm_<architecture>`` of ``<name>`` is the folder of a link's outputs.
  ``PIPELINK_LAUNCHER``, variable or property of ``<name>``, runs the link as a compiler launcher runs a compile (see
  pipelink_add_component).
  ``PIPELINK_LINK_JOBS`` bounds how many links run at once (Ninja).
#]=======================================================================]

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/PipeLinkChecks.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/PipeLinkControl.cmake")
include("${CMAKE_CURRENT_LIST_DIR}/PipeLinkQualifiers.cmake")

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

cmake_host_system_information(RESULT _pipelink_cores QUERY NUMBER_OF_LOGICAL_CORES)
set(PIPELINK_LINK_JOBS ${_pipelink_cores} CACHE STRING "How many PipeLink links run at once (Ninja)")
set_property(GLOBAL APPEND PROPERTY JOB_POOLS pipelink_link=${PIPELINK_LINK_JOBS})
set_property(GLOBAL PROPERTY _pipelink_embed_script "${CMAKE_CURRENT_LIST_DIR}/PipeLinkEmbed.cmake")

function(pipelink_add_composition name)
  set(context "pipelink_add_composition(${name})")
  set(lists COMPONENTS ARCHITECTURES BIND SET INSTANCES LINK_OPTIONS)
  cmake_parse_arguments(PARSE_ARGV 1 arg "CONTROL" "" "${lists}")
  _pipelink_check_arguments("${context}" "COMPONENTS;ARCHITECTURES;BIND;SET;INSTANCES;CONTROL;LINK_OPTIONS")
  if(NOT DEFINED arg_COMPONENTS)
    message(FATAL_ERROR "${context}: COMPONENTS is missing")
  endif()
  _pipelink_check_name("${context}" "${name}")
  _pipelink_choose_architectures(architectures "${context}" ${arg_ARCHITECTURES})
  if(NOT architectures)
    list(JOIN arg_ARCHITECTURES ", " named)
    list(JOIN PIPELINK_ARCHITECTURES ", " limit)
    message(FATAL_ERROR "${context}: none of its architectures (${named}) is in PIPELINK_ARCHITECTURES (${limit}); add one "
                        "there, or leave out the composition in this build")
  elseif(NOT DEFINED arg_ARCHITECTURES)
    set(arg_ARCHITECTURES ${architectures})
  endif()
  _pipelink_require_languages("${context}" CXX)

  get_property(config GLOBAL PROPERTY _pipelink_config)
  set(directory "${CMAKE_CURRENT_BINARY_DIR}/pipelink${config}/${name}")
  set_property(GLOBAL PROPERTY "_pipelink_architectures_of_${context}" ${arg_ARCHITECTURES})
  _pipelink_place_of_call(declared ${name})
  set(stamps "")
  set(all_components "")
  foreach(architecture IN LISTS architectures)
    _pipelink_components_of(components "${context}" ${architecture} "${arg_COMPONENTS}" "${arg_ARCHITECTURES}")
    _pipelink_parse_instances("${context}" ${architecture} "${arg_ARCHITECTURES}" "${components}" "${arg_COMPONENTS}"
                              ${arg_INSTANCES})
    foreach(keyword IN ITEMS BIND SET LINK_OPTIONS)
      _pipelink_words_for(words_${keyword} "${context}: ${keyword}" ${architecture} "${arg_ARCHITECTURES}" ${arg_${keyword}})
    endforeach()
    _pipelink_json_settings(settings owners "${context}" "${words_BIND}" "${words_SET}" "${words_LINK_OPTIONS}")
    _pipelink_link(stamp ${name} ${architecture} "${components}" "${settings}" "${declared}" "${directory}")
    list(APPEND stamps "${stamp}")
    list(APPEND all_components ${components})
    _pipelink_when_known("${components}" _pipelink_check_components "${context}" ${architecture} ${components})
    set(there "")
    foreach(component IN LISTS components)
      if(NOT "${_pipelink_instances_${component}}" STREQUAL "")
        set_property(GLOBAL PROPERTY "_pipelink_instances_of_${context}_${architecture}_${component}"
                                     ${_pipelink_instances_${component}})
        list(TRANSFORM _pipelink_instances_${component} PREPEND "instance=" OUTPUT_VARIABLE instances)
        list(APPEND there ${instances})
      else()
        list(APPEND there "component=${component}")
      endif()
    endforeach()
    _pipelink_when_known("${components}" _pipelink_check_owners "${context}" ${architecture} ${there} ${owners})
  endforeach()
  add_custom_target(${name}.cubin ALL DEPENDS ${stamps})
  list(REMOVE_DUPLICATES all_components)

  _pipelink_image_library(${name} "${architectures}" "${all_components}" "${directory}")
  _pipelink_report(${name} "${architectures}" "${directory}")
  if(arg_CONTROL)
    _pipelink_add_control(${name} "${context}" "${arg_COMPONENTS}" "${arg_ARCHITECTURES}" "${architectures}" "${directory}")
  endif()
endfunction()

# Where pipelink_add_composition(<name> stands: {"file": …, "line": …}. CMake tells a command the file of its call and not the line
# (but for code that is evaluated: "FILE:LINE:EVAL"), so it is looked for; without a line if the name does not stand there just once,
# as in a loop.
function(_pipelink_place_of_call result name)
  set(path "${CMAKE_CURRENT_LIST_FILE}")
  set(line "")
  while(path MATCHES "^(.+):([0-9]+):EVAL$")
    set(path "${CMAKE_MATCH_1}")
    set(line "${CMAKE_MATCH_2}")
  endwhile()
  if(line STREQUAL "" AND EXISTS "${path}")
    _pipelink_line_of_call(line ${name} "${path}")
  endif()
  cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${CMAKE_SOURCE_DIR}" OUTPUT_VARIABLE file)
  if(file MATCHES "^\\.\\./" OR file STREQUAL "")
    cmake_path(GET path FILENAME file)
  endif()
  _pipelink_json_text(text "${file}")
  if(NOT line STREQUAL "")
    set(line ", \"line\": ${line}")
  endif()
  set(${result} "{\"file\": ${text}${line}}" PARENT_SCOPE)
endfunction()

function(_pipelink_line_of_call result name path)
  set(${result} "" PARENT_SCOPE)
  file(READ "${path}" content)
  string(PREPEND content "\n")
  # First on its line, so that no comment is taken for it; commands are in any case, and names may be quoted.
  set(command "[Pp][Ii][Pp][Ee][Ll][Ii][Nn][Kk]_[Aa][Dd][Dd]_[Cc][Oo][Mm][Pp][Oo][Ss][Ii][Tt][Ii][Oo][Nn]")
  set(call "\n[ \t]*${command}[ \t]*\\([ \t\r\n]*\"?${name}\"?[ \t\r\n]")
  string(REGEX MATCHALL "${call}" calls "${content}")
  list(LENGTH calls count)
  if(NOT count EQUAL 1)
    return()
  endif()
  string(FIND "${content}" "${calls}" at)
  string(SUBSTRING "${content}" 0 ${at} before)
  # Nor one of brackets, #[==[ … ]==]: the last one that begins before the call has ended there.
  foreach(equals IN ITEMS "" = == ===)
    string(FIND "${before}" "#[${equals}[" begin REVERSE)
    if(NOT begin EQUAL -1)
      string(SUBSTRING "${before}" ${begin} -1 rest)
      string(FIND "${rest}" "]${equals}]" end)
      if(end EQUAL -1)
        return()
      endif()
    endif()
  endforeach()
  string(REGEX MATCHALL "\n" before "${before}")
  list(LENGTH before line)
  math(EXPR line "${line} + 1")
  set(${result} ${line} PARENT_SCOPE)
endfunction()

function(_pipelink_json_text result text)
  string(REPLACE "\\" "\\\\" text "${text}")
  string(REPLACE "\"" "\\\"" text "${text}")
  set(${result} "\"${text}\"" PARENT_SCOPE)
endfunction()

# The part of COMPOSITION.json that the user's words give, and "<keyword>=<owner>" for each owner that they name.
function(_pipelink_json_settings result owners_result context bind set options)
  set(port "[a-z][a-z0-9_]*\\.[a-z][a-z0-9_]*")
  set(owners "")
  set(pairs "")
  foreach(entry IN LISTS bind)
    if(NOT entry MATCHES "^(${port})=(${port})$")
      message(FATAL_ERROR "${context}: BIND: '${entry}' is not <a.port>=<b.port>")
    endif()
    list(APPEND pairs "[\"${CMAKE_MATCH_1}\", \"${CMAKE_MATCH_2}\"]")
    list(APPEND owners "BIND=${CMAKE_MATCH_1}" "BIND=${CMAKE_MATCH_2}")
  endforeach()
  list(JOIN pairs ", " bind_text)

  set(pairs "")
  set(names "")
  string(ASCII 1 first)
  string(ASCII 31 last)
  foreach(entry IN LISTS set)
    if(NOT entry MATCHES "^(${port})=(.+)$")
      message(FATAL_ERROR "${context}: SET: '${entry}' is not <owner.fact>=<value>")
    endif()
    set(name "${CMAKE_MATCH_1}")
    set(value "${CMAKE_MATCH_2}")
    if(name IN_LIST names)
      message(FATAL_ERROR "${context}: SET: '${name}' is set twice")
    endif()
    list(APPEND names "${name}")
    list(APPEND owners "SET=${name}")
    if(value MATCHES "[${first}-${last}]")
      message(FATAL_ERROR "${context}: SET: the value of '${name}' has a control character, which no fact can have")
    endif()
    if(NOT value MATCHES "^(-?(0|[1-9][0-9]*)|true|false)$")
      _pipelink_json_text(value "${value}")
    endif()
    list(APPEND pairs "\"${name}\": ${value}")
  endforeach()
  list(JOIN pairs ", " set_text)

  set(rings "")
  set(launch "")
  set(link "")
  set(number "[1-9][0-9]*")
  foreach(option IN LISTS options)
    if(option STREQUAL "guard")
      list(APPEND link "\"guard\": true")
    elseif(option MATCHES "^guard=(${number})ms$")
      list(APPEND link "\"guard\": true" "\"guard_ms\": ${CMAKE_MATCH_1}")
    elseif(option MATCHES "^limit=(${number})$")
      list(APPEND link "\"limit\": ${CMAKE_MATCH_1}")
    elseif(option MATCHES "^blocks_per_sm=(${number})$")
      list(APPEND launch "\"blocks_per_sm\": ${CMAKE_MATCH_1}")
    elseif(option MATCHES "^cluster=(${number})x(${number})x(${number})$")
      list(APPEND launch "\"cluster\": [${CMAKE_MATCH_1}, ${CMAKE_MATCH_2}, ${CMAKE_MATCH_3}]")
    elseif(option MATCHES "^ring:(${port})=([0-9]+),([0-9]+)$")
      list(APPEND owners "LINK_OPTIONS=${CMAKE_MATCH_1}")
      list(APPEND rings "\"${CMAKE_MATCH_1}\": {\"tier\": ${CMAKE_MATCH_2}, \"weight\": ${CMAKE_MATCH_3}}")
    else()
      message(FATAL_ERROR "${context}: LINK_OPTIONS: unknown option '${option}'; there are guard, guard=<n>ms, limit=<n>, "
                          "cluster=<x>x<y>x<z>, blocks_per_sm=<n> and ring:<owner.ring>=<tier>,<weight>")
    endif()
  endforeach()
  list(JOIN rings ", " rings_text)
  list(JOIN launch ", " launch_text)
  list(JOIN link ", " link_text)

  list(TRANSFORM owners REPLACE "\\.[a-z0-9_]*$" "")
  list(REMOVE_DUPLICATES owners)
  set(${owners_result} "${owners}" PARENT_SCOPE)
  set(${result} "  \"bind\": [${bind_text}],
  \"set\": {${set_text}},
  \"rings\": {${rings_text}},
  \"launch\": {${launch_text}},
  \"options\": {${link_text}}" PARENT_SCOPE)
endfunction()

# One command, its inputs listed: packages, plan, tool. The plan holds what the composition file says, but for the place of its
# call, which is for messages: a line that moves links nothing anew. And the digests of packages from elsewhere, so that one with
# an older time stamp is noticed too.
function(_pipelink_link stamp_result name architecture components settings declared directory)
  set(output "${directory}/sm_${architecture}")
  set(base "${output}/${name}.sm_${architecture}")
  string(REPLACE "," "$<COMMA>" output_in_genex "${output}")
  set(entries "")
  set(depends "")
  set(digests "")
  foreach(component IN LISTS components)
    set(package "$<TARGET_GENEX_EVAL:${component},$<TARGET_PROPERTY:${component},PIPELINK_PACKAGE_sm_${architecture}>>")
    set(relative "$<PATH:RELATIVE_PATH,${package},${output_in_genex}>")
    list(APPEND depends "${package}" "$<TARGET_PROPERTY:${component},PIPELINK_PACKAGE_TARGET>")
    if(NOT "${_pipelink_instances_${component}}" STREQUAL "")
      foreach(instance IN LISTS _pipelink_instances_${component})
        list(APPEND entries "    {\"package\": \"${relative}\", \"as\": \"${instance}\"}")
      endforeach()
    else()
      list(APPEND entries "    {\"package\": \"${relative}\"}")
    endif()
    string(APPEND digests "${component} $<TARGET_PROPERTY:${component},PIPELINK_DIGEST_sm_${architecture}>\n")
  endforeach()
  list(JOIN entries ",\n" entries_text)

  set(says "  \"schema\": 1,
  \"name\": \"${name}\",
  \"arch\": \"sm_${architecture}\",
  \"components\": [
${entries_text}
  ],
${settings}")
  file(GENERATE OUTPUT "${base}.composition.json" CONTENT "{
${says},
  \"declared\": ${declared}
}
")
  file(GENERATE OUTPUT "${base}.plan" CONTENT "${says}
${digests}")
  add_custom_command(
    OUTPUT "${base}.stamp"
    BYPRODUCTS "${base}.cubin" "${base}.map.json" "${base}.glue.cu" "${base}.summary.txt" "${base}.launch"
    COMMAND "$<TARGET_PROPERTY:${name},PIPELINK_LAUNCHER>" $<TARGET_FILE:PipeLink::pipelink>
            link "${base}.composition.json" -o "${output}" --quiet
    COMMAND touch "${base}.stamp"
    DEPENDS "${base}.plan" ${depends} $<TARGET_FILE:PipeLink::pipelink>
    COMMENT "Linking ${name}.sm_${architecture}.cubin"
    JOB_POOL pipelink_link
    COMMAND_EXPAND_LISTS VERBATIM)
  set(${stamp_result} "${base}.stamp" PARENT_SCOPE)
endfunction()

# The static library. One source brings the images in; it is rewritten when one of them changed. The other, the C entry
# points, does not change with an image; its generated text is included, so that it may keep its time stamp.
function(_pipelink_image_library name architectures components directory)
  get_property(script GLOBAL PROPERTY _pipelink_embed_script)
  set(cubins "")
  set(launches "")
  foreach(architecture IN LISTS architectures)
    set(base "${directory}/sm_${architecture}/${name}.sm_${architecture}")
    list(APPEND cubins "${base}.cubin")
    list(APPEND launches "${base}.launch")
  endforeach()
  list(JOIN architectures "," architectures_text)

  file(GENERATE OUTPUT "${directory}/${name}.entry.cc" CONTENT "#include \"host/${name}.host.cc\"\n")
  add_custom_command(
    OUTPUT "${directory}/${name}.images.cc"
    BYPRODUCTS "${directory}/host/pipelink/${name}.h" "${directory}/host/${name}.host.cc"
    COMMAND "${CMAKE_COMMAND}" -E make_directory "${directory}/host/pipelink"
    COMMAND $<TARGET_FILE:PipeLink::pipelink> host ${launches} -o "${directory}/host"
    COMMAND "${CMAKE_COMMAND}" -DNAME=${name} "-DARCHITECTURES=${architectures_text}" "-DDIRECTORY=${directory}"
            -P "${script}"
    DEPENDS ${cubins} ${launches} ${name}.cubin "${script}" $<TARGET_FILE:PipeLink::pipelink>
    COMMENT "Embedding ${name}"
    VERBATIM)
  add_library(${name} STATIC "${directory}/${name}.images.cc" "${directory}/${name}.entry.cc")
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON INTERPROCEDURAL_OPTIMIZATION OFF
                                           UNITY_BUILD OFF CXX_CLANG_TIDY "" LINKER_LANGUAGE CXX)
  target_compile_features(${name} PUBLIC cxx_std_20)
  target_include_directories(${name} PUBLIC "${directory}/host")
  target_link_libraries(${name} PUBLIC PipeLink::runtime)
  foreach(component IN LISTS components)
    target_link_libraries(${name} PUBLIC ${component} "$<TARGET_PROPERTY:${component},PIPELINK_HOST_TARGET>")
  endforeach()
  # The C entry points, visible; they pull images and providers out of the static library.
  add_library(${name}.shared SHARED EXCLUDE_FROM_ALL "${directory}/${name}.entry.cc")
  set_target_properties(${name}.shared PROPERTIES OUTPUT_NAME ${name} CXX_VISIBILITY_PRESET default CXX_CLANG_TIDY ""
                                                  UNITY_BUILD OFF LINKER_LANGUAGE CXX)
  target_link_libraries(${name}.shared PRIVATE ${name})
  foreach(architecture IN LISTS architectures)
    set_property(TARGET ${name} PROPERTY PIPELINK_OUTPUT_DIRECTORY_sm_${architecture} "${directory}/sm_${architecture}")
  endforeach()
  set_property(TARGET ${name} PROPERTY PIPELINK_ARCHITECTURES "${architectures}")
endfunction()

# Pages are made when somebody asks for them: a link need not wait for what few builds look at.
function(_pipelink_report name architectures directory)
  set(commands "")
  set(pages "")
  foreach(architecture IN LISTS architectures)
    set(base "${directory}/sm_${architecture}/${name}.sm_${architecture}")
    list(APPEND pages "${base}.html")
    list(APPEND commands
      COMMAND $<TARGET_FILE:PipeLink::pipelink> inspect "${base}.map.json" --html "${base}.html"
      COMMAND "${CMAKE_COMMAND}" -E cat "${base}.summary.txt"
      COMMAND "${CMAKE_COMMAND}" -E echo "page: ${base}.html")
  endforeach()
  add_custom_target(${name}.report ${commands} BYPRODUCTS ${pages} COMMENT "The link map of ${name}" USES_TERMINAL VERBATIM)
  add_dependencies(${name}.report ${name}.cubin)
endfunction()

cmake_policy(POP)
