# The extension of the Python package, for the tests: if they are built, and pybind11 and a Python
# with numpy are found. A sanitizer's library would have to be loaded before the interpreter, so
# there is none in such builds.
set(TINYOT_PYTHON_FOUND OFF)
if(TINYOT_TESTS AND NOT TINYOT_LIBFUZZER AND NOT CMAKE_CXX_FLAGS MATCHES "fsanitize")
  # Debian's packages belong to the first one, even if another Python precedes it in PATH.
  foreach(python /usr/bin/python3 python3)
    execute_process(COMMAND ${python} -c "import numpy" RESULT_VARIABLE failed ERROR_QUIET)
    if(failed EQUAL 0)
      find_program(Python_EXECUTABLE ${python})
      find_package(Python 3.10 COMPONENTS Interpreter Development.Module)
      break()
    endif()
  endforeach()
  if(Python_Development.Module_FOUND)
    set(PYBIND11_NEWPYTHON ON)
    find_package(pybind11 2.10 CONFIG QUIET)
    set(TINYOT_PYTHON_FOUND ${pybind11_FOUND})
  endif()
endif()
# Not an option with a default, which would keep the answer of the first configuration.
if(NOT DEFINED TINYOT_PYTHON)
  set(TINYOT_PYTHON ${TINYOT_PYTHON_FOUND})
endif()
if(TINYOT_PYTHON)
  add_subdirectory(python)
endif()
