execute_process(COMMAND "${clang_tidy}" --quiet -p "${build}" "${source}"
  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE noise)
if(NOT status EQUAL 0)
  message(FATAL_ERROR "${output}${noise}")
endif()
cmake_path(GET stamp PARENT_PATH folder)
file(MAKE_DIRECTORY "${folder}")
file(TOUCH "${stamp}")
