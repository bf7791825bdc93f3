# Run with -P: writes OUTPUT, a C++ source that holds each DIRECTORY/*.mustache, *.css and *.js
# as a raw string literal.
cmake_minimum_required(VERSION 3.25)
file(GLOB templates "${DIRECTORY}/*.mustache" "${DIRECTORY}/*.css" "${DIRECTORY}/*.js")
list(SORT templates)
set(entries "")
foreach(template IN LISTS templates)
  get_filename_component(name "${template}" NAME)
  string(REGEX REPLACE "\\.mustache$" "" name "${name}")
  file(READ "${template}" text)
  string(FIND "${text}" ")PIPELINK\"" clash)
  if(NOT clash EQUAL -1)
    message(FATAL_ERROR "${template} holds the text that ends a raw string here")
  endif()
  string(APPEND entries "  if (name == \"${name}\") return R\"PIPELINK(${text})PIPELINK\";\n")
endforeach()
file(WRITE "${OUTPUT}" "// Generated from templates/.
#include \"templates/template_text.h\"

namespace pipelink {

std::string_view template_text(std::string_view name) {
${entries}  return {};
}

}  // namespace pipelink
")
