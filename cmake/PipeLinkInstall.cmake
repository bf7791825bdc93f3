#[=======================================================================[.rst:
PipeLinkInstall
---------------

.. command:: pipelink_install

  Installs components as a CMake package that other projects find, and offers the same from the build tree.

  ::

    pipelink_install(<Package> COMPONENTS <component>... NAMESPACE <Ns>:: [VERSION <v>])

  A project that calls ``find_package(<Package> 1.1 REQUIRED COMPONENTS sm_90a)`` gets ``<Ns>::<component>`` for
  ``pipelink_add_composition``; ``COMPONENTS`` are the architectures that it needs. In this project ``<Ns>::<component>`` is
  another name of ``<component>``, so that a composition is written alike on both sides.

  Every component and every package has files of its own, so that builds for different architectures
  (``PIPELINK_ARCHITECTURES``) can install into one prefix, one after the other or copied together, and each adds to what is
  there. They must be of one version. The prefix may be moved. Host providers are installed beside the packages. The build
  tree's package is in ``<build>/lib/cmake/<Package>``, so that the build directory can stand in ``CMAKE_PREFIX_PATH``.

.. command:: pipelink_import_package

  ::

    pipelink_import_package(<name> FILES <x.sm_90a.plk>...)

  Makes a component of packages at hand, one for each architecture. A host library ``lib<x>.host.a`` beside a package is
  linked with it.
#]=======================================================================]

include_guard(GLOBAL)
include("${CMAKE_CURRENT_LIST_DIR}/PipeLinkChecks.cmake")

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

set_property(GLOBAL PROPERTY _pipelink_package_template "${CMAKE_CURRENT_LIST_DIR}/PipeLinkPackageConfig.cmake.in")

function(pipelink_install package)
  set(context "pipelink_install(${package})")
  set(keywords COMPONENTS NAMESPACE VERSION)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "NAMESPACE;VERSION" "COMPONENTS")
  _pipelink_check_arguments("${context}" "${keywords}")
  if(NOT DEFINED arg_COMPONENTS)
    message(FATAL_ERROR "${context}: COMPONENTS is missing")
  elseif(NOT DEFINED arg_NAMESPACE)
    message(FATAL_ERROR "${context}: NAMESPACE is missing")
  elseif(NOT arg_NAMESPACE MATCHES "^[A-Za-z_][A-Za-z0-9_]*::$")
    message(FATAL_ERROR "${context}: NAMESPACE '${arg_NAMESPACE}' is not a name with '::' at its end")
  endif()
  _pipelink_check_installable("${context}" ${arg_COMPONENTS})
  if(NOT DEFINED arg_VERSION)
    set(arg_VERSION "${PROJECT_VERSION}")
    if(NOT arg_VERSION)
      message(FATAL_ERROR "${context}: VERSION is missing, and the project has none")
    endif()
  elseif(NOT arg_VERSION MATCHES "^[0-9]+(\\.[0-9]+)*$")
    message(FATAL_ERROR "${context}: VERSION '${arg_VERSION}' is not a version")
  endif()

  include(GNUInstallDirs)
  include(CMakePackageConfigHelpers)
  set(config_dir "${CMAKE_INSTALL_LIBDIR}/cmake/${package}")
  set(package_dir "${CMAKE_INSTALL_LIBDIR}/pipelink/${package}")
  set(build_dir "${CMAKE_BINARY_DIR}/lib/cmake/${package}")

  _pipelink_install_config(${package} "${arg_VERSION}" "${config_dir}" "${build_dir}")
  get_property(written GLOBAL PROPERTY _pipelink_written_${package})
  if(NOT written)
    cmake_language(EVAL CODE "cmake_language(DEFER DIRECTORY [[${CMAKE_SOURCE_DIR}]] CALL _pipelink_remove_unwritten ${package} "
                             "[[${build_dir}]])")
  endif()
  foreach(component IN LISTS arg_COMPONENTS)
    if(NOT TARGET ${arg_NAMESPACE}${component})
      add_library(${arg_NAMESPACE}${component} ALIAS ${component})
    endif()
    _pipelink_install_targets(${package} ${component} "${arg_NAMESPACE}" "${config_dir}" "${package_dir}" "${build_dir}")
    _pipelink_hosts_below(hosts ${component} "${arg_NAMESPACE}" "${arg_COMPONENTS}")
    _pipelink_install_component(file ${component} "${arg_NAMESPACE}" "${arg_COMPONENTS}" "${hosts}" "${config_dir}" "${build_dir}")
    list(APPEND written "${file}")
    get_target_property(architectures ${component} PIPELINK_ARCHITECTURES)
    if(architectures)
      foreach(architecture IN LISTS architectures)
        _pipelink_install_package(file ${package} ${component} ${architecture} "${arg_NAMESPACE}" "${arg_VERSION}"
                                  "${hosts}" "${config_dir}" "${package_dir}" "${build_dir}")
        list(APPEND written "${file}")
      endforeach()
    endif()
  endforeach()
  set_property(GLOBAL PROPERTY _pipelink_written_${package} ${written})
