# pipelink_tool_test(<label> <name> <script>): a script of cases that runs the tool and the CUDA compiler. Skipped with
# status 77.
find_program(PIPELINK_TEST_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_PATH PATHS /usr/local/cuda PATH_SUFFIXES bin)

function(pipelink_tool_test label name script)
  set(nvcc "${PIPELINK_TEST_NVCC}")
  if(CMAKE_CUDA_COMPILER)
    set(nvcc "${CMAKE_CUDA_COMPILER}")
  elseif(DEFINED ENV{CUDACXX})
    set(nvcc "$ENV{CUDACXX}")
  endif()
  add_test(NAME ${label}.${name}
    COMMAND Python3::Interpreter -B "${CMAKE_CURRENT_SOURCE_DIR}/${script}" --pipelink $<TARGET_FILE:pipelink> --nvcc "${nvcc}"
            --include "${PROJECT_SOURCE_DIR}/packager/sdk/include" --work "${CMAKE_CURRENT_BINARY_DIR}/cases/${name}")
  # Tests end a child by a signal on purpose; the sanitizer must not turn that into an exit status of its own.
  set_tests_properties(${label}.${name} PROPERTIES TIMEOUT 600 LABELS ${label} SKIP_RETURN_CODE 77
                                                   ENVIRONMENT "ASAN_OPTIONS=handle_segv=0:handle_abort=0")
endfunction()
