#[=======================================================================[.rst:
PipeLinkInstall
---------------

.. command:: pipelink_install

  Installs components as a CMake package that other projects find, and offers the same from the build tree.

  ::

    pipelink_install(<Package> COMPONENTS <component>... NAMESPACE <Ns>:: [VERSION <v>])

  A project that calls ``find_package(<Package> 1.1 REQUIRED COMPONENTS sm_90a)`` gets ``<Ns>::<component>`` for
  ``pipelink_add_composition``; ``COMPONENTS`` are the architectures that it needs. Every architecture is a file of its
  own, so that several builds can install into one prefix. The prefix may be moved. Host providers are installed beside
  the packages. The build tree's package is in ``<build>/lib/cmake/<Package>``, so that the build directory can stand in
  ``CMAKE_PREFIX_PATH``.

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

  set(architectures "")
  foreach(component IN LISTS arg_COMPONENTS)
    get_target_property(has ${component} PIPELINK_ARCHITECTURES)
    list(APPEND architectures ${has})
    _pipelink_install_targets(${package} ${component} "${package_dir}")
  endforeach()
  list(REMOVE_DUPLICATES architectures)
  install(EXPORT ${package} NAMESPACE ${arg_NAMESPACE} DESTINATION "${config_dir}" FILE ${package}Targets.cmake)
  export(EXPORT ${package} NAMESPACE ${arg_NAMESPACE} FILE "${build_dir}/${package}Targets.cmake")

  _pipelink_install_config(${package} "${arg_NAMESPACE}" "${arg_VERSION}" "${arg_COMPONENTS}" "${config_dir}" "${build_dir}")
  foreach(architecture IN LISTS architectures)
    _pipelink_install_fragment(${package} ${architecture} "${arg_NAMESPACE}" "${arg_COMPONENTS}" "${config_dir}"
                               "${package_dir}" "${build_dir}")
  endforeach()
endfunction()

function(_pipelink_check_installable context)
  foreach(component IN LISTS ARGN)
    if(NOT TARGET "${component}")
      message(FATAL_ERROR "${context}: there is no component '${component}'")
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
endfunction()

# The usage requirements, the public headers and the host provider.
function(_pipelink_install_targets package component package_dir)
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
  install(TARGETS ${component} EXPORT ${package})
  if(TARGET ${component}.host)
    install(TARGETS ${component}.host EXPORT ${package} ARCHIVE DESTINATION "${package_dir}")
  endif()
endfunction()

function(_pipelink_install_config package namespace version components config_dir build_dir)
  get_property(template GLOBAL PROPERTY _pipelink_package_template)
  set(declarations "")
  foreach(component IN LISTS components)
    set(host "")
    if(TARGET ${component}.host)
      set(host "${namespace}${component}.host")
    endif()
    string(APPEND declarations "set_target_properties(${namespace}${component} PROPERTIES PIPELINK_COMPONENT ${component} "
                               "PIPELINK_HOST_TARGET \"${host}\")\n")
  endforeach()
  list(TRANSFORM components PREPEND "${namespace}" OUTPUT_VARIABLE targets)
  configure_file("${template}" "${build_dir}/${package}Config.cmake" @ONLY)
  write_basic_package_version_file("${build_dir}/${package}ConfigVersion.cmake" VERSION ${version}
                                   COMPATIBILITY SameMajorVersion ARCH_INDEPENDENT)
  install(FILES "${build_dir}/${package}Config.cmake" "${build_dir}/${package}ConfigVersion.cmake"
          DESTINATION "${config_dir}")
endfunction()

# <Package>-sm_90a.cmake: where the packages of one architecture are. One for the install tree, one for the build tree.
function(_pipelink_install_fragment package architecture namespace components config_dir package_dir build_dir)
  cmake_path(RELATIVE_PATH package_dir BASE_DIRECTORY "${config_dir}" OUTPUT_VARIABLE from_config)
  set(installed "")
  set(built "")
  foreach(component IN LISTS components)
    get_target_property(file ${component} PIPELINK_PACKAGE_sm_${architecture})
    if(file)
      install(FILES "${file}" DESTINATION "${package_dir}")
      set(call "_pipelink_imported_architecture(${namespace}${component} ${architecture}")
      string(APPEND installed
             "${call} \"\${CMAKE_CURRENT_LIST_DIR}/${from_config}/${component}.sm_${architecture}.plk\")\n")
      string(APPEND built "${call} \"${file}\")\n")
    endif()
  endforeach()
  set(name ${package}-sm_${architecture}.cmake)
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/pipelink/install/${name}" CONTENT "${installed}" @ONLY)
  install(FILES "${CMAKE_CURRENT_BINARY_DIR}/pipelink/install/${name}" DESTINATION "${config_dir}")
  # A build tree with several configurations offers its default one.
  set(configuration "${CMAKE_DEFAULT_BUILD_TYPE}")
  if(CMAKE_CONFIGURATION_TYPES AND NOT configuration)
    list(GET CMAKE_CONFIGURATION_TYPES 0 configuration)
  endif()
  string(REPLACE "$<CONFIG>" "${configuration}" built "${built}")
  file(CONFIGURE OUTPUT "${build_dir}/${name}" CONTENT "${built}" @ONLY)
endfunction()

# Called by the fragments, and for packages at hand. The digest goes into the plans of links.
function(_pipelink_imported_architecture target architecture file)
  get_filename_component(file "${file}" ABSOLUTE)
  set(digest "not built yet")
  if(EXISTS "${file}")
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
      message(FATAL_ERROR "${context}: '${file}' does not exist")
    elseif(NOT file MATCHES "/([a-z][a-z0-9_]*)\\.sm_([1-9][0-9]+[af]?)\\.plk$")
      message(FATAL_ERROR "${context}: '${file}' is not named <component>.sm_<architecture>.plk")
    endif()
    set(component "${CMAKE_MATCH_1}")
    set(architecture "${CMAKE_MATCH_2}")
    get_target_property(other ${name} PIPELINK_COMPONENT)
    get_target_property(other_file ${name} PIPELINK_PACKAGE_sm_${architecture})
    if(other AND NOT other STREQUAL component)
      message(FATAL_ERROR "${context}: the packages are of two components, '${other}' and '${component}'")
    elseif(other_file)
      message(FATAL_ERROR "${context}: there are two packages for architecture ${architecture}")
    endif()
    set_property(TARGET ${name} PROPERTY PIPELINK_COMPONENT ${component})
    _pipelink_imported_architecture(${name} ${architecture} "${file}")
    cmake_path(REPLACE_FILENAME file "lib${component}.host.a" OUTPUT_VARIABLE host)
    if(EXISTS "${host}")
      set_property(TARGET ${name} PROPERTY PIPELINK_HOST_TARGET "${host}")
    endif()
  endforeach()
endfunction()

cmake_policy(POP)