endfunction()

# What an earlier configuration of this build tree offered, and this one does not.
function(_pipelink_remove_unwritten package build_dir)
  get_property(written GLOBAL PROPERTY _pipelink_written_${package})
  file(GLOB files "${build_dir}/*.component.cmake" "${build_dir}/*.sm_*.cmake")
  foreach(file IN LISTS files)
    if(NOT file IN_LIST written)
      file(REMOVE "${file}")
    endif()
  endforeach()
endfunction()

function(_pipelink_check_installable context)
  foreach(component IN LISTS ARGN)
    if(NOT TARGET "${component}")
      _pipelink_no_component("${context}" "${component}")
    endif()
    get_target_property(package_target "${component}" PIPELINK_PACKAGE_TARGET)
    if(NOT package_target)
      message(FATAL_ERROR "${context}: '${component}' is not a component that this project builds")
    endif()
    get_target_property(uses "${component}" PIPELINK_USES)
    foreach(used IN LISTS uses)
      if(NOT used IN_LIST ARGN AND NOT used MATCHES "::")
        message(FATAL_ERROR "${context}: '${component}' USES '${used}', whose headers its users need; list it in "
                            "COMPONENTS too")
      endif()
    endforeach()
  endforeach()
  set(path "")
  foreach(component IN LISTS ARGN)
    _pipelink_check_no_circle("${context}" ${component})
  endforeach()
endfunction()

# Each component is a file of its own there, which includes those of its USES. `path` is what led here.
function(_pipelink_check_no_circle context component)
  list(APPEND path ${component})
  get_target_property(uses ${component} PIPELINK_USES)
  foreach(used IN LISTS uses)
    if(used IN_LIST path)
      list(JOIN path " USES " text)
      message(FATAL_ERROR "${context}: '${text} USES ${used}' goes in a circle; put the headers that both need into one "
                          "of them")
    elseif(NOT used MATCHES "::")
      _pipelink_check_no_circle("${context}" ${used})
    endif()
  endforeach()
endfunction()

# The usage requirements, the public headers and the host provider: <component>.targets.cmake.
function(_pipelink_install_targets package component namespace config_dir package_dir build_dir)
  set(export ${package}.${component})
  set(include_dir "${CMAKE_INSTALL_INCLUDEDIR}/${package}/${component}")
  get_target_property(headers ${component} PIPELINK_PUBLIC_HEADERS)
  get_target_property(names ${component} PIPELINK_PUBLIC_HEADER_NAMES)
  if(headers)
    target_include_directories(${component} INTERFACE "$<INSTALL_INTERFACE:${include_dir}>")
    foreach(header include_name IN ZIP_LISTS headers names)
      cmake_path(GET include_name PARENT_PATH folder)
      install(FILES "${header}" DESTINATION "${include_dir}/${folder}")
    endforeach()
  endif()
  install(TARGETS ${component} EXPORT ${export})
  if(TARGET ${component}.host)
    get_property(built_only GLOBAL PROPERTY _pipelink_install_built_only)
    set(optional "")
    if(built_only)
      set(optional OPTIONAL)
    endif()
    install(TARGETS ${component}.host EXPORT ${export} ARCHIVE DESTINATION "${package_dir}" ${optional})
  endif()
  install(EXPORT ${export} NAMESPACE ${namespace} DESTINATION "${config_dir}" FILE ${component}.targets.cmake)
  export(EXPORT ${export} NAMESPACE ${namespace} FILE "${build_dir}/${component}.targets.cmake")
endfunction()

