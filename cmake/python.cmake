# The Python package, in build/python: sources, tables made from the headers, and the shared library. Its tests need
# NumPy; the first interpreter that has it is used.
find_program(COVTUNE_PYTHON_PATH python3)
set(COVTUNE_PYTHON "" CACHE FILEPATH "Python 3 with NumPy, for the package's tests")
if(NOT COVTUNE_PYTHON)
  foreach(candidate ${COVTUNE_PYTHON_PATH} /usr/bin/python3)
    execute_process(COMMAND ${candidate} -c "import numpy" RESULT_VARIABLE without OUTPUT_QUIET ERROR_QUIET)
    if(without STREQUAL "0")
      set(COVTUNE_PYTHON ${candidate} CACHE FILEPATH "Python 3 with NumPy, for the package's tests" FORCE)
      break()
    endif()
  endforeach()
endif()

if(COVTUNE_PYTHON_PATH)
  set(package ${CMAKE_BINARY_DIR}/python/covtune)
  set(generate ${PROJECT_SOURCE_DIR}/python/generate.py)
  file(GLOB headers CONFIGURE_DEPENDS include/covtune/*.h)
  file(GLOB sources CONFIGURE_DEPENDS python/covtune/*.py python/covtune/*.pyi python/covtune/py.typed)
  add_custom_command(OUTPUT ${package}/_tables.py
    COMMAND ${CMAKE_COMMAND} -E make_directory ${package}
    COMMAND ${COVTUNE_PYTHON_PATH} ${generate} ${CMAKE_C_COMPILER} ${PROJECT_SOURCE_DIR}/include ${package}/_tables.py
            ${PROJECT_VERSION}
    DEPENDS ${generate} ${headers} COMMENT "Tables of the Python package" VERBATIM)
  set(copied)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME)
    add_custom_command(OUTPUT ${package}/${name} COMMAND ${CMAKE_COMMAND} -E copy ${source} ${package}/${name}
      DEPENDS ${source} VERBATIM)
    list(APPEND copied ${package}/${name})
  endforeach()
  add_custom_command(OUTPUT ${package}/libcovtune.so
    COMMAND ${CMAKE_COMMAND} -E copy $<TARGET_FILE:covtune_shared> ${package}/libcovtune.so DEPENDS covtune_shared VERBATIM)
  add_custom_target(python_package ALL DEPENDS ${package}/_tables.py ${copied} ${package}/libcovtune.so)
endif()
