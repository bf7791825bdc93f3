#[=======================================================================[.rst:
PipeLinkThunderKittens
----------------------

ThunderKittens' headers for components, if the user has them: with the variable ``THUNDERKITTENS_ROOT`` (or the environment variable of
that name) set to a checkout, ``find_package(PipeLink)`` defines the target ``PipeLink::thunderkittens``, to be named after
``LINK_LIBRARIES`` of ``pipelink_add_component``. The component says by ``COMPILE_OPTIONS`` for which hardware the headers are, such as
``-DKITTENS_HOPPER``. See :doc:`/front_ends`.
#]=======================================================================]

include_guard(GLOBAL)

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

set(THUNDERKITTENS_ROOT "$ENV{THUNDERKITTENS_ROOT}" CACHE PATH "ThunderKittens' sources, for components that include them")
mark_as_advanced(THUNDERKITTENS_ROOT)
if(THUNDERKITTENS_ROOT AND NOT TARGET PipeLink::thunderkittens)
  if(NOT EXISTS "${THUNDERKITTENS_ROOT}/include/kittens.cuh")
    message(FATAL_ERROR "THUNDERKITTENS_ROOT is '${THUNDERKITTENS_ROOT}', and there is no include/kittens.cuh below it")
  endif()
  add_library(PipeLink::thunderkittens INTERFACE IMPORTED GLOBAL)
  set_target_properties(PipeLink::thunderkittens PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${THUNDERKITTENS_ROOT}/include")
endif()

cmake_policy(POP)