# <component>.component.cmake: what find_package includes for a component. `hosts` are those below it.
function(_pipelink_install_component file_result component namespace components hosts config_dir build_dir)
  set(text "include_guard()\n")
  get_target_property(uses ${component} PIPELINK_USES)
  foreach(used IN LISTS uses)
    string(REGEX REPLACE "^${namespace}" "" used "${used}")
    if(used IN_LIST components)
      string(APPEND text "include(\"\${CMAKE_CURRENT_LIST_DIR}/${used}.component.cmake\")\n")
    endif()
  endforeach()
  set(host "")
  if(TARGET ${component}.host)
    set(host "${namespace}${component}.host")
  endif()
  string(APPEND text "include(\"\${CMAKE_CURRENT_LIST_DIR}/${component}.targets.cmake\")\n"
                     "set_property(GLOBAL APPEND PROPERTY _pipelink_components ${namespace}${component})\n"
                     "set_target_properties(${namespace}${component} PROPERTIES PIPELINK_COMPONENT ${component} "
                     "PIPELINK_HOST_TARGET \"${host}\")\n")
  set(file "${build_dir}/${component}.component.cmake")
  file(CONFIGURE OUTPUT "${file}" CONTENT "${text}" @ONLY)
  _pipelink_install_file("${file}" "${config_dir}" ${hosts})
  set(${file_result} "${file}" PARENT_SCOPE)
endfunction()

# The host providers without which the targets of a component cannot be imported.
function(_pipelink_hosts_below result component namespace components)
  set(hosts "")
  if(TARGET ${component}.host)
    list(APPEND hosts "$<TARGET_FILE:${component}.host>")
  endif()
  get_target_property(uses ${component} PIPELINK_USES)
  foreach(used IN LISTS uses)
    string(REGEX REPLACE "^${namespace}" "" used "${used}")
    if(used IN_LIST components)
      _pipelink_hosts_below(more ${used} ${namespace} "${components}")
      list(APPEND hosts ${more})
    endif()
  endforeach()
  set(${result} "${hosts}" PARENT_SCOPE)
endfunction()

# Installs <file>; where a build of some targets may be installed, only if <needed>... are there by then.
function(_pipelink_install_file file destination) # <needed>...
  get_property(built_only GLOBAL PROPERTY _pipelink_install_built_only)
  if(NOT built_only OR NOT ARGN)
    install(FILES "${file}" DESTINATION "${destination}")
    return()
  endif()
  list(TRANSFORM ARGN REPLACE "(.+)" "EXISTS \"\\1\"" OUTPUT_VARIABLE condition)
  list(JOIN condition " AND " condition)
  if(NOT IS_ABSOLUTE "${destination}")
    set(destination "\${CMAKE_INSTALL_PREFIX}/${destination}")
  endif()
  install(CODE "if(${condition})
    file(INSTALL DESTINATION \"${destination}\" TYPE FILE FILES \"${file}\")
  endif()")
endfunction()

# What finds the others; the same text in every installation of a version.
function(_pipelink_install_config package version config_dir build_dir)
  get_property(template GLOBAL PROPERTY _pipelink_package_template)
  configure_file("${template}" "${build_dir}/${package}Config.cmake" @ONLY)
  write_basic_package_version_file("${build_dir}/${package}ConfigVersion.cmake" VERSION ${version}
                                   COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
  install(FILES "${build_dir}/${package}Config.cmake" "${build_dir}/${package}ConfigVersion.cmake"
          DESTINATION "${config_dir}")
endfunction()

# <component>.sm_90a.cmake: where a package is. One for the install tree, one for the build tree.
function(_pipelink_install_package file_result package component architecture namespace version hosts config_dir
         package_dir build_dir)
  get_target_property(file ${component} PIPELINK_PACKAGE_sm_${architecture})
  _pipelink_install_file("${file}" "${package_dir}" "${file}")
  cmake_path(RELATIVE_PATH package_dir BASE_DIRECTORY "${config_dir}" OUTPUT_VARIABLE from_config)
  set(name ${component}.sm_${architecture}.cmake)
  set(head "set(_pipelink_version ${version})\n")
  set(call "_pipelink_imported_architecture(${namespace}${component} ${architecture}")
  set(installed "${CMAKE_CURRENT_BINARY_DIR}/pipelink/install/${package}/${name}")
  file(CONFIGURE OUTPUT "${installed}" @ONLY CONTENT
       "${head}${call} \"\${CMAKE_CURRENT_LIST_DIR}/${from_config}/${component}.sm_${architecture}.plk\" INSTALLED)\n")
  _pipelink_install_file("${installed}" "${config_dir}" "${file}" ${hosts})
  # A build tree with several configurations offers its default one.
  set(configuration "${CMAKE_DEFAULT_BUILD_TYPE}")
  if(CMAKE_CONFIGURATION_TYPES AND NOT configuration)
    list(GET CMAKE_CONFIGURATION_TYPES 0 configuration)
  endif()
  string(REPLACE "$<CONFIG>" "${configuration}" file "${file}")
  file(CONFIGURE OUTPUT "${build_dir}/${name}" CONTENT "${head}${call} \"${file}\")\n" @ONLY)
  set(${file_result} "${build_dir}/${name}" PARENT_SCOPE)
endfunction()

# Called by installed files, those of build trees, whose packages may be missing yet, and for packages at hand. The digest
# goes into the plans of links.
function(_pipelink_imported_architecture target architecture file)
  get_filename_component(file "${file}" ABSOLUTE)
  if(file MATCHES "[\"\\]") # it goes into the composition's file as it is
    message(FATAL_ERROR "${target}: the path of its package, '${file}', has a quotation mark or a backslash; rename the folder")
  endif()
  set(digest "not built yet")
  if("INSTALLED" IN_LIST ARGN AND NOT EXISTS "${file}")
    message(FATAL_ERROR "${target}: its package '${file}' is missing; install it again, or copy the whole prefix")
  elseif(EXISTS "${file}")
    file(SHA256 "${file}" digest)
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endif()
  set_property(TARGET ${target} PROPERTY PIPELINK_PACKAGE_sm_${architecture} "${file}")
  set_property(TARGET ${target} PROPERTY PIPELINK_DIGEST_sm_${architecture} ${digest})
  get_target_property(architectures ${target} PIPELINK_ARCHITECTURES)
  if(NOT architectures)
    set(architectures "")
  endif()
  if(NOT architecture IN_LIST architectures)
    set_property(TARGET ${target} APPEND PROPERTY PIPELINK_ARCHITECTURES ${architecture})
  endif()
endfunction()

function(pipelink_import_package name)
  set(context "pipelink_import_package(${name})")
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "FILES")
  _pipelink_check_arguments("${context}" "FILES")
  if(NOT DEFINED arg_FILES)
    message(FATAL_ERROR "${context}: FILES is missing")
  elseif(TARGET "${name}")
    message(FATAL_ERROR "${context}: a target of this name exists already")
  endif()
  add_library(${name} INTERFACE IMPORTED)
  foreach(file IN LISTS arg_FILES)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    if(NOT EXISTS "${file}")
      message(FATAL_ERROR "${context}: '${file}' does not exist; a package is read when this is configured, so what makes it must "
                          "have run before, and not in this build as an ExternalProject does")
    elseif(NOT file MATCHES "/([a-z][a-z0-9_]*)\\.sm_([1-9][0-9]+[af]?)\\.plk$")
      message(FATAL_ERROR "${context}: '${file}' is not named <component>.sm_<architecture>.plk")
    endif()
    set(component "${CMAKE_MATCH_1}")
    set(architecture "${CMAKE_MATCH_2}")
    get_target_property(other ${name} PIPELINK_COMPONENT)
    get_target_property(other_file ${name} PIPELINK_PACKAGE_sm_${architecture})
    if(NOT other MATCHES "-NOTFOUND$" AND NOT other STREQUAL component)
      message(FATAL_ERROR "${context}: the packages are of two components, '${other}' and '${component}'")
    elseif(other_file)
      message(FATAL_ERROR "${context}: there are two packages for architecture ${architecture}")
    endif()
    set_property(TARGET ${name} PROPERTY PIPELINK_COMPONENT ${component})
    set_property(GLOBAL APPEND PROPERTY _pipelink_components ${name})
    _pipelink_imported_architecture(${name} ${architecture} "${file}")
    cmake_path(REPLACE_FILENAME file "lib${component}.host.a" OUTPUT_VARIABLE host)
    if(EXISTS "${host}")
      set_property(TARGET ${name} PROPERTY PIPELINK_HOST_TARGET "${host}")
    endif()
  endforeach()
endfunction()

cmake_policy(POP)
